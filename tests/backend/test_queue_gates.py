"""Gated pods, and pods that nothing wakes."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.backend.changes import UNSCHEDULABLE_TIMEOUT
from scheduler.backend.hints import Registration
from scheduler.backend.queue import SchedulingQueue
from scheduler.framework.status import Status
from tests.backend.harness import (
    NODE_ADD,
    NODE_LABEL,
    POD_LABEL,
    PROFILE,
    Clock,
    Gate,
    Harness,
    most_urgent_first,
    only_for,
    pod,
)


def gated(*registrations: Registration, **options: Any) -> Harness:
    """A pod ``a`` that the gate holds back."""
    harness = Harness(*registrations, **options)
    harness.gate.closed_for.add("a")
    harness.add("a")
    assert harness.where("a") == "gated"
    return harness


def test_a_gated_pod_is_never_tried_and_says_why() -> None:
    harness = gated()
    assert harness.popped() is None
    queued = harness.queue.get(pod("a").obj())
    assert queued is not None
    assert (queued.gating_plugin, queued.gating_reasons) == ("Gate", ("waiting for the gate",))
    assert (queued.attempts, queued.initial_attempt_timestamp) == (0, None)
    assert harness.counted.rejected_by == {"Gate": 1}
    assert harness.counted.incoming == {("unschedulable", "UnschedulablePodAdd"): 1}
    assert harness.counted.points == [("PreEnqueue", "UnschedulableAndUnresolvable")]


def test_an_update_that_interests_the_gate_lets_the_pod_in() -> None:
    harness = gated(Registration(POD_LABEL, "Gate"))
    harness.gate.closed_for.clear()
    harness.queue.update(pod("a").obj(), pod("a").label("x", "y").obj())
    assert harness.where("a") == "active"
    assert harness.take("a").gating_plugin == ""
    assert harness.counted.rejected_by == {"Gate": 0}


def test_the_gate_is_asked_again_only_about_events_that_interest_it() -> None:
    harness = gated(Registration(NODE_ADD, "Gate"), Registration(NODE_LABEL, "Fit"))
    asked = harness.gate.asked
    harness.queue.move_all(NODE_LABEL, None, None)
    harness.queue.move_all(UNSCHEDULABLE_TIMEOUT, None, None)
    assert harness.gate.asked == asked
    harness.queue.move_all(NODE_ADD, None, None)
    assert harness.gate.asked == asked + 1
    assert harness.where("a") == "gated"
    assert harness.counted.rejected_by == {"Gate": 1}


def test_an_open_gate_lets_the_pod_in_at_the_next_event() -> None:
    harness = gated(Registration(NODE_ADD, "Gate"))
    harness.gate.closed_for.clear()
    assert harness.queue.move_all(NODE_ADD, None, None) == 1
    assert harness.where("a") == "active"


def test_activating_a_gated_pod_asks_the_gate() -> None:
    harness = gated()
    harness.queue.activate([pod("a").obj()])
    assert harness.where("a") == "gated"
    harness.gate.closed_for.clear()
    harness.queue.activate([pod("a").obj()])
    assert harness.where("a") == "active"


@pytest.mark.parametrize(
    ("pop_from_backoff", "before", "after"),
    [(True, "gated", "gated"), (False, "backoff", "gated")],
    ids=["asked on the way into the back-off queue", "asked on the way out"],
)
def test_a_gate_that_closes_for_a_refused_pod(pop_from_backoff: bool, before: str, after: str) -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"), pop_from_backoff=pop_from_backoff)
    harness.add("a")
    harness.refuse("a", "Fit")
    harness.gate.closed_for.add("a")
    harness.queue.move_all(NODE_ADD, None, None)
    assert harness.where("a") == before
    harness.clock.time += 5
    harness.queue.flush()
    assert harness.where("a") == after


@pytest.mark.parametrize("error", [RuntimeError("broken gate"), SystemExit(3)], ids=repr)
def test_a_gate_that_fails_keeps_the_pod_out(error: BaseException) -> None:
    harness = Harness()
    harness.gate.fails = error
    harness.add("a")
    assert harness.where("a") == "gated"
    assert harness.counted.points == [("PreEnqueue", "Error")]
    queued = harness.queue.get(pod("a").obj())
    assert queued is not None
    (reason,) = queued.gating_reasons
    assert reason.startswith('running PreEnqueue plugin "Gate": ')


def test_a_gate_does_not_swallow_ctrl_c() -> None:
    harness = Harness()
    harness.gate.fails = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        harness.add("a")


@pytest.mark.parametrize(
    "answer", [True, "no", Status.failure(OSError("disk"))], ids=["bool", "text", "error"]
)
def test_a_gate_that_answers_nonsense_or_an_error_keeps_the_pod_out(
    monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    harness = Harness()
    monkeypatch.setattr(harness.gate, "pre_enqueue", lambda _: answer)
    harness.add("a")
    assert harness.where("a") == "gated"


def test_the_gate_that_held_the_pod_last_is_asked_first() -> None:
    gates = [Gate("first"), Gate("second")]
    queue = SchedulingQueue(
        most_urgent_first,
        Clock(),
        pre_enqueue={PROFILE: gates},
        hints={PROFILE: [Registration(NODE_ADD, "second")]},
    )
    gates[1].closed_for.add("a")
    queue.add(pod("a").info())
    queue.move_all(NODE_ADD, None, None)
    assert [gate.asked for gate in gates] == [1, 2]


def test_a_pod_that_nothing_wakes_is_tried_again_after_five_minutes() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit", only_for()))
    harness.add("a")
    harness.refuse("a", "Fit")
    harness.clock.time = 1300.0
    assert (harness.queue.flush(), harness.where("a")) == (0, "unschedulable")
    wakeup = harness.queue.next_wakeup()
    assert wakeup == 1330.0
    harness.clock.time = wakeup
    assert (harness.queue.flush(), harness.where("a")) == (1, "active")
    assert harness.take("a").was_flushed_from_unschedulable
    assert harness.counted.incoming["active", "UnschedulableTimeout"] == 1


def test_such_a_flush_counts_as_an_event_for_pods_in_flight() -> None:
    harness = Harness()
    harness.add("a", "b")
    harness.refuse("a", "Fit")
    flying = harness.take("b")
    harness.clock.time = 1400.0
    harness.queue.flush()
    harness.give_back(flying, "Fit")
    assert harness.where("b") == "backoff"


def test_a_refusal_after_the_flush_starts_anew() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    harness.add("a")
    harness.refuse("a", "Fit")
    harness.clock.time = 1400.0
    harness.queue.flush()
    queued = harness.refuse("a", "Fit")
    assert not queued.was_flushed_from_unschedulable
    assert harness.where("a") == "unschedulable"


def test_a_gated_pod_stays_however_long_it_takes() -> None:
    harness = gated(Registration(NODE_ADD, "Gate"))
    harness.clock.time = 9999.0
    assert harness.queue.flush() == 0
    assert harness.where("a") == "gated"
