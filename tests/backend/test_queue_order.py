"""Who is next, and what becomes of a waiting pod that changes or goes."""

from __future__ import annotations

import pytest

from scheduler.backend.queue import SchedulingQueue
from scheduler.backend.queued import QueuedPodInfo
from tests.backend.harness import PROFILE, Clock, Harness, pod


def test_the_most_urgent_first_and_equals_in_the_order_of_their_arrival() -> None:
    harness = Harness()
    harness.add("a", "b")
    harness.add("urgent", priority=10)
    harness.add("c")
    assert [harness.popped() for _ in range(5)] == ["urgent", "a", "b", "c", None]


def test_many_pods_come_out_in_order_though_some_are_deleted() -> None:
    harness = Harness()
    for number in range(300):
        harness.add(f"p{number}", priority=number % 7)
    for number in range(0, 300, 2):
        harness.queue.delete(pod(f"p{number}").obj())
    expected = sorted(range(1, 300, 2), key=lambda number: (-(number % 7), number))
    assert [harness.popped() for _ in range(151)] == [*(f"p{number}" for number in expected), None]


def test_an_update_may_change_the_order() -> None:
    harness = Harness()
    harness.add("a", "b")
    harness.queue.update(pod("b").obj(), pod("b").priority(1).obj())
    assert [harness.popped(), harness.popped(), harness.popped()] == ["b", "a", None]


def test_an_update_keeps_the_place_among_equals() -> None:
    harness = Harness()
    harness.add("a", "b")
    harness.queue.update(pod("a").obj(), pod("a").label("x", "y").obj())
    taken = harness.take("a")
    assert taken.pod.metadata.labels == {"x": "y"}


def test_an_update_of_an_unknown_pod_adds_it() -> None:
    harness = Harness()
    harness.queue.update(pod("a").obj(), pod("a").obj())
    assert harness.popped() == "a"
    assert harness.counted.incoming["active", "UnschedulablePodUpdate"] == 1


def test_attempts_and_times_are_kept() -> None:
    harness = Harness()
    harness.add("a")
    harness.clock.time = 1001
    first = harness.refuse("a")
    assert (first.attempts, first.initial_attempt_timestamp, first.timestamp) == (1, 1000, 1001)
    harness.clock.time = 1100
    harness.queue.flush()
    second = harness.take("a")
    assert (second.attempts, second.initial_attempt_timestamp) == (2, 1000)


@pytest.mark.parametrize("place", ["active", "backoff", "unschedulable", "gated"])
def test_a_deleted_pod_is_gone_from_wherever_it_was(place: str) -> None:
    harness = Harness()
    if place == "gated":
        harness.gate.closed_for.add("a")
    harness.add("a")
    if place in ("backoff", "unschedulable"):
        harness.refuse("a", *(["Fit"] if place == "unschedulable" else []))
    assert harness.where("a") == place
    harness.queue.delete(pod("a").obj())
    assert harness.where("a") == ""
    assert len(harness.queue) == 0
    assert harness.counted.rejected_by.total() == 0


@pytest.mark.parametrize("place", ["active", "backoff", "unschedulable"])
def test_a_pod_that_is_added_again_waits_once(place: str) -> None:
    harness = Harness()
    harness.add("a")
    if place != "active":
        harness.refuse("a", *(["Fit"] if place == "unschedulable" else []))
    harness.add("a")
    assert harness.where("a") == "active"
    assert [harness.popped(), harness.popped()] == ["a", None]


@pytest.mark.parametrize("place", ["active", "backoff", "unschedulable"])
def test_a_pod_cannot_come_back_while_its_name_waits(place: str) -> None:
    harness = Harness()
    harness.add("a")
    queued = harness.take("a")
    harness.add("a")
    if place != "active":
        harness.queue.done(queued.pod_info.uid)
        harness.refuse("a", *(["Fit"] if place == "unschedulable" else []))
    with pytest.raises(ValueError, match=f"pod default/a is already present in the {place} queue"):
        harness.give_back(queued)
    assert not harness.queue.is_in_flight(queued.pod_info.uid)


def test_a_pod_in_flight_is_not_popped_a_second_time() -> None:
    harness = Harness()
    harness.add("a")
    harness.take("a")
    harness.add("a", "b")
    assert [harness.popped(), harness.popped()] == ["b", None]


def test_counts_by_queue() -> None:
    harness = Harness()
    harness.gate.closed_for.add("gated")
    harness.add("gated", "refused", "failed", "flying")
    harness.refuse("refused", "Fit")
    harness.refuse("failed")
    harness.take("flying")
    harness.add("waiting")
    assert harness.queue.pending_counts() == {"active": 1, "backoff": 1, "unschedulable": 1, "gated": 1}
    assert harness.where("flying") == "in flight"
    assert len(harness.queue) == 4


def test_nominations_follow_the_pod() -> None:
    harness = Harness()
    harness.queue.add(pod("a").nominated("n").info())
    assert [info.pod.metadata.name for info in harness.queue.nominator.nominated_on("n")] == ["a"]
    harness.queue.update(pod("a").nominated("n").obj(), pod("a").nominated("m").obj())
    assert harness.queue.nominator.nominated_on("n") == ()
    harness.queue.delete(pod("a").obj())
    assert len(harness.queue.nominator) == 0


@pytest.mark.parametrize("error", [ValueError("broken"), SystemExit(3)], ids=repr)
def test_pods_for_which_the_sort_plugin_fails_come_last_in_the_order_of_arrival(error: BaseException) -> None:
    def by_name(queued: QueuedPodInfo) -> str:
        if queued.pod.metadata.name.startswith("bad"):
            raise error
        return queued.pod.metadata.name

    clock = Clock()
    queue = SchedulingQueue(by_name, clock, pre_enqueue={PROFILE: []}, hints={PROFILE: []})
    for name in ("bad-2", "z", "bad-1", "a"):
        queue.add(pod(name).info())
    popped = [queued for _ in range(4) if (queued := queue.pop()) is not None]
    assert [queued.pod.metadata.name for queued in popped] == ["a", "z", "bad-2", "bad-1"]
    popped[2].unschedulable_plugins = set()
    queue.add_unschedulable(popped[2])
    assert [
        (place, queued.pod.metadata.name) for place, queued in queue.pending() if place != "in flight"
    ] == [("backoff", "bad-2")]
