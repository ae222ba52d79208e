"""Runs one plugin over a few nodes, as the runtime would."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Any

from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.evictions import Evictions
from scheduler.framework.live import Live
from scheduler.framework.node_table import NodeTable
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.plugins import IN_TREE
from tests.builders import NodeBuilder, PodBuilder


@dataclass
class Binder:
    """Remembers what was bound, or fails."""

    failure: Exception | None = None
    bound: list[tuple[str, str, str, str]] = field(default_factory=list)

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Bind, or fail."""
        if self.failure is not None:
            raise self.failure
        self.bound.append((namespace, name, uid, node))


@dataclass
class Handle:
    """What plugins may use."""

    features: Features = field(default_factory=Features.default)
    port: Any = field(default_factory=Binder)
    waiting_pods: Any = None
    catalog: Catalog = field(default_factory=Catalog)
    evictions: Evictions = field(default_factory=Evictions)
    rng: Random = field(default_factory=lambda: Random(0))
    live: Live = field(default_factory=Live)


def make_plugin(name: str, args: Any = None, handle: Handle | None = None) -> Any:
    """The in-tree plugin of that name."""
    return IN_TREE[name](args, handle or Handle())


def table(*nodes: NodeBuilder) -> NodeTable:
    """A table of these nodes."""
    made = NodeTable()
    for node in nodes:
        made.set_node(node.obj())
    return made


def rejections(plugin: Any, pod: PodBuilder, nodes: NodeTable) -> dict[str, Status]:
    """The nodes that the plugin rejects, with their statuses; empty when it skips the pod."""
    cycle = Cycle(pod.info())
    answer = plugin.pre_filter(cycle, nodes) if hasattr(plugin, "pre_filter") else None
    if isinstance(answer, Status) and answer.code is Code.SKIP:
        return {}
    found = plugin.filter(cycle, nodes)
    statuses = {name: SUCCESS if found is None else found.status(row) for row, name in enumerate(nodes.names)}
    return {name: status for name, status in statuses.items() if not status.ok}


def scores(plugin: Any, pod: PodBuilder, nodes: NodeTable) -> dict[str, int] | None:
    """The normalized scores; None when the plugin skips the pod."""
    cycle = Cycle(pod.info())
    answer = plugin.pre_score(cycle, nodes) if hasattr(plugin, "pre_score") else None
    if isinstance(answer, Status) and answer.code is Code.SKIP:
        return None
    assert answer is None
    column = plugin.score(cycle, nodes)
    if hasattr(plugin, "normalize"):
        column = plugin.normalize(cycle, column)
    return dict(zip(nodes.names, column.tolist(), strict=True))
