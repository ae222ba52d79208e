"""NodeTable: the cluster's own table, where nodes come, change and go.

One owner changes it, under its lock: the cluster state. Everybody else sees ``Nodes``.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, TypeVar

import numpy as np

from scheduler.apis.objects import Node
from scheduler.framework.columns import GrowableColumns
from scheduler.framework.facts import ABSENT, Facts, ImageState
from scheduler.framework.interning import Interner
from scheduler.framework.nodes import ALLOCATABLE, LABEL, Nodes
from scheduler.framework.pod_index import PodIndex, PodKeys
from scheduler.framework.pods import PodInfo
from scheduler.framework.resource_names import read_amount

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")

_SLACK = 64


class NodeTable(Nodes):
    """A growable table of nodes."""

    __slots__ = ("_allocatable_names", "_growable", "_indexes")

    def __init__(self) -> None:
        self._growable = GrowableColumns()
        super().__init__(self._growable, Facts())
        self._names: list[str] = []
        self._objects: list[Node] = []
        self._pods: list[tuple[PodInfo, ...]] = []
        self._rows_by_name: dict[str, int] = {}
        self._allocatable_names: set[str] = set()
        self._indexes: dict[Any, PodIndex[Any]] = {}

    @classmethod
    def copy_of(cls, nodes: Nodes) -> NodeTable:
        """A table of its own with the same nodes and pods, for a what-if that adds or changes nodes: ``nodes`` stays as it is.

        The numbers behind facts are shared with ``nodes``, so use the copy under the same lock, and drop it.
        """
        columns, facts = nodes.copied_columns()
        table = cls()
        table._columns = table._growable = columns
        table._facts = facts
        table._names = list(nodes.names)
        table._objects = list(nodes.objects)
        table._pods = [nodes.pods(row) for row in range(len(nodes))]
        table._rows_by_name = {name: row for row, name in enumerate(table._names)}
        table._allocatable_names = {
            name.removeprefix(ALLOCATABLE) for name in columns.names() if name.startswith(ALLOCATABLE)
        }
        return table

    def set_node(self, node: Node) -> int:
        """Add a node, or replace the one of the same name; its pods stay. The row is returned.

        Raises:
            scheduler.apis.quantity.QuantityError: an allocatable quantity cannot be read; nothing was changed.
        """
        allocatable = {name: read_amount(name, amount) for name, amount in node.status.allocatable.items()}
        name = node.metadata.name
        row = self._rows_by_name.get(name)
        if row is None:
            row = self._append(name, node)
        else:
            self._forget_facts(row)
            self._objects[row] = node
        self._write_allocatable(row, allocatable)
        self._write_facts(row, node)
        return row

    def remove_node(self, name: str) -> tuple[PodInfo, ...]:
        """Remove a node; the pods that were on it are returned. The last row moves into the gap.

        Raises:
            KeyError: there is no such node.
        """
        row = self._rows_by_name.pop(name)
        self._forget_facts(row)
        pods = self._pods[row]
        last = len(self) - 1
        for index in self._indexes.values():
            for pod in pods:
                index.remove(row, pod)
            if row != last:
                index.move(last, row, self._pods[last])
        _move_last_to(row, self._names)
        _move_last_to(row, self._objects)
        _move_last_to(row, self._pods)
        self._growable.drop(row)
        if row != last:
            self._rows_by_name[self._names[row]] = row
        return pods

    def replace_pod(self, row: int, pod: PodInfo) -> None:
        """Put a newer state of a pod in the place of the one that is there; it requests the same resources and ports.

        Raises:
            KeyError: the pod is not on that node.
        """
        pods = self._pods[row]
        place = self._place_of(row, pod)
        self._pods[row] = (*pods[:place], pod, *pods[place + 1 :])
        for index in self._indexes.values():
            index.replace(row, pods[place], pod)

    def add_pod(self, row: int, pod: PodInfo) -> None:
        """Put a pod on a node."""
        super().add_pod(row, pod)
        for index in self._indexes.values():
            index.add(row, pod)

    def remove_pod(self, row: int, pod: PodInfo) -> PodInfo:
        """Take a pod off a node; it is known by its uid, and returned as it was there.

        Raises:
            KeyError: the pod is not on that node.
        """
        known = super().remove_pod(row, pod)
        for index in self._indexes.values():
            index.remove(row, known)
        return known

    def pods_by(self, keys_of: PodKeys[K]) -> PodIndex[K]:
        """See ``Nodes``."""
        index = self._indexes.get(keys_of)
        if index is None:
            index = self._indexes[keys_of] = PodIndex(keys_of)
            for row, pods in enumerate(self._pods):
                for pod in pods:
                    index.add(row, pod)
        return index

    def compact(self) -> None:
        """Forget labels and resources that no node has any more, and sets and values once they outnumber the nodes that could have them."""
        for name in self._growable.drop_blank():
            if name.startswith(ALLOCATABLE):
                self._allocatable_names.discard(name.removeprefix(ALLOCATABLE))
            elif name.startswith(LABEL):
                self._facts.labels.pop(name.removeprefix(LABEL), None)
        limit = 2 * len(self) + _SLACK
        facts = self._facts
        if len(facts.taint_sets) > limit:
            facts.taint_sets = _compacted(self._growable, "taint_set", facts.taint_sets)
        if len(facts.image_sets) > limit:
            facts.image_sets = _compacted(self._growable, "image_set", facts.image_sets)
        if len(facts.port_sets) > limit:
            facts.port_sets = _compacted(self._growable, "port_set", facts.port_sets)
        if len(facts.features) > limit:
            facts.features = _compacted(self._growable, "features", facts.features)
        for key, values in facts.labels.items():
            if len(values) > limit:
                facts.labels[key] = _compacted(self._growable, LABEL + key, values)

    def _append(self, name: str, node: Node) -> int:
        row = self._growable.append()
        self._names.append(name)
        self._objects.append(node)
        self._pods.append(())
        self._rows_by_name[name] = row
        return row

    def _write_allocatable(self, row: int, allocatable: dict[str, int]) -> None:
        self._allocatable_names.update(allocatable)
        for resource in self._allocatable_names:
            self._growable.own(ALLOCATABLE + resource)[row] = allocatable.get(resource, 0)

    def _write_facts(self, row: int, node: Node) -> None:
        facts, columns = self._facts, self._growable
        columns.own("unschedulable", np.bool_)[row] = node.spec.unschedulable
        columns.own("taint_set", np.int32)[row] = facts.taint_sets.id_of(node.spec.taints)
        columns.own("features", np.int32)[row] = facts.features.id_of(node.status.declared_features)
        for key, value in node.metadata.labels.items():
            columns.own(LABEL + key, np.int32)[row] = facts.label_values(key).id_of(value)
        sizes = {name: image.size_bytes for image in reversed(node.status.images) for name in image.names}
        columns.own("image_set", np.int32)[row] = facts.image_sets.id_of(frozenset(sizes))
        for name, size in sizes.items():
            known = facts.images.get(name)
            facts.images[name] = (
                ImageState(size, 1) if known is None else known._replace(nodes=known.nodes + 1)
            )

    def _forget_facts(self, row: int) -> None:
        node = self._objects[row]
        for key in node.metadata.labels:
            self._growable.own(LABEL + key, np.int32)[row] = ABSENT
        for name in self.image_sets[self.image_set_ids[row]]:
            known = self._facts.images[name]
            if known.nodes == 1:
                del self._facts.images[name]
            else:
                self._facts.images[name] = known._replace(nodes=known.nodes - 1)


def _move_last_to(row: int, items: list[T]) -> None:
    last = items.pop()
    if row < len(items):
        items[row] = last


def _compacted(columns: GrowableColumns, name: str, known: Interner[K]) -> Interner[K]:
    """The same values, renumbered by what the column still uses; the empty value keeps number 0."""
    kept: Interner[K] = Interner(known.values[0])
    column = columns.own(name, np.int32)
    column[:] = [kept.id_of(known.values[number]) for number in column.tolist()]
    return kept
