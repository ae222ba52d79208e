"""NodeInfo: one row of the table, for code that thinks one node at a time.

A view, not a copy: it reads the columns when asked. Per-node plugins get these; see ``per_node``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scheduler.apis.objects import Node, Taint
from scheduler.framework.pods import PodInfo

if TYPE_CHECKING:
    from scheduler.framework.nodes import Nodes


class NodeInfo:
    """A node, its pods and its resources."""

    __slots__ = ("_nodes", "row")

    def __init__(self, nodes: Nodes, row: int) -> None:
        self._nodes = nodes
        self.row = row

    @property
    def name(self) -> str:
        """The node's name."""
        return self._nodes.names[self.row]

    @property
    def node(self) -> Node:
        """The node as the API server has it."""
        return self._nodes.objects[self.row]

    @property
    def labels(self) -> Mapping[str, str]:
        """The node's labels."""
        return self.node.metadata.labels

    @property
    def taints(self) -> tuple[Taint, ...]:
        """The node's taints."""
        return self.node.spec.taints

    @property
    def pods(self) -> tuple[PodInfo, ...]:
        """The pods on the node, assumed ones included."""
        return self._nodes.pods(self.row)

    def allocatable(self, resource: str) -> int:
        """What the node has to give: millicores of cpu, bytes of memory and storage, units of others."""
        return int(self._nodes.allocatable(resource)[self.row])

    def requested(self, resource: str) -> int:
        """What its pods request, in the units of ``allocatable``."""
        return int(self._nodes.requested(resource)[self.row])

    def free(self, resource: str) -> int:
        """What is left, in the units of ``allocatable``; negative on an overcommitted node."""
        return self.allocatable(resource) - self.requested(resource)

    def __repr__(self) -> str:
        return f"NodeInfo({self.name})"
