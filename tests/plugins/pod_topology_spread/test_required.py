"""DoNotSchedule: which nodes are rejected, and why."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.status import Code
from tests.plugins.harness import rejections, table
from tests.plugins.pod_topology_spread.world import (
    HOSTNAME,
    SKEWED,
    UNLABELLED,
    ZONE,
    cluster,
    fitting,
    hard,
    host,
    make_spread,
    put,
    soft,
    spread,
    web,
)

ZONES = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
UNEVEN = {"a1": 2, "a2": 1, "b2": 3}


@pytest.mark.parametrize(
    ("constraints", "counts", "expected"),
    [
        pytest.param([hard()], {}, "a1 a2 b1 b2", id="nothing runs yet"),
        pytest.param([hard()], {"a1": 1}, "b1 b2", id="the other zone first"),
        pytest.param([hard()], UNEVEN, "a1 a2 b1 b2", id="zones 3/3"),
        pytest.param([hard(HOSTNAME)], UNEVEN, "b1", id="hosts 2/1/0/3"),
        pytest.param([hard(HOSTNAME, 2)], UNEVEN, "a2 b1", id="hosts 2/1/0/3 with skew 2"),
        pytest.param([hard(), hard(HOSTNAME)], UNEVEN, "b1", id="both must hold"),
        pytest.param([hard(), hard(HOSTNAME)], {**UNEVEN, "b2": 4}, "", id="and may exclude each other"),
        pytest.param([hard(skew=2), hard(skew=1)], {"a1": 1}, "b1 b2", id="the same key twice"),
        pytest.param([hard(selector=None)], {"a1": 9}, "a1 a2 b1 b2", id="no selector selects nothing"),
        pytest.param(
            [hard(selector={})], {"a1": 9}, "a1 a2 b1 b2", id="a selector of everything counts none"
        ),
        pytest.param([hard(skew=0, selector={})], {}, "", id="but it matches the pod itself"),
        pytest.param(
            [hard(minDomains=3)], {"a1": 1, "b1": 1}, "", id="too few domains: the emptiest has none"
        ),
        pytest.param([hard(minDomains=2)], {"a1": 1, "b1": 1}, "a1 a2 b1 b2", id="just enough domains"),
        pytest.param([hard(minDomains=3, skew=2)], {"a1": 1, "b1": 2}, "a1 a2", id="too few, with skew 2"),
        pytest.param([soft()], {"a1": 9}, "a1 a2 b1 b2", id="soft constraints reject nothing"),
    ],
)
def test_nodes_that_are_not_too_far_ahead(
    constraints: list[Any], counts: dict[str, int], expected: str
) -> None:
    assert fitting(spread(*constraints), cluster(ZONES, counts)) == expected


def test_a_pod_that_does_not_match_itself_adds_nothing() -> None:
    pod = spread(hard(HOSTNAME), pod=web().label("app", "other"))
    assert fitting(pod, cluster(ZONES, UNEVEN)) == "a2 b1"


@pytest.mark.parametrize(
    "stranger",
    [
        pytest.param(web("x", "elsewhere"), id="another namespace"),
        pytest.param(web("x").metadata(deletionTimestamp="2026-01-01T00:00:00Z"), id="being deleted"),
        pytest.param(web("x").label("app", "db"), id="other labels"),
    ],
)
def test_pods_that_do_not_count(stranger: Any) -> None:
    nodes = cluster(ZONES, {})
    put(nodes, "a1", stranger)
    assert fitting(spread(hard()), nodes) == "a1 a2 b1 b2"


def test_a_node_without_the_key_is_rejected_for_good_and_its_pods_do_not_count() -> None:
    nodes = table(host("a1", "a"), host("b1", "b"), host("c1"))
    put(nodes, "c1", web("x"), web("y"))
    put(nodes, "a1", web("z"))
    found = rejections(make_spread(), spread(hard(), hard(HOSTNAME, 5)), nodes)
    assert {name: (status.code, status.reasons) for name, status in found.items()} == {
        "a1": (Code.UNSCHEDULABLE, (SKEWED,)),
        "c1": (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (UNLABELLED,)),
    }


def test_a_node_that_lacks_one_key_is_no_domain_of_the_other() -> None:
    nodes = table(host("a1", "a"), host("b1", "b"), host("c1"))
    put(nodes, "a1", web("x"))
    put(nodes, "b1", web("y"))
    assert fitting(spread(hard(HOSTNAME), hard(skew=9)), nodes) == "a1 b1"
    assert fitting(spread(hard(HOSTNAME)), nodes) == "c1"


def test_the_first_constraint_that_fails_gives_the_reason() -> None:
    nodes = table(host("a1", "a"), host("b1", "b"), host("c1"))
    put(nodes, "c1", web("x"))
    # The pods of c1 do not count under two constraints, so the host constraint is met there and the zone is what it lacks.
    found = rejections(make_spread(), spread(hard(HOSTNAME, 0), hard()), nodes)
    assert {name: status.reasons for name, status in found.items()} == {
        "a1": (SKEWED,),
        "b1": (SKEWED,),
        "c1": (SKEWED,),
    }
    found = rejections(make_spread(), spread(hard(), hard(HOSTNAME, 0)), nodes)
    assert found["c1"].reasons == (UNLABELLED,)


def test_an_empty_value_is_a_domain_like_any_other() -> None:
    nodes = table(host("a1", "a"), host("e1", ""), host("n1"))
    put(nodes, "a1", web("x"))
    assert fitting(spread(hard()), nodes) == "e1"


@pytest.mark.parametrize(
    ("policy", "fits"),
    [
        pytest.param(None, True, id="honored by default"),
        pytest.param("Honor", True, id="honored"),
        pytest.param("Ignore", False, id="ignored"),
        pytest.param("Whatever", False, id="what is not Honor ignores"),
    ],
)
@pytest.mark.parametrize("by", ["selector", "affinity"])
def test_nodes_that_the_pod_may_not_use_are_no_domains(policy: str | None, fits: bool, by: str) -> None:
    nodes = cluster({"a1": "a", "x1": "x"}, {"a1": 1})
    pod = spread(hard(nodeAffinityPolicy=policy))
    if by == "selector":
        pod.node_selector({ZONE: "a"})
    else:
        pod.node_affinity({"matchExpressions": [{"key": ZONE, "operator": "NotIn", "values": ["x"]}]})
    assert ("a1" in fitting(pod, nodes)) is fits


@pytest.mark.parametrize(
    ("policy", "tolerates", "fits"),
    [
        pytest.param(None, False, False, id="ignored by default"),
        pytest.param("Ignore", False, False, id="ignored"),
        pytest.param("Honor", False, True, id="honored"),
        pytest.param("Honor", True, False, id="honored but tolerated"),
    ],
)
def test_nodes_that_repel_the_pod_are_no_domains(policy: str | None, tolerates: bool, fits: bool) -> None:
    nodes = table(host("a1", "a"), host("t1", "t").taint("gpu", "yes"))
    put(nodes, "a1", web("x"))
    pod = spread(hard(nodeTaintsPolicy=policy))
    if tolerates:
        pod.toleration("gpu", "yes", "NoSchedule")
    assert ("a1" in fitting(pod, nodes)) is fits


def test_a_preference_of_taint_does_not_keep_a_node_from_counting() -> None:
    nodes = table(host("a1", "a"), host("t1", "t").taint("gpu", "yes", "PreferNoSchedule"))
    put(nodes, "a1", web("x"))
    assert fitting(spread(hard(HOSTNAME, nodeTaintsPolicy="Honor")), nodes) == "t1"


@pytest.mark.parametrize(
    ("min_domains", "expected"),
    [
        pytest.param(None, "", id="one is wanted: the emptiest has none"),
        pytest.param(0, "a1", id="none is wanted: the emptiest has as many as can be"),
    ],
)
def test_without_any_domain(min_domains: int | None, expected: str) -> None:
    """No node counts, since the affinity allows none; a node is then held against nothing, or against a huge number."""
    nodes = cluster({"a1": "a"}, {"a1": 1})
    pod = spread(hard(skew=0, minDomains=min_domains)).node_selector({"pool": "none"})
    assert fitting(pod, nodes) == expected


def test_pods_with_no_hard_constraint_are_skipped() -> None:
    for pod in (web(), spread(soft())):
        cycle = Cycle(pod.info())
        assert make_spread().pre_filter(cycle, cluster(ZONES, {})).code is Code.SKIP


def test_without_pre_filter_every_node_is_an_error() -> None:
    nodes = cluster({"a1": "a"}, {})
    found = make_spread().filter(Cycle(spread(hard()).info()), nodes).status(0)
    assert found.code is Code.ERROR
    assert found.reasons == ('reading "PreFilterPodTopologySpread" from cycleState: not found',)


def test_running_pods_are_seen_as_they_come_and_go() -> None:
    nodes, plugin = cluster(ZONES, {}), make_spread()
    seen = [fitting(spread(hard()), nodes, plugin)]
    for name in ("a1", "b2"):
        put(nodes, name, web(f"on-{name}"))
        seen.append(fitting(spread(hard()), nodes, plugin))
    nodes.remove_node("a1")
    seen.append(fitting(spread(hard()), nodes, plugin))
    assert seen == ["a1 a2 b1 b2", "b1 b2", "a1 a2 b1 b2", "a2"]
