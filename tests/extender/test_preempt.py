"""Preempt keeps the caller's victims where they suffice, adds who else has to go, and drops nodes that evictions do not help."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import PodDisruptionBudget, convert
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PluginFactory
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.status import Status
from scheduler.plugins import IN_TREE
from tests.builders import make_node, make_pod
from tests.extender.builders import (
    Handle,
    HandMadeWorld,
    ask,
    client,
    framework,
    recorded,
    three_nodes,
    world,
)

Document = dict[str, Any]
CUSTOM = ("PrioritySort", "DefaultBinder")


class Gpus:
    """A filter that kube-scheduler lacks: the pods of a node share two GPUs, told by a label."""

    name = "Gpus"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        taken = sum(int(pod.pod.metadata.labels.get("gpus", 0)) for pod in node.pods)
        free = 2 - taken - int(cycle.pod.metadata.labels.get("gpus", 0))
        return Status.unschedulable("node(s) had no GPU to spare") if free < 0 else None


class Failing(Gpus):
    """A bug."""

    name = "Failing"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        raise ZeroDivisionError("division by zero")


class Refusing(Gpus):
    """Refuses every pod for good."""

    name = "Refusing"

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        return Status.unresolvable("not today")


def custom(plugin: PluginFactory = Gpus) -> HandMadeWorld:
    """Three nodes, judged by one filter of another package and nothing else."""
    return world(*three_nodes(), frameworks=[framework(plugins=CUSTOM, extra={"Custom": plugin})])


def complete() -> HandMadeWorld:
    """Three nodes, judged by all of kube-scheduler's plugins."""
    return world(*three_nodes(), frameworks=[framework(plugins=tuple(IN_TREE))])


def pod(name: str, *, gpus: int = 0, priority: int = 0, cpu: str = "0") -> Any:
    return make_pod(name).label("gpus", str(gpus)).priority(priority).req(cpu=cpu).metadata(uid=name)


def asked(made: HandMadeWorld, who: Any, proposals: dict[str, list[str]], **more: Any) -> Document:
    """The answer: the victims by node name."""
    meta = {
        node: {"Pods": [{"UID": uid} for uid in uids], "NumPDBViolations": 0}
        for node, uids in proposals.items()
    }
    body = {"Pod": who.doc(), "NodeNameToVictims": None, "NodeNameToMetaVictims": meta} | more
    answer = ask(client(made), "/preempt", body)
    assert list(answer) == ["NodeNameToMetaVictims"]
    kept: Document = answer["NodeNameToMetaVictims"]
    return {node: [victim["UID"] for victim in victims["Pods"]] for node, victims in kept.items()}


RECORDED = {
    "083-preempt-cct-preempt": [("c9e57dd9-b9b9-45bc-bc63-f733e898d5e6", 0)],
    "085-preempt-ccf-preempt": [("ac36376e-8d68-4299-b4ca-27c9b7294ec6", 0)],
    "087-preempt-pdb-cct-preempt": [("1a097fde-3704-4063-ad97-1c86dea52255", 1)],
}


@pytest.mark.parametrize("name", RECORDED)
@pytest.mark.parametrize("path", ["/preempt", "/profiles/default-scheduler/preempt"])
def test_recorded_proposals_are_kept(name: str, path: str) -> None:
    made = complete()
    kept = ask(client(made), path, recorded(name))["NodeNameToMetaVictims"]
    assert set(kept) == {"node-a", "node-b", "node-c"}
    on_first = kept["node-a"]
    assert [(victim["UID"], on_first["NumPDBViolations"]) for victim in on_first["Pods"]] == RECORDED[name]


def test_the_recorded_proposal_is_needed_by_a_complete_profile() -> None:
    made = complete()
    made.add_pods(
        *(pod(uid, cpu="3500m").node(node).obj() for node, uid in (("node-a", "u1"), ("node-b", "u2")))
    )
    who = pod("hi", priority=1000, cpu="2")
    assert asked(made, who, {"node-a": ["u1"], "node-b": ["u2"]}) == {"node-a": ["u1"], "node-b": ["u2"]}


def test_victims_are_added_until_the_filters_hold() -> None:
    made = custom()
    made.add_pods(
        pod("small", gpus=1, priority=1).node("node-a").obj(),
        pod("other", gpus=1, priority=2).node("node-a").obj(),
        pod("cpu", priority=3).node("node-a").obj(),
    )
    assert asked(made, pod("hi", gpus=1, priority=9), {"node-a": ["cpu"]}) == {"node-a": ["cpu", "small"]}
    assert asked(made, pod("hi", gpus=2, priority=9), {"node-a": ["cpu"]}) == {
        "node-a": ["cpu", "other", "small"]
    }


def test_a_candidate_without_victims_is_accepted() -> None:
    made = custom()
    made.add_pods(pod("low", gpus=2).node("node-b").obj())
    who = pod("hi", gpus=1, priority=9)
    assert asked(made, who, {"node-a": [], "node-b": []}) == {"node-a": [], "node-b": ["low"]}


@pytest.mark.parametrize("nothing", [None, {}, {"Pods": None}, {"Pods": [], "NumPDBViolations": 0}])
def test_no_victims_in_any_spelling(nothing: Any) -> None:
    body = {"Pod": pod("hi").doc(), "nodenametometavictims": {"node-a": nothing}}
    answer = ask(client(custom()), "/preempt", body)
    assert answer == {"NodeNameToMetaVictims": {"node-a": {"Pods": [], "NumPDBViolations": 0}}}


def test_nodes_that_evictions_do_not_help_are_dropped() -> None:
    made = custom()
    made.add_pods(
        pod("high", gpus=2, priority=10).node("node-a").obj(), pod("low", gpus=2).node("node-b").obj()
    )
    who = pod("hi", gpus=1, priority=9)
    assert asked(made, who, {"node-a": [], "node-b": ["low"], "nowhere": ["x"]}) == {"node-b": ["low"]}


def test_a_profile_that_lacks_filters_keeps_victims_that_it_sees_no_need_for() -> None:
    made = custom()
    made.add_pods(pod("low").node("node-a").obj())
    assert asked(made, pod("hi", priority=9), {"node-a": ["low"]}) == {"node-a": ["low"]}


def test_a_complete_profile_spares_who_need_not_go() -> None:
    made = complete()
    made.add_pods(
        pod("one", cpu="2", priority=1).node("node-a").obj(),
        pod("two", cpu="2", priority=2).node("node-a").obj(),
    )
    assert asked(made, pod("hi", cpu="2", priority=9), {"node-a": ["two", "one"]}) == {"node-a": ["one"]}


def test_a_node_that_came_with_victims_keeps_them_when_none_need_go() -> None:
    made = complete()
    made.add_pods(pod("one", cpu="1", priority=1).node("node-a").obj())
    assert asked(made, pod("hi", cpu="1", priority=9), {"node-a": ["one"]}) == {"node-a": ["one"]}


def test_a_victim_that_is_unknown_here_stays_one() -> None:
    made = custom()
    made.add_pods(pod("low", gpus=2).node("node-a").obj())
    who = pod("hi", gpus=1, priority=9)
    assert asked(made, who, {"node-a": ["gone"]}) == {"node-a": ["low", "gone"]}


def test_spread_pods_are_judged_node_by_node() -> None:
    """The eviction on one node must not count on another, where it does not happen."""
    constraint = {
        "maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}},
    }
    nodes = [
        make_node(name).capacity(cpu="4", pods="10").label("kubernetes.io/hostname", name).obj()
        for name in ("node-a", "node-b")
    ]
    made = world(*nodes, frameworks=[framework(plugins=tuple(IN_TREE))])
    for name in ("a1", "a2"):
        made.add_pods(pod(name).label("app", "web").node("node-a").obj())
    made.add_pods(pod("b1").label("app", "web").node("node-b").obj())
    who = pod("hi", priority=9).label("app", "web").spec(topologySpreadConstraints=[constraint])
    # Without a1, node-a has one as node-b has; without b1, node-b has none and node-a two.
    assert asked(made, who, {"node-a": ["a1"], "node-b": ["b1"]}) == {"node-a": ["a1"], "node-b": ["b1"]}


def test_a_pod_that_pre_filter_refuses_for_good_has_no_candidates() -> None:
    made = custom(Refusing)
    made.add_pods(pod("low", gpus=2).node("node-a").obj())
    assert asked(made, pod("hi", priority=9), {"node-a": ["low"]}) == {}


def test_nominated_pods_keep_their_room() -> None:
    made = complete()
    made.add_pods(pod("low", cpu="4").node("node-a").obj())
    made.nominator.add(pod("first", cpu="4", priority=10).info(), "node-a")
    assert asked(made, pod("hi", cpu="1", priority=9), {"node-a": ["low"]}) == {}


def test_violations_are_counted_anew_when_victims_change() -> None:
    made = complete()
    budget = {
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": {"app": "kept"}}},
        "status": {"disruptionsAllowed": 0},
    }
    protecting = convert(PodDisruptionBudget, budget)
    Handle.catalog.pod_disruption_budgets.put(protecting)
    try:
        made.add_pods(pod("one", cpu="3", priority=1).label("app", "kept").node("node-a").obj())
        body = {
            "Pod": pod("hi", cpu="2", priority=9).doc(),
            "NodeNameToMetaVictims": {"node-a": {"Pods": [], "NumPDBViolations": 0}},
        }
        answer = ask(client(made), "/preempt", body)
    finally:
        Handle.catalog.pod_disruption_budgets.remove(protecting)
    expected = {"node-a": {"Pods": [{"UID": "one"}], "NumPDBViolations": 1}}
    assert answer == {"NodeNameToMetaVictims": expected}


def test_no_candidates_no_answer() -> None:
    body = {"Pod": pod("hi").doc(), "NodeNameToVictims": None, "NodeNameToMetaVictims": None}
    assert ask(client(custom()), "/preempt", body) == {"NodeNameToMetaVictims": {}}


def test_full_victims_are_known_by_their_uid() -> None:
    made = custom()
    low = pod("low", gpus=2).node("node-a")
    made.add_pods(low.obj())
    body = {
        "Pod": pod("hi", gpus=2, priority=9).doc(),
        "NodeNameToVictims": {"node-a": {"Pods": [low.doc()], "NumPDBViolations": 1}},
        "NodeNameToMetaVictims": None,
    }
    expected = {"node-a": {"Pods": [{"UID": "low"}], "NumPDBViolations": 1}}
    assert ask(client(made), "/preempt", body) == {"NodeNameToMetaVictims": expected}


def test_a_plugin_that_fails_is_a_server_error() -> None:
    body = {"Pod": pod("hi").doc(), "NodeNameToMetaVictims": {"node-a": {"Pods": []}}}
    answer = client(custom(Failing)).post("/preempt", json=body)
    assert answer.status_code == 500
    assert 'running Filter plugin "Failing": division by zero' in answer.json["Error"]


def test_nothing_is_evicted_from_the_cluster_itself() -> None:
    made = custom()
    made.add_pods(pod("low", gpus=2).node("node-a").obj())
    asked(made, pod("hi", gpus=2, priority=9), {"node-a": []})
    assert made.cluster.verify() == []
    assert made.cluster.nodes.pod_count.tolist() == [1, 0, 0]
