"""Ledger: what every node has attached, as columns that are brought up to date by what changed.

A cluster with a volume per pod has tens of thousands of volumes, of which one comes or goes between two cycles. So the ledger
keeps an entry per row, with what it was made from, and makes it again only when that has changed::

    the row's pods       are another tuple than before     (Nodes.pods_by_row)
    the row's node       has another name than before      (rows move when nodes are removed)
    an object it read    is among the latest changes       (Collection.changed_since)
                                   |
                                   v
    entry of the row ──> columns   limited/DRIVER   room/DRIVER   csi_node   installed/DRIVER
                     └─> rows by volume, rows by fault, rows by object read

A selection of rows reads the same columns; rows whose pods are not those of the entry (what-ifs) are counted on the spot.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import compress
from operator import is_not, ne
from typing import Any, Final, TypeVar

import numpy as np

from scheduler.apis.objects import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.framework.catalog import Catalog
from scheduler.framework.columns import AnyColumn, GrowableColumns, Rows
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.plugins.node_volume_limits.attachable import AttachedVolume, Read
from scheduler.plugins.node_volume_limits.node_volumes import NOTHING, NodeVolumes, volumes_of_node

K = TypeVar("K", bound=Hashable)

_KINDS: Final = (CSINode, VolumeAttachment, PersistentVolumeClaim, PersistentVolume, StorageClass)
_CSI_NODE: Final = "csi_node"
_INSTALLED: Final = "installed/"
_LIMITED: Final = "limited/"
_ROOM: Final = "room/"
_UNSEEN: Final[Any] = object()
"""In the place of a row's pods: its entry has to be made again."""


class Ledger:
    """The entries of all rows of the cluster's table, and columns made of them."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._columns = GrowableColumns()
        self._versions = dict.fromkeys(_KINDS, 0)
        self._names: list[str] = []
        self._pods: list[tuple[PodInfo, ...]] = []
        self._entries: list[NodeVolumes] = []
        self._holders: dict[AttachedVolume, set[int]] = {}
        self._readers: dict[Read, set[int]] = {}
        self._faulty: dict[str, set[int]] = {}

    def follow(self, whole: Nodes) -> None:
        """Bring the entries up to date with the cluster's table and with the catalog."""
        self._resize(len(whole))
        self._follow_catalog(whole)
        names, pods = whole.names, whole.pods_by_row
        rows = range(len(names))
        stale = list(compress(rows, map(is_not, pods, self._pods)))
        if names != self._names:
            stale = sorted({*stale, *compress(rows, map(ne, names, self._names))})
        for row in stale:
            self._names[row], self._pods[row] = names[row], pods[row]
            self._enter(row, volumes_of_node(names[row], pods[row], self._catalog))

    def usage(self, nodes: Nodes) -> Usage:
        """What the rows of a table or selection have attached. The ledger must be up to date with the whole table."""
        if nodes.whole is nodes:
            return Usage(self, None, {})
        rows = nodes.whole_rows
        known = [self._pods[row] for row in rows.tolist()]
        changed = compress(range(len(known)), map(is_not, nodes.pods_by_row, known))
        return Usage(
            self,
            rows,
            {
                place: volumes_of_node(nodes.names[place], nodes.pods(place), self._catalog)
                for place in changed
            },
        )

    # For Usage

    def column(self, name: str, dtype: type[Any]) -> AnyColumn:
        """dtype[rows of the whole table]: a column, to read."""
        return self._columns.get(name, dtype)

    def marked(self, rows: Iterable[int]) -> BoolColumn:
        """bool[rows of the whole table]: true in these rows."""
        marks = np.zeros(self._columns.rows, np.bool_)
        marks[list(rows)] = True
        return marks

    def holders(self, volume: AttachedVolume) -> Iterable[int]:
        """The rows on which a pod has the volume."""
        return self._holders.get(volume, ())

    def faults(self) -> Iterable[tuple[str, Iterable[int]]]:
        """Why the volumes of some rows cannot be told, and which rows."""
        return self._faulty.items()

    def _resize(self, rows: int) -> None:
        while len(self._pods) < rows:
            self._columns.append()
            self._names.append("")
            self._pods.append(_UNSEEN)
            self._entries.append(NOTHING)
        for row in range(len(self._pods) - 1, rows - 1, -1):
            self._enter(row, NOTHING)
            self._columns.drop(row)
            for entries in (self._names, self._pods, self._entries):
                entries.pop()

    def _follow_catalog(self, whole: Nodes) -> None:
        for kind in _KINDS:
            collection = self._catalog.of(kind)
            if collection.version == self._versions[kind]:
                continue
            changed = collection.changed_since(self._versions[kind])
            self._versions[kind] = collection.version
            if changed is None:
                self._pods = [_UNSEEN] * len(self._pods)
                continue
            for namespace, name in changed:
                for row in self._rows_reading(kind, namespace, name, whole):
                    self._pods[row] = _UNSEEN

    def _rows_reading(self, kind: type[Any], namespace: str, name: str, whole: Nodes) -> set[int]:
        """The rows whose entries may depend on an object that has changed: which they read, or will read."""
        rows = set(self._readers.get((kind, namespace, name), ()))
        node = name if kind is CSINode else None
        if kind is VolumeAttachment:
            attachment = self._catalog.volume_attachments.get(name)
            node = None if attachment is None else attachment.spec.node_name
        row = None if node is None else whole.row_of(node)
        return rows if row is None else rows | {row}

    def _enter(self, row: int, entry: NodeVolumes) -> None:
        """Put a row's new entry in the place of the old."""
        old = self._entries[row]
        if entry is old:
            return
        self._write(row, old, present=False)
        self._write(row, entry, present=True)
        _move(self._holders, row, old.volumes, entry.volumes)
        _move(self._readers, row, old.reads, entry.reads)
        _move(self._faulty, row, _some(old.fault), _some(entry.fault))
        self._entries[row] = entry

    def _write(self, row: int, entry: NodeVolumes, *, present: bool) -> None:
        columns = self._columns
        columns.own(_CSI_NODE, np.bool_)[row] = present and entry.csi_node
        for driver in entry.drivers:
            columns.own(_INSTALLED + driver, np.bool_)[row] = present
            room = entry.room(driver)
            if room is not None:
                columns.own(_LIMITED + driver, np.bool_)[row] = present
                columns.own(_ROOM + driver)[row] = room if present else 0


class Usage:
    """What the rows of a table or selection have attached.

    Args:
        ledger: the entries of the whole table.
        rows: intp[rows]: the rows of the whole table that these are; None for all of them.
        anew: entries of rows whose pods are others than in the ledger, by row here.
    """

    __slots__ = ("_anew", "_ledger", "_rows")

    def __init__(self, ledger: Ledger, rows: Rows | None, anew: dict[int, NodeVolumes]) -> None:
        self._ledger = ledger
        self._rows = rows
        self._anew = anew

    @property
    def csi_node(self) -> BoolColumn:
        """bool[rows]: whether the node has a CSINode."""
        return self._read(self._ledger.column(_CSI_NODE, np.bool_), lambda entry: entry.csi_node)

    def installed(self, driver: str) -> BoolColumn:
        """bool[rows]: whether the CSINode lists the driver."""
        column = self._ledger.column(_INSTALLED + driver, np.bool_)
        return self._read(column, lambda entry: driver in entry.drivers)

    def limited(self, driver: str) -> BoolColumn:
        """bool[rows]: whether the node limits the driver's volumes."""
        column = self._ledger.column(_LIMITED + driver, np.bool_)
        return self._read(column, lambda entry: entry.room(driver) is not None)

    def room(self, driver: str) -> Column:
        """int64[rows]: how many more volumes of the driver fit where it is limited."""
        return self._read(
            self._ledger.column(_ROOM + driver, np.int64), lambda entry: entry.room(driver) or 0
        )

    def holding(self, volume: AttachedVolume) -> BoolColumn:
        """bool[rows]: whether a pod on the node has the volume, where something is limited."""
        column = self._ledger.marked(self._ledger.holders(volume))
        return self._read(column, lambda entry: volume in entry.volumes)

    def faults(self) -> Sequence[tuple[str, BoolColumn]]:
        """(why, bool[rows]): where the volumes of the node's pods cannot be told."""
        known = {why: self._ledger.marked(rows) for why, rows in self._ledger.faults()}
        nowhere = self._ledger.marked(())
        whys = sorted({*known, *(entry.fault for entry in self._anew.values() if entry.fault is not None)})
        return [(why, self._read(known.get(why, nowhere), _has_fault(why))) for why in whys]

    def _read(self, column: AnyColumn, of_entry: Callable[[NodeVolumes], int]) -> AnyColumn:
        """A column of the whole table for the rows at hand."""
        if self._rows is None:
            return column
        taken = column[self._rows]
        for place, entry in self._anew.items():
            taken[place] = of_entry(entry)
        return taken


def _has_fault(why: str) -> Callable[[NodeVolumes], bool]:
    return lambda entry: entry.fault == why


def _some(fault: str | None) -> frozenset[str]:
    return frozenset() if fault is None else frozenset((fault,))


def _move(index: dict[K, set[int]], row: int, old: frozenset[K], new: frozenset[K]) -> None:
    """The row has no longer the old keys, but the new ones."""
    for key in old - new:
        rows = index[key]
        rows.discard(row)
        if not rows:
            del index[key]
    for key in new - old:
        index.setdefault(key, set()).add(row)
