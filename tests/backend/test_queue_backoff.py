"""How long a pod that failed has to wait, and how it gets out of the back-off queue."""

from __future__ import annotations

import pytest

from scheduler.backend.backoff import BackoffQueue
from scheduler.backend.hints import Registration
from scheduler.backend.queued import QueueTimes
from tests.backend.harness import NODE_ADD, Clock, Harness, most_urgent_first, pod


@pytest.mark.parametrize(
    ("initial", "maximum", "expected"),
    [
        (1.0, 10.0, [1, 2, 4, 8, 10, 10]),
        (2.0, 3.0, [2, 3, 3, 3, 3, 3]),
        (1.0, 1.0, [1, 1, 1, 1, 1, 1]),
    ],
)
def test_the_back_off_doubles_up_to_the_maximum(
    initial: float, maximum: float, expected: list[float]
) -> None:
    backoff = BackoffQueue(most_urgent_first, Clock(), initial=initial, maximum=maximum, windows=True)
    assert [backoff.duration(count) for count in range(1, 7)] == expected
    assert backoff.duration(10**9) == maximum


def fail_at(harness: Harness, time: float, name: str, *plugins: str) -> None:
    harness.clock.time = time
    harness.add(name)
    harness.refuse(name, *plugins)


def flushed_at(harness: Harness, time: float) -> int:
    harness.clock.time = time
    return harness.queue.flush()


def test_a_back_off_ends_with_the_window_in_which_it_ends() -> None:
    harness = Harness()
    fail_at(harness, 1000.7, "a")
    assert harness.queue.next_wakeup() == 1002
    assert [flushed_at(harness, 1001.99), flushed_at(harness, 1002.0)] == [0, 1]
    assert harness.where("a") == "active"
    assert harness.counted.incoming["active", "BackoffComplete"] == 1


def test_without_windows_it_ends_to_the_moment() -> None:
    harness = Harness(pop_from_backoff=False)
    fail_at(harness, 1000.7, "a")
    assert [flushed_at(harness, 1001.6), flushed_at(harness, 1001.8)] == [0, 1]


def test_a_maximum_of_zero_turns_it_off() -> None:
    harness = Harness(times=QueueTimes(max_backoff=0))
    fail_at(harness, 1000.0, "a")
    assert harness.where("a") == "active"


def test_errors_in_a_row_count_apart_from_rejections() -> None:
    harness = Harness()
    fail_at(harness, 1000.0, "a", "Fit")
    harness.queue.activate([pod("a").obj()])
    harness.refuse("a")
    harness.queue.activate([pod("a").obj()])
    queued = harness.refuse("a")
    assert (queued.unschedulable_count, queued.consecutive_errors) == (1, 2)
    assert harness.queue.next_wakeup() == 1003
    harness.queue.activate([pod("a").obj()])
    queued = harness.refuse("a", "Fit")
    assert (queued.unschedulable_count, queued.consecutive_errors) == (2, 0)


def backing_off(harness: Harness, *names: str) -> None:
    """Pods that were rejected, and to which an event has given another chance."""
    harness.add(*names)
    for name in names:
        harness.refuse(name, "Fit")
    harness.queue.move_all(NODE_ADD, None, None)


def test_an_idle_scheduler_pops_from_the_back_off_queue() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    backing_off(harness, "a")
    assert harness.where("a") == "backoff"
    assert harness.popped() == "a"
    assert harness.counted.incoming["active", "PopFromBackoffQ"] == 1


def test_the_active_queue_comes_first() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    backing_off(harness, "a")
    harness.add("b")
    assert [harness.popped(), harness.popped()] == ["b", "a"]


def test_within_a_window_the_most_urgent_is_popped_first() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    for time, name, priority in (
        (1000.1, "a", 0),
        (1000.5, "b", 0),
        (1000.9, "urgent", 5),
        (1001.1, "later", 9),
    ):
        harness.clock.time = time
        harness.add(name, priority=priority)
        harness.refuse(name, "Fit")
    harness.queue.move_all(NODE_ADD, None, None)
    assert [harness.popped() for _ in range(4)] == ["urgent", "a", "b", "later"]


def test_a_pod_that_met_an_error_is_never_popped_early() -> None:
    harness = Harness()
    fail_at(harness, 1000.0, "a")
    assert harness.popped() is None
    assert flushed_at(harness, 1002.0) == 1
    assert harness.popped() == "a"


def test_early_popping_can_be_turned_off() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"), pop_from_backoff=False)
    backing_off(harness, "a")
    assert harness.where("a") == "backoff"
    assert harness.popped() is None


def test_a_pod_whose_back_off_is_over_skips_the_queue() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    fail_at(harness, 1000.0, "a", "Fit")
    harness.clock.time = 1002.0
    harness.queue.move_all(NODE_ADD, None, None)
    assert harness.where("a") == "active"


def test_an_update_finds_the_pod_in_the_back_off_queue() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    backing_off(harness, "a", "b")
    harness.queue.update(pod("b").obj(), pod("b").priority(3).obj())
    assert harness.where("b") == "backoff"
    assert [harness.popped(), harness.popped()] == ["b", "a"]
    fail_at(harness, 1000.0, "c")
    harness.queue.update(pod("c").obj(), pod("c").label("x", "y").obj())
    assert harness.where("c") == "backoff"
    assert harness.popped() is None


def test_nothing_to_wait_for() -> None:
    harness = Harness()
    assert harness.queue.next_wakeup() is None
    harness.add("a")
    assert harness.queue.next_wakeup() is None
    assert harness.queue.flush() == 0
