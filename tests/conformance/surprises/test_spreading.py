"""Topology spread: which nodes and pods count."""

from __future__ import annotations

import pytest

from tests.conformance.surprises.world import HOST, ZONE, ask, each_on, node, pending, reason, running, spread

UNEVEN = "node(s) didn't match pod topology spread constraints"


def test_a_cordoned_node_counts_as_an_empty_domain() -> None:
    """106396: four replicas on five nodes, one of them cordoned, and the fifth stays pending."""
    nodes = [*map(node, ("n1", "n2", "n3", "n4")), node("n5").unschedulable()]
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[spread(HOST)]),
        *nodes,
        *each_on("n1", "n2", "n3", "n4", app="web"),
    )
    assert reason(found) == f"0/5 nodes are available: 1 node(s) were unschedulable, 4 {UNEVEN}"


@pytest.mark.parametrize(
    ("tainted", "feasible"), [(True, ["n1"]), (False, None)], ids=["tainted", "field only"]
)
def test_honouring_taints_leaves_a_cordoned_node_out_by_its_taint(
    tainted: bool, feasible: list[str] | None
) -> None:
    """106396: ``nodeTaintsPolicy: Honor`` looks at taints, not at ``spec.unschedulable``."""
    cordoned = node("n2").unschedulable()
    if tainted:
        cordoned.taint("node.kubernetes.io/unschedulable")
    constraint = spread(HOST, nodeTaintsPolicy="Honor")
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[constraint]),
        node("n1"),
        cordoned,
        *each_on("n1", app="web"),
    )
    assert found.get("feasible") == feasible


def test_a_node_for_others_counts_unless_its_taints_are_honoured() -> None:
    """107464: the minimum is zero because of a node where the pod may never run."""
    nodes = [node("n1"), node("n2"), node("special").taint("group", "special")]
    there = each_on("n1", "n2", app="web")
    assert "feasible" not in ask(
        pending(app="web").spec(topologySpreadConstraints=[spread(HOST)]), *nodes, *there
    )
    honour = spread(HOST, nodeTaintsPolicy="Honor")
    found = ask(pending(app="web").spec(topologySpreadConstraints=[honour]), *nodes, *there)
    assert found["feasible"] == ["n1", "n2"]


def test_nodes_that_affinity_leaves_out_do_not_count() -> None:
    """105072: both replicas on the only node that the pod may use, with a skew of 1."""
    pod = pending(app="web").node_affinity(
        {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["a"]}]}
    )
    found = ask(
        pod.spec(topologySpreadConstraints=[spread(HOST)]),
        node("n1").label("pool", "a"),
        node("n2"),
        *each_on("n1", app="web"),
    )
    assert found["feasible"] == ["n1"]


def test_two_constraints_may_contradict_each_other() -> None:
    """109364: zones would have the next one in b, hostnames on a2; nothing is both."""
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[spread(), spread(HOST)]),
        *(node("a1", "a"), node("a2", "a"), node("b1", "b")),
        *each_on("a1", "a1", "a2", "b1", "b1", app="web"),
    )
    assert reason(found) == f"0/3 nodes are available: 3 {UNEVEN}"


def test_terminating_pods_do_not_count() -> None:
    """105661: what a rollout ends is gone already."""
    old = running("old", "b1", app="web").metadata(deletionTimestamp="2026-01-01T00:00:00Z")
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[spread()]),
        *(node("a1", "a"), node("b1", "b"), old),
        *each_on("a1", app="web"),
    )
    assert found["feasible"] == ["b1"]


@pytest.mark.parametrize(
    ("keys", "feasible"), [((), ["b1"]), (("pod-template-hash",), ["a1"])], ids=["all revisions", "its own"]
)
def test_a_rollout_counts_old_replicas_unless_told_not_to(keys: tuple[str, ...], feasible: list[str]) -> None:
    """98215: ``matchLabelKeys`` counts only pods of the revision."""
    old = [running(f"old{n}", "a1", app="web").label("pod-template-hash", "1") for n in range(3)]
    new = running("new", "b1", app="web").label("pod-template-hash", "2")
    pod = pending(app="web").label("pod-template-hash", "2")
    constraint = spread(matchLabelKeys=list(keys))
    found = ask(pod.spec(topologySpreadConstraints=[constraint]), node("a1", "a"), node("b1", "b"), *old, new)
    assert found["feasible"] == feasible


def test_too_few_domains_allow_no_more_than_the_skew() -> None:
    """With ``minDomains: 3`` in two zones the minimum is zero, not one."""
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[spread(minDomains=3)]),
        *(node("a1", "a"), node("b1", "b")),
        *each_on("a1", "b1", app="web"),
    )
    assert reason(found) == f"0/2 nodes are available: 2 {UNEVEN}"


def test_a_full_zone_holds_the_others_back() -> None:
    """116978: the zone with no capacity left is the one that is due."""
    found = ask(
        pending(app="web").req(cpu="500m").spec(topologySpreadConstraints=[spread()]),
        *(node("a1", "a", cpu="1"), node("b1", "b"), node("c1", "c")),
        *each_on("b1", "c1", app="web"),
        running("other", "a1", cpu="1"),
    )
    assert reason(found) == f"0/3 nodes are available: 1 Insufficient cpu, 2 {UNEVEN}"


def test_no_selector_means_no_pods() -> None:
    """Without a ``labelSelector`` nothing is counted and nothing is refused."""
    constraint = {**spread(), "labelSelector": None}
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[constraint]),
        *(node("a1", "a"), node("b1", "b")),
        *each_on("a1", "a1", app="web"),
    )
    assert found["feasible"] == ["a1", "b1"]


def test_a_node_without_the_label_is_out_even_of_soft_constraints_scores() -> None:
    """97687: with ``ScheduleAnyway`` such a node stays possible and scores nothing for spreading."""
    soft = spread(when="ScheduleAnyway")
    found = ask(
        pending(app="web").spec(topologySpreadConstraints=[soft]),
        node("a1", "a"),
        node("bare"),
        *each_on("a1", app="web"),
    )
    assert found["feasible"] == ["a1", "bare"]
    assert found["scores"]["bare"]["PodTopologySpread"] == 0
    hard = ask(pending(app="web").spec(topologySpreadConstraints=[spread()]), node("bare"))
    assert reason(hard) == f"0/1 nodes are available: 1 {UNEVEN} (missing required label)"


def test_a_constraint_of_its_own_switches_the_defaults_off() -> None:
    """87521: the pods of a Service are spread over zones and nodes, until the pod says anything about spreading."""
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": "default"}}
    service["spec"] = {"selector": {"app": "web"}}
    cluster = [node("a1", "a"), node("b1", "b"), service, *each_on("a1", app="web")]
    assert ask(pending(app="web"), *cluster)["bestNodes"] == ["b1"]
    other = spread(ZONE, "ScheduleAnyway", labelSelector={"matchLabels": {"app": "nobody"}})
    scores = ask(pending(app="web").spec(topologySpreadConstraints=[other]), *cluster)["scores"]
    assert scores["a1"]["PodTopologySpread"] == scores["b1"]["PodTopologySpread"]
