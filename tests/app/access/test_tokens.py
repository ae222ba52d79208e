"""Bearer tokens: reviewed by the API server, remembered for a while, never shown."""

import logging
from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler.client.errors import TransportError
from scheduler.client.reviews import TokenStatus, UserInfo
from scheduler.sandbox import Sandbox
from scheduler.serving.asked import Request
from scheduler.serving.authentication import Fault, User
from scheduler.serving.authentication.tokens import BearerTokens
from tests.app.access.conftest import Flags


def test_a_token_tells_its_user(port: Flags) -> None:
    asked = port(authn=True)
    assert asked.refused(token="t0ken") == "jane"
    assert asked.refused() == "system:anonymous"


@pytest.mark.parametrize("path", ["/metrics", "/healthz"])
def test_an_unknown_token_is_unauthorized_even_where_everybody_may(port: Flags, path: str) -> None:
    assert port(authn=True).ask(path, token="other")[0] == 401


def test_without_a_kubeconfig_a_token_says_nothing(port: Flags) -> None:
    asked = port()
    assert asked.refused(token="t0ken") == "system:anonymous"
    assert asked.ask("/healthz", token="other")[0] == 200


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("bearer t0ken", "jane"),
        ("  BEARER t0ken more", "jane"),
        ("Bearer  t0ken", "system:anonymous"),
        ("Bearer", "system:anonymous"),
        ("Basic t0ken", "system:anonymous"),
    ],
)
def test_forms_of_the_header(port: Flags, header: str, expected: str) -> None:
    assert port(authn=True).refused(headers={"Authorization": header}) == expected


def test_an_answer_is_remembered(sandbox: Sandbox, port: Flags) -> None:
    asked = port("--authentication-token-webhook-cache-ttl=1h", authn=True)
    assert [asked.refused(token="t0ken") for _ in range(3)] == ["jane"] * 3
    sandbox.access.forget("t0ken")
    assert asked.refused(token="t0ken") == "jane"
    assert len(sandbox.access.asked) == 1


def test_with_no_time_to_live_every_request_is_reviewed(sandbox: Sandbox, port: Flags) -> None:
    asked = port("--authentication-token-webhook-cache-ttl=0s", authn=True)
    assert asked.refused(token="t0ken") == "jane"
    sandbox.access.forget("t0ken")
    assert asked.refused(token="t0ken") == "401"


def test_an_api_server_in_trouble_lets_nobody_in_and_is_asked_again(
    sandbox: Sandbox, port: Flags, caplog: pytest.LogCaptureFixture
) -> None:
    sandbox.faults.add(path="/tokenreviews$", status=403, times=1)
    asked = port(authn=True)
    assert [asked.refused(token="t0ken") for _ in range(2)] == ["401", "jane"]
    assert "the token could not be reviewed" in caplog.text


def test_no_token_is_ever_logged(sandbox: Sandbox, port: Flags, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    sandbox.faults.add(path="/tokenreviews$", status=500, message="boom", times=1)
    asked = port(authn=True)
    for token in ("t0ken", "0ther-secret"):
        asked.refused(token=token)
    assert caplog.text
    assert not [each for each in ("t0ken", "0ther-secret") if each in caplog.text]


# Without an API server: time, and many at once

JANE = TokenStatus(authenticated=True, user=UserInfo("jane"))
ASKS = Request("GET", "/metrics", [("Authorization", "Bearer t0ken")])


def test_an_answer_is_forgotten_after_its_time() -> None:
    clock = [0.0]
    asked: list[str] = []

    def review(token: str) -> TokenStatus:
        asked.append(token)
        return JANE

    tokens = BearerTokens(review, 10.0, now=lambda: clock[0])
    for clock[0] in (0.0, 9.9, 10.0, 19.9):
        assert tokens(ASKS) == User("jane")
    assert len(asked) == 2


@pytest.mark.parametrize(
    ("status", "reviews", "fault"),
    [
        (TokenStatus(), 1, Fault("invalid bearer token")),
        (TokenStatus(error="expired"), 2, Fault("expired")),
    ],
    ids=["unknown: remembered", "error: asked again"],
)
def test_refusals_are_remembered_and_errors_are_not(status: TokenStatus, reviews: int, fault: Fault) -> None:
    asked: list[str] = []

    def review(token: str) -> TokenStatus:
        asked.append(token)
        return status

    tokens = BearerTokens(review, 10.0, now=lambda: 0.0)
    assert [tokens(ASKS), tokens(ASKS)] == [fault, fault]
    assert len(asked) == reviews


def test_who_asks_at_the_same_time_shares_one_review(sandbox: Sandbox, port: Flags) -> None:
    sandbox.faults.add(path="/tokenreviews$", delay=0.3)
    asked = port(authn=True)
    with ThreadPoolExecutor(4) as pool:
        found = [*pool.map(lambda _: asked.refused(token="t0ken"), range(4))]
    assert (found, len(sandbox.access.asked)) == (["jane"] * 4, 1)


def test_trouble_is_shared_too_and_not_kept() -> None:
    answers = iter([TransportError("down", refused=True), JANE])

    def review(token: str) -> TokenStatus:
        answer = next(answers)
        if isinstance(answer, TransportError):
            raise answer
        return answer

    tokens = BearerTokens(review, 10.0)
    assert [tokens(ASKS), tokens(ASKS)] == [Fault("the token could not be reviewed: down"), User("jane")]
