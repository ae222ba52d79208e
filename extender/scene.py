"""The scene: the table that a request is judged over, and which of its rows are meant.

The nodes of a request are rows of the cluster's table, so the plugins judge exactly these rows. Two things ask for a copy of the
table instead, in which

* nodes that the caller sent in full, and that look otherwise here, are as the caller sees them, with the pods known here;
* a pod that this process already counts on a node (bound by an earlier call, say, whose answer got lost) is taken off it, so
  that it does not compete with itself.

Whose content is newer cannot be told, resource versions being opaque; the caller asks about its own nodes, so they count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec

from extender import quantities
from extender.schemas import SentNodes
from scheduler.apis.objects import Node
from scheduler.apis.quantity import QuantityError
from scheduler.framework.columns import Rows
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.scheduling.world import State


class Scene(NamedTuple):
    """What to judge.

    Attributes:
        nodes: the whole table.
        rows: intp[...]: the nodes asked about that are known, in the order asked.
        unreadable: nodes that were sent and cannot be read, each with the reason.
    """

    nodes: Nodes
    rows: Rows
    unreadable: Mapping[str, str]


def set_scene(state: State, pod: PodInfo, names: Collection[str], sent: Sequence[Node] = ()) -> Scene:
    """The scene for a pod and the nodes named; ``sent`` are those of them that look otherwise here."""
    known = state.nodes
    row = _row_of_pod(state, pod)
    if row is None and not sent:
        return Scene(known, known.rows_of(names), {})
    table = NodeTable.copy_of(known)
    if row is not None:
        table.remove_pod(row, pod)
    unreadable = {}
    for node in sent:
        try:
            table.set_node(node)
        except QuantityError as error:
            unreadable[node.metadata.name] = f"node cannot be read: {quantities.unreadable(node) or error}"
    return Scene(table, table.rows_of(name for name in names if name not in unreadable), unreadable)


def unfamiliar(nodes: Nodes, sent: SentNodes) -> dict[str, Node | None]:
    """The nodes that are not in the table in the version that was sent, by name, as the table has them: None: not at all."""
    objects = nodes.objects
    found: dict[str, Node | None] = {}
    for name, version in sent.versions.items():
        row = nodes.row_of(name)
        known = None if row is None else objects[row]
        if known is None or known.metadata.resource_version != version:
            found[name] = known
    return found


def changed(known: Mapping[str, Node | None], sent: Iterable[Node]) -> list[Node]:
    """Those of the nodes that look otherwise than they are known, versions apart: heartbeats change these all the time."""
    return [node for node in sent if not _same(known[node.metadata.name], node)]


def _same(known: Node | None, node: Node) -> bool:
    if known is None:
        return False
    metadata = msgspec.structs.replace(node.metadata, resource_version=known.metadata.resource_version)
    return known == msgspec.structs.replace(node, metadata=metadata)


def _row_of_pod(state: State, pod: PodInfo) -> int | None:
    placed = state.get_pod(pod.uid) if pod.uid else None
    return None if placed is None else state.nodes.row_of(placed.spec.node_name)
