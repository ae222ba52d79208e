"""What an event does to pods that were refused, and to those under way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.apis.objects import Pod
from scheduler.backend.changes import FORCE_ACTIVATE, UNSCHEDULABLE_TIMEOUT
from scheduler.backend.hints import Registration, registrations
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from tests.backend.harness import NODE_ADD, NODE_LABEL, POD_DELETE, POD_LABEL, Harness, only_for, pod

ANY_UPDATE = ClusterEvent(EventResource.NODE, ActionType.UPDATE)


def refused(*registrations: Registration, pending: tuple[str, ...] = ()) -> Harness:
    """A pod ``a`` that plugin Fit has rejected, or that ``pending`` plugins hold back."""
    harness = Harness(*registrations)
    harness.add("a")
    harness.refuse("a", *([] if pending else ["Fit"]), pending=pending)
    assert harness.where("a") == "unschedulable"
    return harness


def broken(pod: Pod, old: Any, new: Any) -> Any:
    raise RuntimeError("broken hint")


def leaving(pod: Pod, old: Any, new: Any) -> Any:
    raise SystemExit(3)


MOVES = {
    "no hint": (Registration(NODE_ADD, "Fit"), NODE_ADD, "backoff"),
    "the hint says Queue": (Registration(NODE_ADD, "Fit", only_for("a")), NODE_ADD, "backoff"),
    "the hint says Skip": (Registration(NODE_ADD, "Fit", only_for()), NODE_ADD, "unschedulable"),
    "the hint is broken": (Registration(NODE_ADD, "Fit", broken), NODE_ADD, "backoff"),
    "the hint would end the process": (Registration(NODE_ADD, "Fit", leaving), NODE_ADD, "backoff"),
    "another event": (Registration(NODE_ADD, "Fit"), NODE_LABEL, "unschedulable"),
    "another plugin's event": (Registration(NODE_ADD, "Other"), NODE_ADD, "unschedulable"),
    "an update among those registered": (Registration(ANY_UPDATE, "Fit"), NODE_LABEL, "backoff"),
    "an unspecific update": (Registration(NODE_LABEL, "Fit"), ANY_UPDATE, "unschedulable"),
    "a pod event for whom pods in general matter": (
        Registration(ClusterEvent(EventResource.POD, ActionType.DELETE), "Fit"),
        POD_DELETE,
        "backoff",
    ),
    "a wildcard event": (Registration(NODE_ADD, "Fit", only_for()), UNSCHEDULABLE_TIMEOUT, "backoff"),
    "anything, for who registered for anything": (
        Registration(ClusterEvent(EventResource.WILDCARD, ActionType.ALL), "Fit"),
        NODE_LABEL,
        "backoff",
    ),
}


@pytest.mark.parametrize(("registration", "event", "expected"), MOVES.values(), ids=MOVES)
def test_refused_pods(registration: Registration, event: ClusterEvent, expected: str) -> None:
    harness = refused(registration)
    assert harness.queue.move_all(event, None, None) == (expected == "backoff")
    assert harness.where("a") == expected


@pytest.mark.parametrize(("registration", "event", "expected"), MOVES.values(), ids=MOVES)
def test_events_while_in_flight_count_as_if_the_pod_had_waited(
    registration: Registration, event: ClusterEvent, expected: str
) -> None:
    harness = Harness(registration)
    harness.add("a")
    queued = harness.take("a")
    harness.queue.move_all(event, None, None)
    harness.give_back(queued, "Fit")
    assert harness.where("a") == expected


def test_events_before_the_pop_do_not_count() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    harness.add("b", "a")
    harness.take("b")
    harness.queue.move_all(NODE_ADD, None, None)
    harness.refuse("a", "Fit")
    assert harness.where("a") == "unschedulable"


def test_a_pending_plugin_skips_the_back_off() -> None:
    harness = refused(Registration(NODE_ADD, "Wait"), pending=("Wait",))
    harness.queue.move_all(NODE_ADD, None, None)
    assert harness.where("a") == "active"


def test_a_pending_plugin_skips_the_back_off_for_a_pod_in_flight() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"), Registration(NODE_LABEL, "Wait"))
    harness.add("a")
    queued = harness.take("a")
    harness.queue.move_all(NODE_ADD, None, None)
    harness.queue.move_all(NODE_LABEL, None, None)
    harness.give_back(queued, "Fit", pending=["Wait"])
    assert harness.where("a") == "active"


def test_of_a_pending_and_a_rejecting_plugin_the_pending_one_decides() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"), Registration(NODE_ADD, "Wait", only_for("a")))
    harness.add("a", "b")
    harness.refuse("a", "Fit", pending=["Wait"])
    harness.refuse("b", "Fit", pending=["Wait"])
    harness.queue.move_all(NODE_ADD, None, None)
    assert (harness.where("a"), harness.where("b")) == ("active", "backoff")


def test_a_pod_that_met_an_error_backs_off_whatever_happened() -> None:
    harness = Harness()
    harness.add("a")
    harness.refuse("a")
    assert harness.where("a") == "backoff"


def test_hints_see_the_object_before_and_after() -> None:
    seen: list[tuple[str, Any, Any]] = []

    def hint(pod: Pod, old: Any, new: Any) -> Any:
        seen.append((pod.metadata.name, old, new))
        return only_for()(pod, old, new)

    harness = refused(Registration(NODE_ADD, "Fit", hint))
    harness.add("b")
    flying = harness.take("b")
    harness.queue.move_all(NODE_ADD, "before", "after")
    harness.give_back(flying, "Fit")
    assert seen == [("a", "before", "after"), ("b", "before", "after")]


def test_a_precheck_narrows_the_pods() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    harness.add("a", "b")
    harness.refuse("a", "Fit")
    harness.refuse("b", "Fit")
    moved = harness.queue.move_all(NODE_ADD, None, None, lambda pod: pod.metadata.name == "b")
    assert (moved, harness.where("a"), harness.where("b")) == (1, "unschedulable", "backoff")


UPDATES: dict[str, tuple[Callable[[], Pod], str]] = {
    "of interest": (lambda: pod("a").label("x", "y").obj(), "backoff"),
    "not of interest": (lambda: pod("a").toleration("x").obj(), "unschedulable"),
}


@pytest.mark.parametrize(("new", "expected"), UPDATES.values(), ids=UPDATES)
@pytest.mark.parametrize("in_flight", [False, True], ids=["refused", "in flight"])
def test_updates_of_the_pod_itself(new: Callable[[], Pod], expected: str, in_flight: bool) -> None:
    harness = Harness(Registration(POD_LABEL, "Fit"))
    harness.add("a")
    queued = harness.take("a")
    if not in_flight:
        harness.give_back(queued, "Fit")
    harness.queue.update(pod("a").obj(), new())
    if in_flight:
        harness.give_back(queued, "Fit")
    assert harness.where("a") == expected


def test_activate_moves_refused_and_backing_off_pods_at_once() -> None:
    harness = Harness()
    harness.add("a", "b")
    harness.refuse("a", "Fit")
    harness.refuse("b")
    harness.queue.activate([pod("a").obj(), pod("b").obj(), pod("unknown").obj()])
    assert [harness.where(name) for name in ("a", "b", "unknown")] == ["active", "active", ""]
    assert harness.counted.incoming["active", FORCE_ACTIVATE.label] == 2


def test_activate_concerns_only_that_pod_in_flight() -> None:
    harness = Harness()
    harness.add("a", "b")
    first, second = harness.take("a"), harness.take("b")
    harness.queue.activate([pod("b").obj()])
    harness.give_back(first, "Fit")
    harness.give_back(second, "Fit")
    assert (harness.where("a"), harness.where("b")) == ("unschedulable", "backoff")


def test_events_are_kept_only_as_long_as_somebody_may_need_them() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    harness.queue.move_all(NODE_ADD, None, None)
    assert harness.queue.in_flight_counts() == {"PodPopped": 0}
    harness.add("a", "b")
    first = harness.take("a")
    harness.queue.move_all(NODE_ADD, None, None)
    second = harness.take("b")
    harness.queue.move_all(NODE_ADD, None, None)
    harness.queue.move_all(NODE_LABEL, None, None)
    assert harness.queue.in_flight_counts() == {"PodPopped": 2, "NodeAdd": 2}
    harness.queue.done(first.pod_info.uid)
    assert harness.queue.in_flight_counts() == {"PodPopped": 1, "NodeAdd": 1}
    harness.queue.done(second.pod_info.uid)
    harness.queue.done(second.pod_info.uid)
    assert harness.queue.in_flight_counts() == {"PodPopped": 0, "NodeAdd": 0}


def test_a_younger_pod_that_is_done_first_takes_no_event_from_an_older_one() -> None:
    harness = Harness(Registration(NODE_ADD, "Fit"))
    harness.add("a", "b")
    first, second = harness.take("a"), harness.take("b")
    harness.queue.move_all(NODE_ADD, None, None)
    harness.queue.done(second.pod_info.uid)
    harness.give_back(first, "Fit")
    assert harness.where("a") == "backoff"


def test_what_is_counted() -> None:
    harness = refused(Registration(NODE_ADD, "Fit", only_for()), Registration(NODE_LABEL, "Fit", broken))
    assert harness.counted.rejected_by == {"Fit": 1}
    harness.queue.move_all(NODE_ADD, None, None)
    harness.queue.move_all(NODE_LABEL, None, None)
    harness.take("a")
    assert harness.counted.rejected_by == {"Fit": 0}
    assert harness.counted.hints == [
        ("Fit", "NodeAdd", "QueueSkip"),
        ("Fit", "NodeUpdateNodeLabel", "Error"),
    ]
    assert harness.counted.incoming == {
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 1,
        ("backoff", "NodeUpdateNodeLabel"): 1,
        ("active", "PopFromBackoffQ"): 1,
    }


def test_who_registers_for_added_nodes_hears_of_taints() -> None:
    plugins = [
        ("Fit", [ClusterEventWithHint(NODE_ADD, only_for())]),
        ("Deaf", []),
        ("Silent", None),
    ]
    harness = Harness(*registrations(plugins))
    harness.add("fit", "deaf", "silent")
    for name in ("fit", "deaf", "silent"):
        harness.refuse(name, name.capitalize())
    taint = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT)
    assert harness.queue.move_all(taint, None, None) == 2
    assert [harness.where(name) for name in ("fit", "deaf", "silent")] == [
        "backoff",
        "unschedulable",
        "backoff",
    ]
