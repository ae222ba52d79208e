"""Who may preempt, on which nodes, whom, and what is said about it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config.args import DefaultPreemptionArgs
from tests.builders import PodBuilder, make_pod
from tests.plugins.default_preemption.harness import node, preemption, preemptor, search, victim

DISK = {"volumes": [{"name": "v", "gcePersistentDisk": {"pdName": "disk"}}]}
TERMINATING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
TARGET = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


def test_the_least_important_pods_that_suffice_go() -> None:
    pods = [
        victim("a", "n", 5, "1"),
        victim("b", "n", 1, "1"),
        victim("c", "n", 3, "1"),
        victim("d", "n", 200, "1"),
    ]
    found = preemption(preemptor(cpu="2"), node("n"), *pods)
    assert found == {
        "eligible": True,
        "potentialNodes": ["n"],
        "candidates": {"n": {"victims": ["default/c", "default/b"], "numPDBViolations": 0}},
        "selected": ["n"],
        "code": "Success",
        "message": "",
        "nominatedNodeName": "n",
    }


def test_a_pod_that_cannot_be_helped_loses_its_nomination() -> None:
    found = preemption(preemptor(), node("full"), node("n"), victim("a", "full", 100), victim("b", "n", 101))
    assert found["nominatedNodeName"] == ""
    assert found["message"] == (
        "no new claims to deallocate, preemption: 0/2 nodes are available: "
        "2 No preemption victims found for incoming pod."
    )


def test_nodes_that_no_eviction_helps_are_not_tried() -> None:
    nodes = [node("tainted").taint("dedicated"), node("small", "1"), node("held")]
    victims = [
        victim("a", "tainted"),
        victim("b", "small", cpu="1"),
        victim("c", "held"),
        victim("d", "held", 100),
    ]
    found = preemption(preemptor(), *nodes, *victims)
    assert found["potentialNodes"] == ["held"]
    assert found["rejected"] == {
        "held": {"code": "Unschedulable", "plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"]}
    }
    assert found["message"].endswith(
        "0/3 nodes are available: 1 Insufficient cpu, 2 Preemption is not helpful for scheduling."
    )


@pytest.mark.parametrize(
    ("ours", "theirs", "found"),
    [
        pytest.param(1, 0, True, id="higher"),
        pytest.param(0, 0, False, id="equal"),
        pytest.param(0, 1, False, id="lower"),
        pytest.param(0, -1, True, id="below zero"),
    ],
)
def test_only_pods_of_lower_priority_are_victims(ours: int, theirs: int, found: bool) -> None:
    answer = preemption(preemptor(ours), node("n"), victim("v", "n", theirs))
    assert ("candidates" in answer) is found


def test_a_pod_that_must_not_preempt() -> None:
    found = preemption(preemptor().spec(preemptionPolicy="Never"), node("n"), victim("v", "n"))
    assert found == {
        "eligible": False,
        "ineligibleReason": "not eligible due to preemptionPolicy=Never.",
        "code": "Unschedulable",
        "message": "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
        "nominatedNodeName": None,
    }


@pytest.mark.parametrize(
    ("metadata", "condition", "priority", "eligible"),
    [
        pytest.param(TERMINATING, TARGET, 0, False, id="its victim is ending"),
        pytest.param({}, TARGET, 0, True, id="not deleted yet"),
        pytest.param(
            TERMINATING, {**TARGET, "reason": "EvictionByEvictionAPI"}, 0, True, id="ends for another reason"
        ),
        pytest.param(TERMINATING, {**TARGET, "status": "False"}, 0, True, id="is no target any more"),
        pytest.param(TERMINATING, TARGET, 100, True, id="is not of lower priority"),
    ],
)
def test_a_pod_waits_for_its_victims_to_end(
    metadata: dict[str, Any], condition: dict[str, Any], priority: int, eligible: bool
) -> None:
    ending = victim("v", "n", priority).metadata(**metadata).status(conditions=[condition])
    found = preemption(preemptor().nominated("n"), node("n"), node("m", "1"), ending)
    assert found["eligible"] is eligible


def test_it_does_not_wait_on_a_node_that_will_never_take_it() -> None:
    ending = victim("v", "n").metadata(**TERMINATING).status(conditions=[TARGET])
    found = preemption(
        preemptor().nominated("n"), node("n").taint("dedicated"), node("m"), ending, victim("w", "m")
    )
    assert (found["eligible"], found["selected"]) == (True, ["m"])


def test_pods_nominated_to_a_node_count_when_they_are_as_important() -> None:
    rival = make_pod("rival").priority(100).req(cpu="2").nominated("n")
    found = preemption(preemptor(cpu="2"), node("n"), victim("a", "n", 1), victim("b", "n", 2), rival)
    assert found["candidates"]["n"]["victims"] == ["default/b", "default/a"]


@pytest.mark.parametrize(
    ("args", "candidates"),
    [
        pytest.param(DefaultPreemptionArgs(), 6, id="by default at least a hundred"),
        pytest.param(DefaultPreemptionArgs(50, 1), 3, id="a share"),
        pytest.param(DefaultPreemptionArgs(0, 2), 2, id="a number"),
    ],
)
def test_the_search_ends_with_enough_candidates(args: DefaultPreemptionArgs, candidates: int) -> None:
    nodes = [node(f"n{number}") for number in range(6)]
    victims = [victim(f"v{number}", f"n{number}") for number in range(6)]
    assert len(search(preemptor(), args, *nodes, *victims).candidates) == candidates


def test_the_search_goes_on_until_one_candidate_violates_no_budget() -> None:
    nodes = [node(f"n{number}") for number in range(4)]
    victims = [
        victim(f"v{number}", f"n{number}").label("app", "db" if number else "web") for number in range(4)
    ]
    protected = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "db", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "db"}}},
    }
    found = search(preemptor(), DefaultPreemptionArgs(0, 1), *nodes, *victims, protected)
    assert [each.node for each in found.selected] == ["n0"]


def test_a_share_of_no_node_finds_none() -> None:
    """As upstream: its list of candidates has no room then."""
    found = search(preemptor(), DefaultPreemptionArgs(1, 0), node("n"), victim("v", "n"))
    assert not found.candidates
    assert found.status.message.endswith("1 Preemption is not helpful for scheduling.")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        pytest.param(
            preemptor(100, "1").host_port(80), victim("held", "n", 1, "1").host_port(80), id="a port"
        ),
        pytest.param(preemptor(100, "1").spec(**DISK), victim("held", "n", 1, "1").spec(**DISK), id="a disk"),
    ],
)
def test_only_who_holds_what_is_needed_has_to_go(ours: PodBuilder, theirs: PodBuilder) -> None:
    found = preemption(ours, node("n"), victim("before", "n", 1, "1"), theirs, victim("after", "n", 0, "1"))
    assert found["candidates"]["n"]["victims"] == ["default/held"]
