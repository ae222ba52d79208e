"""Frameworks out of little plugins, and tables out of builders, for the tests of the framework and the algorithm."""

from __future__ import annotations

from collections.abc import Callable, Collection
from random import Random
from typing import Any

import numpy as np
from prometheus_client import CollectorRegistry

from scheduler.framework.algorithm import Rotation, decide
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import POINTS
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import Decision
from scheduler.framework.per_node import columnar
from scheduler.framework.pods import PodInfo
from scheduler.framework.profile import Plugins, implements
from scheduler.framework.rejections import Column
from scheduler.framework.runtime import Framework
from scheduler.framework.status import Status
from scheduler.metrics import Metrics
from tests.builders import NodeBuilder, PodBuilder, make_node


def framework(*plugins: Any, percentage: int = 0, **weights: int) -> Framework:
    """A profile with these plugins at every point that they implement; a score plugin weighs 1 unless said otherwise."""
    built = [columnar(plugin) for plugin in plugins]
    at = {point: [plugin for plugin in built if implements(plugin, point)] for point in POINTS}
    return Framework(
        "test",
        Plugins(
            {one.name: one for one in built}, at, {one.name: weights.get(one.name, 1) for one in at["score"]}
        ),
        Metrics(CollectorRegistry()),
        percentage_of_nodes_to_score=percentage,
    )


def table(*nodes: str | NodeBuilder) -> NodeTable:
    """The nodes, in order; a name stands for an ordinary node."""
    made = NodeTable()
    for node in nodes:
        made.set_node((make_node(node).capacity(cpu="4") if isinstance(node, str) else node).obj())
    return made


class Nominations:
    """Nominated pods by node name."""

    def __init__(self, **pods: tuple[PodInfo, ...]) -> None:
        self._pods = pods

    @property
    def nodes_with_nominations(self) -> Collection[str]:
        return self._pods.keys()

    def nominated_on(self, node: str) -> tuple[PodInfo, ...]:
        return self._pods.get(node, ())


def decision(
    fwk: Framework, nodes: Nodes, pod: PodBuilder, nominated: Nominations | None = None, seed: int = 1
) -> Decision:
    """What the algorithm decides for the pod."""
    return decide(fwk, Cycle(pod.info()), nodes, nominated or Nominations(), Random(seed), Rotation())


class Refuse:
    """A filter that refuses the nodes for which ``why`` has an answer."""

    def __init__(self, name: str, why: Callable[[NodeInfo], Status | None]) -> None:
        self.name = name
        self._why = why

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        return self._why(node)


class Prefer:
    """A score plugin that gives each node what the table says, 0 where it says nothing."""

    def __init__(self, name: str, **scores: int) -> None:
        self.name = name
        self._scores = scores

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        return np.array([self._scores.get(name, 0) for name in nodes.names], np.int64)


def refuse(name: str, *nodes: str, status: Status | None = None) -> Refuse:
    """A filter that refuses these nodes."""
    answer = status or Status.unschedulable(f"{name} says no")
    return Refuse(name, lambda node: answer if node.name in nodes else None)
