"""The two laws of the columnar contract, for every in-tree plugin, over random clusters and pods.

* Row law: judging some rows gives what judging all rows gives for them.
* Adapter law: the columnar plugin answers what a plugin written for one node at a time answers.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.config import args
from scheduler.features import Features
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.per_node import columnar
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Column, Rejections
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.plugins import IN_TREE
from tests.laws import interpod_reference, reference, spread_reference
from tests.laws.strategies import CLUSTERS, LAW, NAMESPACES, PODS, catalog

SCORED = (("cpu", 3), ("memory", 1), ("ephemeral-storage", 2), ("example.com/gpu", 5), ("plain", 1))
SHAPE = ((0, 10), (40, 0), (90, 7))
BALANCED = ("cpu", "memory", "ephemeral-storage", "example.com/gpu")


def _strategy(kind: str) -> args.NodeResourcesFitArgs:
    points = tuple(args.UtilizationShapePoint(utilization, score) for utilization, score in SHAPE)
    resources = tuple(args.ResourceSpec(name, weight) for name, weight in SCORED)
    return args.NodeResourcesFitArgs(
        scoring_strategy=args.ScoringStrategy(kind, resources, args.RequestedToCapacityRatioParam(points))
    )


_BALANCE = args.NodeResourcesBalancedAllocationArgs(tuple(args.ResourceSpec(name, 1) for name in BALANCED))
_SCALED = tuple((utilization, score * 10) for utilization, score in SHAPE)

PLUGINS: dict[str, tuple[str, Any, Callable[[NodeTable], Any]]] = {
    "NodeUnschedulable": ("NodeUnschedulable", None, lambda _: reference.NodeUnschedulable()),
    "NodeName": ("NodeName", None, lambda _: reference.NodeName()),
    "TaintToleration": ("TaintToleration", None, lambda _: reference.TaintToleration()),
    "NodeAffinity": ("NodeAffinity", args.NodeAffinityArgs(), lambda _: reference.NodeAffinity()),
    "NodePorts": ("NodePorts", None, lambda _: reference.NodePorts()),
    "LeastAllocated": (
        "NodeResourcesFit",
        _strategy("LeastAllocated"),
        lambda _: reference.NodeResourcesFit(SCORED, reference.least_allocated),
    ),
    "MostAllocated": (
        "NodeResourcesFit",
        _strategy("MostAllocated"),
        lambda _: reference.NodeResourcesFit(SCORED, reference.most_allocated),
    ),
    "RequestedToCapacityRatio": (
        "NodeResourcesFit",
        _strategy("RequestedToCapacityRatio"),
        lambda _: reference.NodeResourcesFit(SCORED, reference.by_shape(_SCALED)),
    ),
    "BalancedAllocation": (
        "NodeResourcesBalancedAllocation",
        _BALANCE,
        lambda _: reference.BalancedAllocation(BALANCED),
    ),
    "ImageLocality": ("ImageLocality", None, reference.ImageLocality),
    "NodeDeclaredFeatures": ("NodeDeclaredFeatures", None, lambda _: reference.NodeDeclaredFeatures()),
    "InterPodAffinity": (
        "InterPodAffinity",
        args.InterPodAffinityArgs(hard_pod_affinity_weight=3),
        lambda cluster: interpod_reference.InterPodAffinity(cluster, NAMESPACES, 3),
    ),
    "PodTopologySpread": (
        "PodTopologySpread",
        args.PodTopologySpreadArgs(),
        spread_reference.PodTopologySpread,
    ),
}

every_plugin = pytest.mark.parametrize("which", PLUGINS)


def _plugin(which: str) -> Any:
    name, arguments, _ = PLUGINS[which]
    handle: Any = SimpleNamespace(features=Features.default(), port=None, catalog=catalog())
    return IN_TREE[name](arguments, handle)


def _filter(plugin: Any, pod: PodInfo, whole: Nodes, rows: Nodes) -> list[Status] | None:
    """The status of each row; None when the plugin has no filter or skips it."""
    cycle = Cycle(pod)
    if not hasattr(plugin, "filter") or _skips(plugin, "pre_filter", cycle, whole):
        return None
    found: Rejections | None = plugin.filter(cycle, rows)
    return [SUCCESS if found is None else found.status(row) for row in range(len(rows))]


def _score(plugin: Any, pod: PodInfo, whole: Nodes, rows: Nodes) -> list[int] | None:
    """The score of each row; None when the plugin has no score or skips it."""
    cycle = Cycle(pod)
    if not hasattr(plugin, "score") or _skips(plugin, "pre_score", cycle, whole):
        return None
    column: Column = plugin.score(cycle, rows)
    assert column.dtype == np.int64
    return [int(score) for score in column]


def _skips(plugin: Any, point: str, cycle: Cycle, nodes: Nodes) -> bool:
    answer = getattr(plugin, point)(cycle, nodes) if hasattr(plugin, point) else None
    return isinstance(answer, Status) and answer.code is not Code.SUCCESS


@every_plugin
@LAW
@given(cluster=CLUSTERS, pod=PODS, data=st.data())
def test_rows_are_judged_alike_in_any_company(
    which: str, cluster: NodeTable, pod: PodInfo, data: st.DataObject
) -> None:
    plugin = _plugin(which)
    order = data.draw(st.permutations(range(len(cluster))))
    rows = order[: data.draw(st.integers(1, len(order)))]
    some = cluster.take(np.array(rows, np.intp))
    statuses, scores = _filter(plugin, pod, cluster, cluster), _score(plugin, pod, cluster, cluster)
    if statuses is not None:
        assert _filter(plugin, pod, cluster, some) == [statuses[row] for row in rows]
    if scores is not None:
        assert _score(plugin, pod, cluster, some) == [scores[row] for row in rows]


@every_plugin
@LAW
@given(cluster=CLUSTERS, pod=PODS)
def test_columns_say_what_single_nodes_say(which: str, cluster: NodeTable, pod: PodInfo) -> None:
    plugin, twin = _plugin(which), columnar(PLUGINS[which][2](cluster))
    statuses = _filter(plugin, pod, cluster, cluster)
    if statuses is not None:
        assert statuses == _filter(twin, pod, cluster, cluster)
    scores = _score(plugin, pod, cluster, cluster)
    if scores is not None:
        assert scores == _score(twin, pod, cluster, cluster)


@pytest.mark.parametrize("which", ["TaintToleration", "NodeAffinity"])
@LAW
@given(cluster=CLUSTERS, pod=PODS)
def test_normalized_scores_end_between_0_and_100(which: str, cluster: NodeTable, pod: PodInfo) -> None:
    plugin = _plugin(which)
    scores = _score(plugin, pod, cluster, cluster)
    if scores is not None:
        final = plugin.normalize(Cycle(pod), np.array(scores))
        assert ((final >= 0) & (final <= 100)).all()
