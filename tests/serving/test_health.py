"""What the checks make of an endpoint's answer, failures above all (kube-scheduler's recorded answers are all of healthy ones)."""

import pytest

from scheduler.serving.health import PING, Answer, Check, Endpoint
from scheduler.verbosity import V2

BROKEN: Check = ("leaderElection", lambda: "lease lost")


def test_a_failure_is_told_without_its_reason_and_logged_with_it(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(V2)
    answer = Endpoint("healthz", (PING, BROKEN)).root()
    body = "[+]ping ok\n[-]leaderElection failed: reason withheld\nhealthz check failed\n"
    assert answer == Answer(500, body)
    assert "leaderElection: lease lost" in caplog.text


def test_a_failing_check_gives_its_reason_when_asked_for_by_name() -> None:
    assert Endpoint("healthz", (BROKEN,)).single("leaderElection") == Answer(
        500, "internal server error: lease lost\n"
    )


def test_an_excluded_check_does_not_fail_the_endpoint() -> None:
    answer = Endpoint("readyz", (PING, BROKEN)).root(verbose=True, exclude=["leaderElection"])
    assert answer == Answer(200, "[+]ping ok\n[+]leaderElection excluded: ok\nreadyz check passed\n")


def test_unknown_exclusions_are_listed_in_order() -> None:
    answer = Endpoint("livez").root(verbose=True, exclude=["z", "a"])
    assert 'no matches for "a", "z"\n' in answer.body


def test_an_endpoint_without_checks_pings() -> None:
    assert Endpoint("livez", ()).root(verbose=True).body == "[+]ping ok\nlivez check passed\n"


def test_every_outcome_is_observed_but_those_of_excluded_checks() -> None:
    seen: list[tuple[str, str, bool]] = []
    endpoint = Endpoint("readyz", (PING, BROKEN), lambda *outcome: seen.append(outcome))
    endpoint.root()
    endpoint.root(exclude=["ping"])
    assert seen == [
        ("readyz", "ping", True),
        ("readyz", "leaderElection", False),
        ("readyz", "leaderElection", False),
    ]
