"""Preemption: who has to go, who may stay, and when nothing is done."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import make_pod
from tests.conformance.surprises.world import Document, ask, node, pending, running, victims


def budget(name: str, allowed: int, selector: Document | None = None, **status: Any) -> Document:
    """A disruption budget, of pods with ``app=NAME`` unless a selector is given."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": name}} if selector is None else selector},
        "status": {"disruptionsAllowed": allowed, **status},
    }


def urgent(priority: int = 10, cpu: str = "1") -> Any:
    return pending().priority(priority).req(cpu=cpu)


def pinned(name: str) -> Document:
    """The node selector term of a DaemonSet's pod."""
    return {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]}


def test_a_daemon_pod_among_equals_waits() -> None:
    """140984: its only node is full of pods of its own priority; free nodes elsewhere are no use."""
    found = ask(
        urgent(0).node_affinity(pinned("n1")), node("n1", cpu="1"), node("n2"), running("r", "n1", cpu="1")
    )
    assert found["preFilter"]["nodeNames"] == ["n1"]
    assert found["fitError"] == (
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
        "no new claims to deallocate, preemption: 0/2 nodes are available: "
        "1 No preemption victims found for incoming pod, 1 Preemption is not helpful for scheduling."
    )


def test_the_older_of_two_equals_stays() -> None:
    """141227: whether a victim could run elsewhere is not asked."""
    found = ask(
        urgent(),
        node("n1", cpu="2"),
        running("daemon", "n1", cpu="1").status(startTime="2026-01-02T00:00:00Z"),
        running("web", "n1", cpu="1").status(startTime="2026-01-01T00:00:00Z"),
    )
    assert victims(found) == {"n1": ["default/daemon"]}


def test_a_budget_is_violated_when_there_is_no_other_way() -> None:
    """91492"""
    found = ask(urgent(), node("n1", cpu="1"), budget("web", 0), running("r", "n1", cpu="1", app="web"))
    assert found["preemption"]["candidates"] == {"n1": {"victims": ["default/r"], "numPDBViolations": 1}}


def test_a_budget_is_worth_more_than_priority() -> None:
    """129136: the pod of priority 1000 goes, for the one of priority 0 beside it has a budget."""
    found = ask(
        urgent(10_000),
        *(node("w1", cpu="2"), node("w2", cpu="1"), budget("low", 0), budget("mid", 0)),
        running("high", "w1", cpu="1", priority=1000),
        running("low", "w1", cpu="1", priority=0, app="low"),
        running("mid", "w2", cpu="1", priority=100, app="mid"),
    )["preemption"]
    assert found["selected"] == ["w1"]
    assert found["candidates"]["w1"] == {"victims": ["default/high"], "numPDBViolations": 0}


def test_a_pod_that_is_being_disrupted_already_violates_nothing() -> None:
    """92475"""
    disrupted = budget("web", 0, disruptedPods={"r0": "2026-01-01T00:00:00Z"})
    there = [running(f"r{n}", "n1", cpu="1", app="web") for n in range(2)]
    found = ask(urgent(), node("n1", cpu="2"), disrupted, *there)
    assert found["preemption"]["candidates"] == {"n1": {"victims": ["default/r0"], "numPDBViolations": 0}}


def terminating(by_scheduler: bool) -> Any:
    """A pod on n1 that is ending."""
    pod = running("v", "n1", cpu="1").metadata(deletionTimestamp="2026-01-01T00:00:00Z")
    condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
    return pod.status(conditions=[condition]) if by_scheduler else pod


@pytest.mark.parametrize("by_scheduler", [True, False], ids=["preempted", "ended by somebody else"])
def test_a_preemptor_waits_for_its_own_victims_only(by_scheduler: bool) -> None:
    """kube-scheduler-simulator 271"""
    found = ask(
        urgent().nominated("n1"),
        *(node("n1", cpu="1"), node("n2", cpu="1"), terminating(by_scheduler), running("r", "n2", cpu="1")),
    )["preemption"]
    assert found["eligible"] is not by_scheduler
    if by_scheduler:
        assert found["ineligibleReason"] == "not eligible due to a terminating pod on the nominated node."


@pytest.mark.parametrize(("rival", "fits"), [(9, True), (10, False), (11, False)])
def test_nominated_pods_of_equal_priority_hold_their_room(rival: int, fits: bool) -> None:
    nominated = make_pod("rival").req(cpu="2").priority(rival).nominated("n1")
    assert ("feasible" in ask(urgent(), node("n1", cpu="2"), nominated)) is fits


def test_the_small_one_goes_when_that_is_enough() -> None:
    """The more important ones are put back first, as long as the pod still fits."""
    found = ask(
        urgent(cpu="500m"),
        node("n1", cpu="2"),
        running("big", "n1", cpu="1500m", priority=1),
        running("small", "n1", cpu="500m", priority=0),
    )
    assert victims(found) == {"n1": ["default/small"]}


def test_never_preempting_means_waiting() -> None:
    found = ask(urgent().spec(preemptionPolicy="Never"), node("n1", cpu="1"), running("r", "n1", cpu="1"))
    assert found["preemption"]["ineligibleReason"] == "not eligible due to preemptionPolicy=Never."


def test_pods_of_other_schedulers_are_evicted_too() -> None:
    """Only priority counts."""
    other = running("r", "n1", cpu="1").spec(schedulerName="volcano")
    assert victims(ask(urgent(), node("n1", cpu="1"), other)) == {"n1": ["default/r"]}
