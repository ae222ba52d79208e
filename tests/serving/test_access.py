"""The order of the chain, and what refusals say."""

import logging

import pytest

from scheduler.serving.access import Access, Refusal
from scheduler.serving.asked import Request
from scheduler.serving.authentication import ANONYMOUS, Fault, User, delegated
from scheduler.serving.authorization import Decision, OpenPaths, PathError, privileged_groups, union
from scheduler.serving.refusals import status_json

OPEN = OpenPaths.parse(["/healthz", "metrics", "/debug/*", "/"])
GET = Request("GET", "/configz")
JANE = User("jane", groups=("ops",))


@pytest.mark.parametrize(
    ("path", "is_open"),
    [
        ("/healthz", True),
        ("/healthz/ping", False),
        ("/metrics", True),
        ("/debug", False),
        ("/debug/", True),
        ("/debug/pprof/x", True),
        ("/", True),
        ("/configz", False),
    ],
)
def test_open_paths_match_exactly_or_by_prefix(path: str, is_open: bool) -> None:
    assert (path in OPEN) == is_open


@pytest.mark.parametrize("path", ["/", "/x", "/x/y"])
def test_a_lone_star_opens_everything(path: str) -> None:
    assert path in OpenPaths.parse(["/*"])


def test_no_patterns_open_nothing() -> None:
    assert "/healthz" not in OpenPaths.parse([])


def test_a_star_in_the_middle_is_refused() -> None:
    with pytest.raises(PathError, match=r'^only trailing \* allowed in "a\*b"$'):
        OpenPaths.parse(["/a*b"])


def knows(user: User | Fault | None) -> object:
    return lambda request: user


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        ([], ANONYMOUS),
        ([None, None], ANONYMOUS),
        ([None, JANE, User("joe")], User("jane", groups=("ops", "system:authenticated"))),
        ([Fault("a"), JANE], User("jane", groups=("ops", "system:authenticated"))),
        ([Fault("a"), None, Fault("b")], Fault("a; b")),
        ([User("x", groups=("system:authenticated",))], User("x", groups=("system:authenticated",))),
        ([ANONYMOUS], ANONYMOUS),
    ],
    ids=[
        "no way",
        "nothing shown",
        "the first counts",
        "a fault beside a user",
        "faults",
        "grouped",
        "anonymous",
    ],
)
def test_ways_are_tried_in_order(ways: list[User | Fault | None], expected: User | Fault) -> None:
    authenticate = delegated([knows(way) for way in ways])  # type: ignore[misc]
    assert authenticate(GET) == expected


def says(decision: Decision) -> object:
    return lambda user, request: decision


YES, NO, NONE = Decision(allowed=True), Decision(allowed=False, reason="no"), Decision(None, "who knows")


@pytest.mark.parametrize(
    ("opinions", "expected"),
    [
        ([], Decision(None)),
        ([NONE, YES, NO], YES),
        ([NONE, NO, YES], NO),
        ([NONE, Decision(None, "me neither", "broken")], Decision(None, "who knows\nme neither", "broken")),
        ([Decision(None, error="broken"), YES], YES),
    ],
    ids=["nobody", "yes first", "no first", "no opinion", "yes in spite of an error"],
)
def test_the_first_opinion_counts(opinions: list[Decision], expected: Decision) -> None:
    assert union([says(each) for each in opinions])(JANE, GET) == expected  # type: ignore[misc]


def test_masters_may_do_everything() -> None:
    assert privileged_groups(User("root", groups=("system:masters",)), GET).allowed
    assert privileged_groups(JANE, GET).allowed is None


def test_what_is_not_open_is_refused_with_verb_user_and_path() -> None:
    refusal = Access(OPEN).refusal(Request("POST", "/filter"))
    assert refusal == Refusal(
        403, "Forbidden", 'forbidden: User "system:anonymous" cannot post path "/filter"'
    )


def test_a_refusal_gives_the_reason_and_no_html() -> None:
    access = Access(union([says(NO)]), lambda request: User("<i>"))  # type: ignore[list-item]
    refusal = access.refusal(Request("GET", "/a&b"))
    assert refusal is not None
    assert refusal.message == 'forbidden: User "&lt;i&gt;" cannot get path "/a&amp;b": no'
    assert "\\u0026lt;i\\u0026gt;" in status_json(refusal)


def test_nobody_known_is_unauthorized_and_only_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    refusal = Access(OPEN, lambda request: Fault("expired")).refusal(Request("GET", "/healthz"))
    assert refusal == Refusal(401, "Unauthorized", "Unauthorized")
    assert 'Unable to authenticate the request err="expired"' in caplog.text


def test_trouble_while_asking_is_no_refusal(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    refusal = Access(union([says(Decision(None, error="down"))])).refusal(GET)  # type: ignore[list-item]
    assert refusal == Refusal(500, "InternalError", 'Internal Server Error: "/configz": down')
    assert "Unable to authorize" in caplog.text


def test_statuses_are_kubernetes() -> None:
    """The 403 is among the recorded answers; an API server's own 401 looks like this."""
    assert status_json(Refusal(401, "Unauthorized", "Unauthorized")) == (
        '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized",'
        '"reason":"Unauthorized","code":401}\n'
    )


def test_to_people_statuses_are_indented() -> None:
    text = status_json(Refusal(403, "Forbidden", "no"), pretty=True)
    assert text.startswith('{\n  "kind": "Status",\n')
    assert text.endswith('"details": {},\n  "code": 403\n}')


def test_a_shown_request_hides_the_credentials() -> None:
    assert "secret" not in repr(Request("GET", "/metrics", [("Authorization", "Bearer secret")]))
