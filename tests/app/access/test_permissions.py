"""Who may: open paths, masters, reviews by the API server, the extender's verbs."""

from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from scheduler.client.reviews import AccessSpec, AccessStatus
from scheduler.sandbox import Sandbox
from scheduler.serving.asked import Request
from scheduler.serving.authentication import User
from scheduler.serving.authorization import AccessReviews
from tests.app.access.conftest import DEADLINE, Flags
from tests.app.access.people import Authority

VERBS = ("/filter", "/prioritize", "/bind", "/profiles/packed/filter")


def test_open_paths_need_nobodys_consent(sandbox: Sandbox, port: Flags) -> None:
    asked = port("--authorization-always-allow-paths=/metrics,/x/*", authz=True)
    assert asked.ask("/metrics")[0] == 200
    assert asked.ask("/x/y")[0] == 404
    assert len(sandbox.access.asked) == 0
    assert asked.ask("/healthz")[0] == 403


def test_a_permission_is_of_user_verb_and_path(sandbox: Sandbox, port: Flags) -> None:
    sandbox.access.grant("ops", "get", "/metrics")
    asked = port(authn=True, authz=True)
    assert asked.ask("/metrics", token="t0ken")[0] == 200
    assert asked.ask("/metrics", token="t0ken", method="DELETE")[0] == 403
    assert asked.ask("/configz", token="t0ken")[0] == 403
    assert asked.ask("/metrics")[0] == 403


def test_anonymous_clients_may_be_given_permissions(sandbox: Sandbox, port: Flags) -> None:
    sandbox.access.grant("system:unauthenticated", "get", "/metrics")
    assert port(authz=True).ask("/metrics")[0] == 200


def test_a_refusal_gives_the_api_servers_reason(port: Flags) -> None:
    _, text = port(authz=True).ask("/metrics")
    assert 'cannot get path \\"/metrics\\": the sandbox knows no user \'system:anonymous\'",' in text


def test_without_a_kubeconfig_everything_else_is_forbidden(port: Flags) -> None:
    assert port(authn=True).refused(token="t0ken") == "jane"


def test_masters_are_not_even_reviewed(sandbox: Sandbox, port: Flags) -> None:
    sandbox.access.know("r00t", "root", groups=["system:masters"])
    assert port(authn=True, authz=True).ask("/metrics", token="r00t")[0] == 200
    assert [spec for spec in sandbox.access.asked if "token" not in spec] == []


def test_an_api_server_in_trouble_is_an_error_not_a_refusal(
    sandbox: Sandbox, port: Flags, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.faults.add(path="/subjectaccessreviews$", status=403, message="you may not ask", times=1)
    asked = port(authz=True)
    assert asked.ask() == (500, 'Internal Server Error: "/metrics": you may not ask\n')
    assert "Unable to authorize the request" in caplog.text
    assert asked.refused() == "system:anonymous"


def test_an_api_server_in_trouble_does_not_close_open_paths(sandbox: Sandbox, port: Flags) -> None:
    sandbox.faults.add(path="reviews$", status=503)
    assert port(authn=True, authz=True).ask("/livez")[0] == 200


@pytest.mark.parametrize(
    ("review", "asked"),
    [
        ("/subjectaccessreviews$", {"path": "/metrics"}),
        ("/tokenreviews$", {"path": "/livez", "token": "t0ken"}),
    ],
    ids=["permissions", "tokens"],
)
def test_a_health_check_is_answered_while_an_api_server_says_nothing(
    sandbox: Sandbox, port: Flags, review: str, asked: dict[str, str]
) -> None:
    silent = sandbox.faults.add(path=review, delay=3600)
    crowded = port("--authorization-webhook-cache-unauthorized-ttl=0s", authn=True, authz=True)
    with ExitStack() as opened:
        for number in range(30):
            client = opened.enter_context(closing(crowded.connect()))
            token = {"Authorization": f"Bearer {number}"} if "token" in asked else {}
            client.request("GET", f"{asked['path']}" if token else f"/{number}", headers=token)
        assert silent.struck.wait(DEADLINE)
        assert crowded.ask("/livez") == (200, "ok")


def test_both_answers_are_remembered_for_their_time(sandbox: Sandbox, port: Flags) -> None:
    flags = [f"--authorization-webhook-cache-{kind}-ttl" for kind in ("authorized", "unauthorized")]
    forgetful = port(f"{flags[0]}=0s", f"{flags[1]}=1h", authn=True, authz=True)
    stubborn = port(f"{flags[0]}=1h", f"{flags[1]}=0s", authn=True, authz=True)
    assert [each.ask(token="t0ken")[0] for each in (forgetful, stubborn)] == [403, 403]
    sandbox.access.grant("jane", "get", "/metrics")
    assert [each.ask(token="t0ken")[0] for each in (forgetful, stubborn)] == [403, 200]
    sandbox.access.revoke("jane")
    assert stubborn.ask(token="t0ken")[0] == 200


@pytest.mark.parametrize("path", VERBS)
def test_the_extenders_verbs_are_behind_the_same_chain(sandbox: Sandbox, port: Flags, path: str) -> None:
    asked = port(authn=True, authz=True)
    assert asked.ask(path, method="POST")[0] == 403
    sandbox.access.grant("jane", "post", path)
    assert asked.ask(path, method="POST", token="t0ken") == (200, "judged")
    assert asked.ask(path, method="POST")[0] == 403


def test_a_kube_scheduler_calls_the_verbs_with_its_certificate(
    sandbox: Sandbox, port: Flags, tmp_path: Path
) -> None:
    people = Authority()
    caller = people.person(tmp_path, "system:kube-scheduler")
    sandbox.access.grant("system:kube-scheduler", "post", "/filter")
    sandbox.access.grant("system:kube-scheduler", "post", "/profiles/*")
    asked = port(f"--client-ca-file={people.write(tmp_path / 'ca.crt')}", authz=True)
    answers = {path: asked.ask(path, method="POST", person=caller) for path in VERBS}
    expected = {"/filter": 200, "/prioritize": 403, "/bind": 403, "/profiles/packed/filter": 200}
    assert {path: status for path, (status, _) in answers.items()} == expected, answers


def test_the_verbs_and_nothing_else_can_be_opened_to_everybody(port: Flags) -> None:
    asked = port("--extender-anonymous")
    assert [asked.ask(path, method="POST") for path in VERBS] == [(200, "judged")] * len(VERBS)
    assert [asked.ask(path)[0] for path in ("/metrics", "/configz", "/filters")] == [403] * 3


# Without an API server: opinions and what is remembered

ASKS = Request("GET", "/metrics")


@pytest.mark.parametrize(
    ("status", "allowed", "error"),
    [
        (AccessStatus(allowed=True), True, ""),
        (AccessStatus(), None, ""),
        (AccessStatus(denied=True), False, ""),
        (AccessStatus(allowed=True, denied=True), False, "webhook subject access review returned both"),
    ],
    ids=["allowed", "no opinion", "denied", "both"],
)
def test_what_an_answer_means(status: AccessStatus, allowed: bool | None, error: str) -> None:
    decision = AccessReviews(lambda spec: status, 1, 1)(User("jane"), ASKS)
    assert decision.allowed is allowed
    assert decision.error.startswith(error)


def test_a_path_that_is_very_long_is_not_worth_remembering() -> None:
    asked: list[AccessSpec] = []

    def review(spec: AccessSpec) -> AccessStatus:
        asked.append(spec)
        return AccessStatus(allowed=True)

    reviews = AccessReviews(review, 10, 10)
    for path in ("/short", "/" + "x" * 10_000):
        for _ in range(2):
            reviews(User("jane"), Request("GET", path))
    assert len(asked) == 3


def test_users_that_differ_in_anything_are_asked_about_apart() -> None:
    asked: list[AccessSpec] = []

    def review(spec: AccessSpec) -> AccessStatus:
        asked.append(spec)
        return AccessStatus()

    reviews = AccessReviews(review, 10, 10)
    users = [User("jane"), User("jane", "7"), User("jane", groups=("g",)), User("jane", extra={"k": ("v",)})]
    for user in users * 2:
        reviews(user, ASKS)
    assert len(asked) == len(users)
