"""TokenReviews and SubjectAccessReviews: what is asked, what comes back, what is tried again."""

import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler.client.access import load_access
from scheduler.client.errors import ClientError, ForbiddenError, ServerError, TransportError
from scheduler.client.rest import Rest
from scheduler.client.reviews import AccessSpec, AccessStatus, PathAttributes, Reviews, TokenStatus, UserInfo
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE

METRICS = AccessSpec(PathAttributes("/metrics", "get"), user="jane", groups=("ops",))


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        server.access.know("t0ken", "jane", groups=["ops"], uid="7", extra={"scopes": ["a", "b"]})
        yield server


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture
def reviews(sandbox: Sandbox, waits: list[float]) -> Reviews:
    rest = Rest(load_access(master=sandbox.url), user_agent="t", qps=-1)
    return Reviews(rest, wait=waits.append, rng=random.Random(1))


def test_a_known_token_tells_its_user(reviews: Reviews) -> None:
    user = UserInfo("jane", "7", ("ops", "system:authenticated"), {"scopes": ("a", "b")})
    assert reviews.token("t0ken") == TokenStatus(authenticated=True, user=user)


def test_an_unknown_token_tells_why(reviews: Reviews) -> None:
    assert reviews.token("other") == TokenStatus(error="the token is not known")


def test_permissions_are_those_of_user_and_groups(sandbox: Sandbox, reviews: Reviews) -> None:
    assert reviews.access(METRICS).allowed is False
    sandbox.access.grant("ops", "get", "/met*")
    assert reviews.access(METRICS) == AccessStatus(allowed=True)


def test_everything_known_about_the_user_is_asked(sandbox: Sandbox, reviews: Reviews) -> None:
    reviews.access(AccessSpec(PathAttributes("/x", "post"), "u", "7", ("g",), {"k": ("v",)}))
    assert sandbox.access.asked[-1] == {
        "nonResourceAttributes": {"path": "/x", "verb": "post"},
        "user": "u",
        "uid": "7",
        "groups": ["g"],
        "extra": {"k": ["v"]},
    }


@pytest.mark.parametrize(
    "fault", [{"status": 500}, {"status": 504}, {"drop": "before"}, {"drop": "after"}], ids=str
)
def test_passing_trouble_is_tried_again(
    sandbox: Sandbox, reviews: Reviews, waits: list[float], fault: dict[str, object]
) -> None:
    sandbox.faults.add(path="/tokenreviews$", times=2, **fault)  # type: ignore[arg-type]
    assert reviews.token("t0ken").authenticated
    assert [0.5 <= waits[0] <= 0.6, 0.75 <= waits[1] <= 0.9, len(waits)] == [True, True, 2]


def test_trouble_that_stays_is_told_after_five_attempts(
    sandbox: Sandbox, reviews: Reviews, waits: list[float]
) -> None:
    failing = sandbox.faults.add(path="/subjectaccessreviews$", status=500)
    with pytest.raises(ServerError):
        reviews.access(METRICS)
    assert (failing.hits, len(waits)) == (5, 4)


@pytest.mark.parametrize(("status", "kind"), [(403, ForbiddenError), (503, ServerError)])
def test_other_answers_are_told_at_once(
    sandbox: Sandbox, reviews: Reviews, status: int, kind: type[ClientError]
) -> None:
    failing = sandbox.faults.add(path="/tokenreviews$", status=status)
    with pytest.raises(kind):
        reviews.token("t0ken")
    assert failing.hits == 1


def test_who_waits_for_a_silent_server_can_be_let_go(sandbox: Sandbox, reviews: Reviews) -> None:
    silent = sandbox.faults.add(path="/tokenreviews$", delay=3600)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(reviews.token, "t0ken")
        assert silent.struck.wait(DEADLINE)
        reviews.close()
        with pytest.raises(TransportError, match="the process ends"):
            waiting.result(DEADLINE)
    with pytest.raises(TransportError, match="the process ends"):
        reviews.access(METRICS)


def test_a_server_that_is_away_is_told_at_once(waits: list[float]) -> None:
    rest = Rest(load_access(master="http://127.0.0.1:1"), user_agent="t", qps=-1)
    with pytest.raises(TransportError):
        Reviews(rest, wait=waits.append).token("t0ken")
    assert waits == []
