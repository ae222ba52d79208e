"""ScheduleAnyway: the fewer matching pods around, the better."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from scheduler.apis.config.args import PodTopologySpreadArgs
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.status import Code
from scheduler.plugins.pod_topology_spread.preferred import Preference, rounded
from tests.builders import PodBuilder
from tests.plugins.harness import Handle, table
from tests.plugins.pod_topology_spread.workloads import service
from tests.plugins.pod_topology_spread.world import (
    HOSTNAME,
    NO_DEFAULTS,
    ZONE,
    cluster,
    hard,
    host,
    make_spread,
    put,
    soft,
    spread,
    web,
)

ZONES = {"a1": "a", "a2": "a", "b1": "b", "b2": "b"}
UNEVEN = {"a1": 2, "a2": 1, "b2": 4}
SYSTEM = PodTopologySpreadArgs()


def rated(pod: PodBuilder, nodes: NodeTable, feasible: str = "", plugin: Any = None) -> tuple[Any, Any]:
    """The raw and the normalized scores of the feasible nodes (of all when empty)."""
    plugin, cycle = plugin or make_spread(), Cycle(pod.info())
    there = nodes.take(nodes.rows_of(feasible.split())) if feasible else nodes
    assert plugin.pre_score(cycle, there) is None
    raw = plugin.score(cycle, there)
    assert raw.dtype == np.int64
    return raw.tolist(), plugin.normalize(cycle, raw).tolist()


def test_pods_are_weighed_by_the_number_of_domains() -> None:
    raw, normalized = rated(spread(soft()), cluster(ZONES, UNEVEN))
    assert raw == [round(3 * math.log(4))] * 2 + [round(4 * math.log(4))] * 2 == [4, 4, 6, 6]
    assert normalized == [100 * (6 + 4 - 4) // 6] * 2 + [100 * 4 // 6] * 2


def test_hosts_are_weighed_by_the_number_of_nodes_left() -> None:
    raw, _ = rated(spread(soft(HOSTNAME)), cluster(ZONES, UNEVEN))
    assert raw == [round(count * math.log(6)) for count in (2, 1, 0, 4)]
    raw, _ = rated(spread(soft(HOSTNAME)), cluster(ZONES, UNEVEN), "a1 b2")
    assert raw == [round(count * math.log(4)) for count in (2, 4)]


@pytest.mark.parametrize(
    ("constraints", "counts", "feasible", "expected"),
    [
        pytest.param([soft()], {}, "", [100, 100, 100, 100], id="nothing runs yet"),
        pytest.param([soft()], UNEVEN, "a1", [100], id="a single node"),
        pytest.param([soft(HOSTNAME)], UNEVEN, "", [42, 71, 100, 0], id="hosts"),
        pytest.param([soft(HOSTNAME, 3)], UNEVEN, "", [55, 77, 100, 22], id="skew waters differences down"),
        pytest.param([soft(selector=None)], UNEVEN, "", [100, 100, 100, 100], id="no selector"),
        pytest.param([soft(selector={})], UNEVEN, "", [100, 100, 100, 100], id="everything counts none"),
        pytest.param([soft(minDomains=9)], UNEVEN, "", [100, 100, 66, 66], id="minDomains means nothing"),
        pytest.param([soft(), soft(HOSTNAME)], UNEVEN, "", [84, 100, 100, 46], id="two constraints add up"),
        pytest.param([soft(), hard()], UNEVEN, "", [100, 100, 66, 66], id="hard constraints do not count"),
        pytest.param([soft()], UNEVEN, "a2 b1", [100, 66], id="nodes that are not left count too"),
    ],
)
def test_normalized_scores(
    constraints: list[Any], counts: dict[str, int], feasible: str, expected: list[int]
) -> None:
    assert rated(spread(*constraints), cluster(ZONES, counts), feasible)[1] == expected


def test_nodes_that_lack_a_key_are_ignored() -> None:
    nodes = table(host("a1", "a"), host("a2", "a"), host("c1"))
    put(nodes, "a1", web("x"))
    put(nodes, "c1", web("y"), web("z"))
    raw, normalized = rated(spread(soft(), soft(HOSTNAME, 2)), nodes)
    zones, hosts = math.log(1 + 2), math.log(2 + 2)
    assert raw == [round(zones + hosts + 1), round(zones + 1), 0]
    assert normalized == [66, 100, 0]
    assert rated(spread(soft()), nodes, "c1") == ([0], [0])


def test_under_the_built_in_defaults_a_missing_zone_only_adds_nothing() -> None:
    nodes = table(host("a1", "a"), host("a2", "a"), host("c1"), host("c2"))
    put(nodes, "a1", web("x"))
    put(nodes, "c1", web("y"), web("z"))
    plugin = make_spread(SYSTEM, Handle(catalog=service("s", app="web")))
    zones, hosts = math.log(2 + 2), math.log(4 + 2)
    raw, _ = rated(web("incoming"), nodes, plugin=plugin)
    assert raw == [round(zones + 4 + hosts + 2), round(zones + 4 + 2), round(2 * hosts + 2), 2]


def test_under_the_built_in_defaults_an_empty_zone_is_the_zone_of_nodes_without_one() -> None:
    nodes = table(host("a1", "a"), host("e1", ""), host("c1"))
    put(nodes, "c1", web("y"), web("z"))
    plugin = make_spread(SYSTEM, Handle(catalog=service("s", app="web")))
    zones, hosts = math.log(2 + 2), math.log(3 + 2)
    raw, _ = rated(web("incoming"), nodes, plugin=plugin)
    assert raw == [6, round(2 * zones + 4 + 2), round(2 * hosts + 2)]


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        pytest.param(soft(nodeAffinityPolicy="Honor"), [0, 1], id="affinity honored"),
        pytest.param(soft(nodeAffinityPolicy="Ignore"), [2, 1], id="affinity ignored"),
        pytest.param(
            soft(HOSTNAME, nodeAffinityPolicy="Honor"), [2, 1], id="hosts count their own pods anyway"
        ),
        pytest.param(
            soft(nodeTaintsPolicy="Honor", nodeAffinityPolicy="Ignore"), [2, 0], id="taints honored"
        ),
    ],
)
def test_which_nodes_pods_count(constraint: dict[str, Any], expected: list[int]) -> None:
    nodes = table(host("a1", "a"), host("b1", "b").label("pool", "p").taint("gpu"))
    put(nodes, "a1", web("x"), web("y"))
    put(nodes, "b1", web("z"))
    raw, _ = rated(spread(constraint).node_selector({"pool": "p"}), nodes)
    assert raw == [round(count * math.log(4)) for count in expected]


@pytest.mark.parametrize(
    "stranger",
    [
        pytest.param(web("x", "elsewhere"), id="another namespace"),
        pytest.param(web("x").metadata(deletionTimestamp="2026-01-01T00:00:00Z"), id="being deleted"),
    ],
)
@pytest.mark.parametrize("key", [ZONE, HOSTNAME])
def test_pods_that_do_not_count(stranger: Any, key: str) -> None:
    nodes = cluster(ZONES, {})
    put(nodes, "a1", stranger)
    assert rated(spread(soft(key)), nodes)[0] == [0, 0, 0, 0]


def test_a_score_of_minus_one_is_taken_for_an_ignored_node() -> None:
    raw, normalized = rated(spread(soft(skew=0)), cluster({"a1": "a", "b1": "b"}, {"a1": 3}))
    assert raw == [3, -1]
    assert normalized == [-33, 0]


@pytest.mark.parametrize(
    ("score", "expected"),
    [(0.5, 1), (-0.5, -1), (1.5, 2), (2.5, 3), (0.49999999999999994, 0), (-2.4, -2), (0.0, 0)],
)
def test_halves_are_rounded_away_from_zero(score: float, expected: int) -> None:
    assert rounded(np.array([score])).tolist() == [expected]


@pytest.mark.parametrize(
    ("scores", "ignored", "expected"),
    [
        ([3, 9, 6], [False, False, False], [100, 33, 66]),
        ([0, 9, 6], [True, False, False], [0, 66, 100]),
        ([0, 0], [False, True], [100, 0]),
        ([0, 0], [True, True], [0, 0]),
        ([], [], []),
    ],
)
def test_normalizing(scores: list[int], ignored: list[bool], expected: list[int]) -> None:
    note = Preference((), True, np.array(ignored, np.bool_))
    assert note.normalized(np.array(scores, np.int64)).tolist() == expected


@pytest.mark.parametrize("pod", [web(), spread(hard())], ids=["no constraint", "hard constraints only"])
def test_pods_with_no_soft_constraint_are_skipped(pod: PodBuilder) -> None:
    answer = make_spread(NO_DEFAULTS).pre_score(Cycle(pod.info()), cluster(ZONES, {}))
    assert answer.code is Code.SKIP


def test_without_pre_score_there_is_no_score() -> None:
    with pytest.raises(ValueError, match='"PreScorePodTopologySpread" from cycleState: not found'):
        make_spread().score(Cycle(spread(soft()).info()), cluster(ZONES, {}))
