"""Pods that Permit holds."""

from __future__ import annotations

from scheduler.framework.status import Code, Status
from scheduler.framework.waiting import WaitingPods
from tests.builders import make_pod


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def held(**waits: float) -> tuple[WaitingPods, Clock, list[Status], str]:
    clock = Clock()
    pods, verdicts, pod = WaitingPods(clock), [], make_pod("p").metadata(uid="u").obj()
    pods.hold(pod, waits, verdicts.append)
    return pods, clock, verdicts, "u"


def test_the_last_plugin_that_allows_lets_it_go() -> None:
    pods, _, verdicts, uid = held(A=1, B=1)
    waiting = pods.get(uid)
    assert waiting is not None
    waiting.allow("A")
    assert (verdicts, waiting.pending_plugins) == ([], ["B"])
    waiting.allow("B")
    assert [status.code for status in verdicts] == [Code.SUCCESS]
    assert pods.get(uid) is None


def test_any_plugin_refuses_it_and_only_once() -> None:
    pods, _, verdicts, uid = held(A=1, B=1)
    assert pods.reject(uid, "B", "no")
    assert not pods.reject(uid, "A", "neither")
    assert [(status.plugin, status.message) for status in verdicts] == [("B", "no")]


def test_it_expires_at_the_shortest_wait() -> None:
    pods, clock, verdicts, _ = held(A=90, B=1.5)
    assert pods.next_deadline() == 101.5
    clock.time = 101.4
    pods.expire()
    assert verdicts == []
    clock.time = 101.5
    pods.expire()
    assert verdicts == [
        Status(Code.UNSCHEDULABLE, ("rejected due to timeout after waiting 1.5s at plugin B",), "B")
    ]
    assert pods.next_deadline() is None


def test_a_verdict_after_the_time_is_up_changes_nothing() -> None:
    pods, clock, verdicts, uid = held(A=1)
    waiting = pods.get(uid)
    assert waiting is not None
    clock.time = 200
    pods.expire()
    waiting.allow("A")
    assert len(verdicts) == 1


def test_many_that_wait_long_are_not_looked_at_until_the_first_is_due() -> None:
    clock = Clock()
    pods, verdicts = WaitingPods(clock), []
    for place in range(100):
        pods.hold(make_pod("p").metadata(uid=str(place)).obj(), {"A": 10 + place}, verdicts.append)
    looked = 0

    def count() -> float:
        nonlocal looked
        looked += 1
        return 0.0

    for waiting in pods:
        waiting.expire = lambda now: count()  # type: ignore[method-assign,assignment,return-value]
    pods.expire()
    assert looked == 0
    clock.time += 10
    pods.expire()
    assert looked == 100


def test_the_first_may_be_let_go_before_the_second_is_due() -> None:
    clock = Clock()
    pods, verdicts = WaitingPods(clock), []
    for uid, seconds in (("a", 5), ("b", 10)):
        pods.hold(make_pod("p").metadata(uid=uid).obj(), {"A": seconds}, verdicts.append)
    first = pods.get("a")
    assert first is not None
    first.allow("A")
    clock.time += 5
    pods.expire()
    assert pods.next_deadline() == 110
    clock.time += 5
    pods.expire()
    assert [status.code for status in verdicts] == [Code.SUCCESS, Code.UNSCHEDULABLE]
