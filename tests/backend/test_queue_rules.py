"""A queue that goes on by other rules, as after a reload: nobody is lost, and whoever the change concerns is judged anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler.backend.hints import Registration
from scheduler.backend.queued import QueueTimes
from scheduler.backend.rules import QueueRules
from tests.backend.harness import NODE_ADD, PROFILE, Gate, Harness, most_urgent_first, pod

RELOAD = "ConfigurationReload"


def rules(
    *gates: Gate,
    key: Any = most_urgent_first,
    hints: Sequence[Registration] = (),
    times: QueueTimes = QueueTimes(),  # noqa: B008  # an immutable value
) -> QueueRules:
    return QueueRules(key, {PROFILE: gates}, {PROFILE: hints}, times)


def test_another_order_counts_for_pods_that_wait_and_equals_stay_in_the_order_of_arrival() -> None:
    harness = Harness()
    harness.add("a", "b", "c", priority=1)
    harness.add("z", priority=9)
    harness.queue.follow(rules(key=lambda queued: queued.pod_info.priority), ())
    assert [harness.popped() for _ in range(4)] == ["a", "b", "c", "z"]


def test_refused_pods_of_a_changed_profile_are_tried_again_when_their_back_off_ends() -> None:
    harness = Harness()
    harness.add("a")
    harness.refuse("a", "Gone")
    assert harness.where("a") == "unschedulable"
    harness.queue.follow(rules(), {PROFILE})
    assert harness.where("a") == "backoff"
    harness.clock.time += 2
    harness.queue.flush()
    assert harness.take("a").attempts == 2
    assert harness.counted.incoming["backoff", RELOAD] == 1
    assert harness.counted.rejected_by["Gone"] == 0


def test_refused_pods_of_an_unchanged_profile_wait_on_and_hear_by_the_new_hints() -> None:
    harness = Harness()
    harness.add("a")
    harness.refuse("a", "Fit")
    harness.queue.follow(rules(hints=[Registration(NODE_ADD, "Fit")]), ())
    assert harness.where("a") == "unschedulable"
    assert harness.queue.move_all(NODE_ADD, None, None) == 1
    assert harness.where("a") == "backoff"


def test_a_gated_pod_whose_gate_is_gone_becomes_active() -> None:
    harness = Harness()
    harness.gate.closed_for.add("a")
    harness.add("a")
    harness.queue.follow(rules(), {PROFILE})
    assert harness.where("a") == "active"
    assert harness.take("a").initial_attempt_timestamp == harness.clock.time
    assert harness.counted.rejected_by["Gate"] == 0


@pytest.mark.parametrize("place", ["active", "backoff"])
def test_a_new_gate_takes_waiting_pods_out(place: str) -> None:
    harness = Harness()
    harness.add("a", "b")
    if place == "backoff":
        harness.refuse("a")
    gate = Gate("New")
    gate.closed_for.add("a")
    assert harness.where("a") == place
    harness.queue.follow(rules(gate), {PROFILE})
    assert (harness.where("a"), harness.where("b")) == ("gated", "active")
    assert harness.counted.rejected_by["New"] == 1


def test_other_back_offs_count_for_pods_that_back_off_already() -> None:
    harness = Harness(times=QueueTimes(initial_backoff=8.0))
    harness.add("a")
    harness.refuse("a")
    harness.queue.follow(rules(times=QueueTimes(initial_backoff=1.0)), ())
    harness.clock.time += 2
    assert harness.queue.flush() == 1
    assert harness.where("a") == "active"


@pytest.mark.parametrize("place", ["active", "backoff", "unschedulable", "gated"])
def test_pods_of_a_profile_that_is_gone_are_dropped(place: str) -> None:
    harness = Harness()
    if place == "gated":
        harness.gate.closed_for.add("a")
    harness.add("a")
    if place in ("backoff", "unschedulable"):
        harness.refuse("a", *(["Fit"] if place == "unschedulable" else []))
    assert harness.where("a") == place
    harness.queue.follow(QueueRules(most_urgent_first, {"other": ()}, {}, QueueTimes()), {PROFILE})
    assert len(harness.queue) == 0
    assert not any(harness.counted.rejected_by.values())


def test_a_pod_in_flight_is_tried_again_when_it_comes_back_refused() -> None:
    harness = Harness()
    harness.add("a")
    queued = harness.take("a")
    harness.queue.follow(rules(), {PROFILE})
    harness.give_back(queued, "Fit")
    assert harness.where("a") == "backoff"


def test_nominations_stay() -> None:
    harness = Harness()
    info = pod("a").info()
    harness.queue.add(info)
    harness.queue.nominator.add(info, "n1")
    harness.queue.follow(rules(), {PROFILE})
    assert harness.queue.nominator.node_of(info.uid) == "n1"
