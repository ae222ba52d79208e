"""Victims are evicted in the background; the preemptor waits, is nominated, and gets the room that was made."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from scheduler.client.errors import NotFoundError, ServerError
from scheduler.framework.interface import Wait
from scheduler.sandbox import Sandbox
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk
from tests.scheduling.harness import Observer, Running, objects

MakeDesk = Callable[..., Desk]
CONDITION = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "PreemptionByScheduler",
    "message": "default-scheduler: preempting to accommodate a higher priority pod",
    "lastProbeTime": None,
    "lastTransitionTime": "2026-01-02T03:04:05Z",
}
BROKEN = ServerError(500, "InternalError", "no")


class Holds:
    """A Permit plugin that holds pods named ``held``."""

    name = "Holds"

    def __init__(self, args: Any, handle: Any) -> None:
        """Nothing."""

    def permit(self, cycle: Any, node: str) -> Wait | None:
        return Wait(600) if cycle.pod.metadata.name == "held" else None


class Prepares:
    """A PreBind plugin that takes its time."""

    name = "Prepares"
    desk: Desk

    def __init__(self, args: Any, handle: Any) -> None:
        """Nothing."""

    def pre_bind_pre_flight(self, cycle: Any, node: str) -> None:
        """There is work."""

    def pre_bind(self, cycle: Any, node: str) -> None:
        if cycle.pod.metadata.name == "prepared":
            assert type(self).desk.ledger.may_bind.wait(30)


def pod(name: str, priority: int, cpu: str = "1", node: str = "") -> PodBuilder:
    made = make_pod(name).priority(priority).req(cpu=cpu).spec(schedulerName="default-scheduler")
    return made.node(node) if node else made


def crowded(desk: Desk, *victims: str) -> None:
    """A node full of pods, and a pod that needs all of it."""
    desk.put(make_node("n").capacity(cpu=str(len(victims))))
    desk.put(*(pod(name, 1, node="n") for name in victims))
    desk.put(pod("preemptor", 100, cpu=str(len(victims))))


def evicted(desk: Desk) -> list[str]:
    return sorted(name for name, _ in desk.ledger.deleted)


def attempts(desk: Desk) -> float:
    return desk.metric("schedule_attempts_total", result="unschedulable", profile="default-scheduler")


def ended(desk: Desk, result: str) -> float:
    return desk.metric("preemption_goroutines_execution_total", result=result)


def test_victims_go_the_preemptor_is_nominated_and_bound(desk: MakeDesk) -> None:
    made = desk()
    crowded(made, "a", "b")
    made.run_until(lambda: ended(made, "success"))
    assert evicted(made) == ["a", "b"]
    assert made.queue.nominator.node_of("Pod/default/preemptor") == "n"
    made.run_until(lambda: ("preemptor", {"nominatedNodeName": "n"}) in _nominations(made))
    made.remove("a", "b")
    made.pass_time(30)
    made.run_until(lambda: ("preemptor", "n") in made.ledger.bound)
    assert made.metric("preemption_attempts_total") == 1
    assert made.metric("preemption_victims_sum") == 2


def test_a_victim_is_told_why(desk: MakeDesk) -> None:
    made = desk()
    crowded(made, "a")
    made.run_until(lambda: ended(made, "success"))
    (status,) = (status for name, status in made.ledger.patches if name == "a")
    assert status["conditions"] == [CONDITION]
    assert ("Preempted", "Preempted by pod Pod/default/preemptor on node n") in made.ledger.events
    assert made.ledger.deleted == [("a", "Pod/default/a")]


def test_the_preemptor_stays_out_while_its_victims_are_being_evicted(desk: MakeDesk) -> None:
    made = desk()
    made.ledger.may_delete.clear()
    crowded(made, "a", "b")
    made.run_until(lambda: attempts(made) == 1)
    made.put(make_node("m").capacity(cpu="2"))  # an event that would bring it back
    made.pass_time(30)
    assert (attempts(made), made.queue.pending_counts()["gated"]) == (1, 1)
    made.ledger.may_delete.set()
    made.run_until(lambda: ("preemptor", "m") in made.ledger.bound)


def test_it_may_go_once_the_deletion_of_the_last_victim_has_begun(desk: MakeDesk) -> None:
    made = desk()
    made.ledger.may_delete.clear()
    crowded(made, "a")
    made.run_until(lambda: made.ledger.patches)  # the request to delete is under way, its answer is not
    made.remove("a")
    made.pass_time(30)
    made.run_until(lambda: ("preemptor", "n") in made.ledger.bound)
    assert ended(made, "success") == 0


@pytest.mark.parametrize("unlucky", ["a", "b"], ids=["one of many", "the last"])
def test_after_a_failure_the_preemptor_tries_again(desk: MakeDesk, unlucky: str) -> None:
    made = desk()
    made.ledger.undeletable[unlucky] = BROKEN
    crowded(made, "a", "b")
    made.run_until(lambda: ended(made, "error"))
    made.ledger.undeletable.clear()
    made.run_until(lambda: ended(made, "success"))
    assert {"a", "b"} <= set(evicted(made))


def test_a_victim_that_is_gone_is_no_failure(desk: MakeDesk) -> None:
    made = desk()
    made.ledger.undeletable["a"] = NotFoundError(404, "NotFound", "gone")
    crowded(made, "a")
    made.run_until(lambda: ended(made, "success"))
    assert "Preempted" not in [reason for reason, _ in made.ledger.events]


def test_victims_that_are_being_deleted_are_left_alone(desk: MakeDesk) -> None:
    made = desk()
    made.put(make_node("n").capacity(cpu="1"))
    made.put(pod("a", 1, node="n").metadata(deletionTimestamp="2026-01-01T00:00:00Z"))
    made.put(pod("preemptor", 100))
    made.run_until(lambda: made.queue.nominator.node_of("Pod/default/preemptor"))
    assert (made.ledger.deleted, made.metric("preemption_victims_count")) == ([], 0)


def test_less_important_pods_lose_their_nomination_to_the_node(desk: MakeDesk) -> None:
    made = desk()
    made.put(make_node("n").capacity(cpu="1"), pod("a", 1, node="n"))
    made.put(pod("humble", 50).nominated("n").gates())
    made.queue.nominator.add(pod("humble", 50).nominated("n").info())
    made.put(pod("preemptor", 100))
    made.run_until(lambda: ended(made, "success"))
    assert ("humble", {"nominatedNodeName": None}) in made.ledger.patches


def test_a_pod_held_by_permit_goes_back_to_the_queue(desk: MakeDesk) -> None:
    made = desk(Holds)
    made.put(make_node("n").capacity(cpu="1"), pod("held", 1))
    made.run_until(lambda: len(made.waiting) == 1)
    made.put(pod("preemptor", 100))
    made.run_until(lambda: ("preemptor", "n") in made.ledger.bound)
    assert made.ledger.deleted == []
    note = "Preempted by pod Pod/default/preemptor on node n (in kube-scheduler memory)."
    assert ("Preempted", note) in made.ledger.events


def test_a_pod_in_pre_bind_goes_back_to_the_queue(desk: MakeDesk) -> None:
    made = desk(Prepares)
    Prepares.desk = made
    made.put(make_node("n").capacity(cpu="1"), pod("prepared", 1))
    with made.binding_held():
        made.run_until(lambda: made.cluster.is_assumed("Pod/default/prepared"))
        made.run_until(lambda: ("prepared", {"nominatedNodeName": "n"}) in made.ledger.patches)
        made.put(pod("preemptor", 100))
        made.run_until(lambda: ended(made, "success"))
    made.run_until(lambda: ("preemptor", "n") in made.ledger.bound)
    assert made.ledger.deleted == []
    assert ("prepared", "n") not in made.ledger.bound


def test_equal_priority_is_never_evicted(desk: MakeDesk) -> None:
    made = desk()
    made.put(make_node("n").capacity(cpu="1"), pod("a", 100, node="n"), pod("preemptor", 100))
    made.run_until(lambda: attempts(made) == 1)
    made.pass_time(timedelta(minutes=10).total_seconds())
    assert made.ledger.deleted == []


def _nominations(desk: Desk) -> list[tuple[str, dict[str, Any]]]:
    return [
        (name, {"nominatedNodeName": patch["nominatedNodeName"]})
        for name, patch in desk.ledger.patches
        if "nominatedNodeName" in patch
    ]


def test_against_a_server_the_least_important_pods_make_room(
    sandbox: Sandbox, observer: Observer, scheduler: Callable[..., Running]
) -> None:
    classes = [priority_class("low", 1), priority_class("middle", 5), priority_class("high", 100)]
    sandbox.load(classes)
    sandbox.load(objects(make_node("n1").capacity(cpu="2"), make_node("n2").capacity(cpu="2")))
    sandbox.load(objects(*(real(f"low{number}", "low") for number in range(2)), real("mid", "middle", "2")))
    scheduler()
    observer.wait_bound("low0", "low1", "mid")
    sandbox.load(objects(real("preemptor", "high", "2")))
    observer.wait_bound("preemptor")
    assert observer.node_of("preemptor") != observer.node_of("mid") != ""
    assert observer.pod("low0") == observer.pod("low1") == {}
    observer.wait(lambda: len(observer.events("Preempted")) == 2)
    event = observer.events("Preempted")[0]
    assert (event["type"], event["action"], event["related"]["name"]) == ("Normal", "Preempting", "preemptor")
    assert event["regarding"]["name"] in ("low0", "low1")


def priority_class(name: str, value: int) -> dict[str, Any]:
    meta = {"name": name}
    return {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}


def real(name: str, importance: str, cpu: str = "1") -> PodBuilder:
    """A pod as a user would send it."""
    return make_pod(name).container({"cpu": cpu}, name="c", image="pause").spec(priorityClassName=importance)
