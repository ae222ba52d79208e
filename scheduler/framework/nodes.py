"""Nodes: the table that every decision reads. A row per node, a column per fact.

::

    row   name     allocatable/cpu   requested/cpu   taint set   label zone   …
    0     node-a              4000            1500           0            1
    1     node-b              4000               0           2            2      taint_sets[2] = (gpu:NoSchedule,)
    2     node-c              8000             250           0            1      label_values("zone") = [None, z-a, z-b]

Reading is free for plugins: each method below names the dtype and unit of its column. Changing is for the one owner of the
cluster state, or for whoever holds a selection (``take``), whose columns are copies: adding a nominated pod to a selection
is a what-if that leaves the cluster alone.

The row law: for every filter and score, judging ``nodes.take(rows)`` gives what judging ``nodes`` gives for these rows.
What depends on more than a row's own facts reads ``total``, ``images`` and ``whole``, which a selection shares with its source.

Row numbers are good until the next change of the set of nodes: a removed node's row is taken by the last one.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

import numpy as np

from scheduler.apis.objects import Node
from scheduler.framework.columns import (
    AnyColumn,
    ColumnSource,
    GatheredColumns,
    GatheredItems,
    GrowableColumns,
    Rows,
)
from scheduler.framework.facts import DeclaredFeatures, Facts, ImageNames, ImageState, PortSet, Taints
from scheduler.framework.integers import wrapped
from scheduler.framework.pod_index import PodIndex, PodKeys
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.framework.resource_names import CPU, MEMORY, PODS

K = TypeVar("K", bound=Hashable)

ALLOCATABLE: Final = "allocatable/"
LABEL: Final = "label/"
_REQUESTED: Final = "requested/"
_NONZERO: Final = "nonzero/"
"""What the names of columns begin with, of which there is one per resource or label."""


class Nodes:
    """Nodes by row: the cluster's (a ``NodeTable``), or a selection of them made by ``take``."""

    __slots__ = (
        "_columns",
        "_facts",
        "_names",
        "_objects",
        "_pods",
        "_rows_by_name",
        "_whole",
        "_whole_rows",
    )

    def __init__(self, columns: ColumnSource, facts: Facts, whole: Nodes | None = None) -> None:
        self._columns = columns
        self._facts = facts
        self._whole = whole or self
        self._names: Sequence[str] = []
        self._objects: Sequence[Node] = []
        self._pods: list[tuple[PodInfo, ...]] | GatheredItems[tuple[PodInfo, ...]] = []
        self._rows_by_name: dict[str, int] | None = None
        self._whole_rows: Rows | None = None

    # Which nodes

    def __len__(self) -> int:
        """The number of rows."""
        return self._columns.rows

    @property
    def total(self) -> int:
        """The number of nodes in the whole cluster, also when these are a selection."""
        return len(self._whole)

    @property
    def whole(self) -> Nodes:
        """The table that these rows were taken from; itself when they were not. A what-if on a selection does not reach it."""
        return self._whole

    @property
    def whole_rows(self) -> Rows:
        """intp[rows]: the rows of ``whole`` that these are."""
        return np.arange(len(self)) if self._whole_rows is None else self._whole_rows

    @property
    def names(self) -> Sequence[str]:
        """The nodes' names, by row."""
        return self._names

    @property
    def objects(self) -> Sequence[Node]:
        """The nodes as the API server has them, by row."""
        return self._objects

    def row_of(self, name: str) -> int | None:
        """The row of the node of that name, None when it is not here."""
        return self._places().get(name)

    def rows_of(self, names: Iterable[str]) -> Rows:
        """intp[...]: the rows of the names that are here, in the order of the names."""
        rows = list(map(self._places().get, names))
        if None in rows:
            rows = [row for row in rows if row is not None]
        return np.array(rows, np.intp)

    def _places(self) -> dict[str, int]:
        if self._rows_by_name is None:
            self._rows_by_name = {name: row for row, name in enumerate(self._names)}
        return self._rows_by_name

    def pods(self, row: int) -> tuple[PodInfo, ...]:
        """The pods on a node, assumed ones included, in the order in which they came."""
        return self._pods[row]

    @property
    def pods_by_row(self) -> Sequence[tuple[PodInfo, ...]]:
        """The pods of every row. A row gets a new tuple with each change of its pods, so ``is`` tells whether there was one."""
        return self._pods

    def take(self, rows: Rows | BoolColumn) -> Nodes:
        """These rows as a table of their own, in the order given; bool masks select. Changes to it stay in it.

        What it has is copied when it is first read or changed, so use it before these nodes change.
        """
        index: Rows = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows.astype(np.intp, copy=False)
        taken = Nodes(GatheredColumns(self._columns, index), self._facts, self._whole)
        taken._whole_rows = index if self._whole_rows is None else self._whole_rows[index]
        taken._names = GatheredItems(self._names, index)
        taken._objects = GatheredItems(self._objects, index)
        taken._pods = GatheredItems(self._pods, index)
        return taken

    def copied_columns(self) -> tuple[GrowableColumns, Facts]:
        """Copies of all columns and of the facts behind them: what a table of its own starts from."""
        return GrowableColumns.copy_of(self._columns), self._facts.copy()

    # Resources

    def allocatable(self, resource: str) -> Column:
        """int64[rows]: what the node has to give: millicores of cpu, bytes of memory and storage, units of others."""
        return self._columns.get(ALLOCATABLE + resource)

    def requested(self, resource: str) -> Column:
        """int64[rows]: what the pods on the node request, in the units of ``allocatable``."""
        return self._columns.get(_REQUESTED + resource)

    def nonzero_requested(self, resource: str) -> Column:
        """int64[rows]: as ``requested``, for ``cpu`` and ``memory``, pods without requests counted as 100m and 200 MB."""
        return self._columns.get(_NONZERO + resource)

    @property
    def allowed_pods(self) -> Column:
        """int64[rows]: the number of pods that the node may run."""
        return self.allocatable(PODS)

    @property
    def pod_count(self) -> Column:
        """int64[rows]: the number of pods on the node."""
        return self._columns.get("pod_count")

    # Facts by id

    @property
    def unschedulable(self) -> BoolColumn:
        """bool[rows]: cordoned (``spec.unschedulable``)."""
        return self._columns.get("unschedulable", np.bool_)

    @property
    def taint_set_ids(self) -> AnyColumn:
        """int32[rows]: ids into ``taint_sets``; 0 is no taint."""
        return self._columns.get("taint_set", np.int32)

    @property
    def taint_sets(self) -> Sequence[Taints]:
        """The distinct sets of taints, in the order in which nodes list them."""
        return self._facts.taint_sets.values

    @property
    def declared_feature_ids(self) -> AnyColumn:
        """int32[rows]: ids into ``declared_features``; 0 is none."""
        return self._columns.get("features", np.int32)

    @property
    def declared_features(self) -> Sequence[DeclaredFeatures]:
        """The distinct lists of features that nodes declare (``status.declaredFeatures``), as they list them."""
        return self._facts.features.values

    @property
    def port_set_ids(self) -> AnyColumn:
        """int32[rows]: ids into ``port_sets``; 0 is no port taken."""
        return self._columns.get("port_set", np.int32)

    @property
    def port_sets(self) -> Sequence[PortSet]:
        """The distinct sets of host ports taken."""
        return self._facts.port_sets.values

    @property
    def image_set_ids(self) -> AnyColumn:
        """int32[rows]: ids into ``image_sets``; 0 is no image."""
        return self._columns.get("image_set", np.int32)

    @property
    def image_sets(self) -> Sequence[ImageNames]:
        """The distinct sets of image names that lie on a node."""
        return self._facts.image_sets.values

    @property
    def images(self) -> Mapping[str, ImageState]:
        """Every image name of the cluster, with its size and on how many nodes it lies."""
        return self._facts.images

    def label_ids(self, key: str) -> AnyColumn:
        """int32[rows]: ids into ``label_values(key)``; 0 where the node lacks the label."""
        return self._columns.get(LABEL + key, np.int32)

    def label_values(self, key: str) -> Sequence[str | None]:
        """The distinct values of a label; the first is None, for its absence."""
        values = self._facts.labels.get(key)
        return (None,) if values is None else values.values

    def pods_by(self, keys_of: PodKeys[K]) -> PodIndex[K]:
        """Where the pods of the cluster are, by what ``keys_of`` gives of each; rows are those of ``whole``.

        The same function gets the same index, which is kept up to date: pass a module's function, not a closure.
        """
        if self._whole is self:
            raise NotImplementedError("only a NodeTable keeps indexes")
        return self._whole.pods_by(keys_of)

    # Pods come and go

    def add_pod(self, row: int, pod: PodInfo) -> None:
        """Put a pod on a node."""
        self._pods[row] = (*self._pods[row], pod)
        self._account(row, pod, 1)
        if pod.host_ports:
            self._set_ports(row, self._ports_of(row) | frozenset(pod.host_ports))

    def remove_pod(self, row: int, pod: PodInfo) -> PodInfo:
        """Take a pod off a node; it is known by its uid, and returned as it was there.

        Raises:
            KeyError: the pod is not on that node.
        """
        pods = self._pods[row]
        place = self._place_of(row, pod)
        known = pods[place]
        self._pods[row] = pods[:place] + pods[place + 1 :]
        self._account(row, known, -1)
        if known.host_ports:
            self._set_ports(row, self._ports_of(row) - frozenset(known.host_ports))
        return known

    def _place_of(self, row: int, pod: PodInfo) -> int:
        # The newest first: what is taken back is what was just put.
        pods, uid = self._pods[row], pod.uid
        for place in range(len(pods) - 1, -1, -1):
            if pods[place].pod.metadata.uid == uid:
                return place
        raise KeyError(f"{pod.pod.full_name} is not on node {self._names[row]}")

    def _account(self, row: int, pod: PodInfo, sign: int) -> None:
        for resource, amount in pod.requests.items():
            _add(self._columns.own(_REQUESTED + resource), row, sign * amount)
        cpu, memory = pod.nonzero_requests
        _add(self._columns.own(_NONZERO + CPU), row, sign * cpu)
        _add(self._columns.own(_NONZERO + MEMORY), row, sign * memory)
        _add(self._columns.own("pod_count"), row, sign)

    def _ports_of(self, row: int) -> PortSet:
        return self.port_sets[int(self.port_set_ids[row])]

    def _set_ports(self, row: int, ports: PortSet) -> None:
        self._columns.own("port_set", np.int32)[row] = self._facts.port_sets.id_of(ports)


def _add(column: Column, row: int, amount: int) -> None:
    # Python's integers are ten times faster here than NumPy's, and wrapped around they are Go's int64.
    column[row] = wrapped(column.item(row) + amount)
