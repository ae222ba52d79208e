"""From which rows something can be reached: volumes by their node affinity, capacity by its topology.

A restriction is a disjunction of conjunctions of label requirements; None is no restriction. There may be as many of them as
there are nodes (every local volume names its host), so that a mask each would cost nodes times volumes. ``Reach.rows`` finds the
rows of ``key In [value, …]`` in lists of the rows by value, which are made once per cycle and label::

    label kubernetes.io/hostname    row 0: h1   row 1: h2   row 2: h1
    rows by value                   h1: [0, 2]  h2: [1]

Names and other fields of a node are not asked for: upstream compares volumes with a node that has nothing but labels.

Upstream: ``volume.CheckNodeAffinity``, ``nodeHasAccess``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np

from scheduler.apis.objects import NodeSelector, PersistentVolume
from scheduler.apis.requirements import Operator, Requirement
from scheduler.apis.selectors import CompiledNodeSelector, compile_node_selector
from scheduler.framework.columns import AnyColumn, Rows
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn
from scheduler.plugins.helper.node_selection import matching_labels

Restriction = tuple[tuple[Requirement, ...], ...] | None
"""One of the alternatives must hold, each of which is a conjunction; None: no restriction."""

_REMEMBERED: Final = 1 << 15
_FEW: Final = 64


class Affinities:
    """The node affinities of volumes, compiled; each distinct one once."""

    def __init__(self) -> None:
        self._known: dict[NodeSelector, CompiledNodeSelector] = {}

    def compiled(self, required: NodeSelector) -> CompiledNodeSelector:
        """The compiled selector."""
        found = self._known.get(required)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[required] = compile_node_selector(required)
        return found

    def restriction(self, required: NodeSelector | None) -> Restriction:
        """From which nodes a volume with this required affinity can be reached; terms with faults match nothing."""
        if required is None:
            return None
        return tuple(term.labels for term in self.compiled(required).terms if not term.errors)


def required_of(volume: PersistentVolume) -> NodeSelector | None:
    """The volume's required node affinity."""
    affinity = volume.spec.node_affinity
    return None if affinity is None else affinity.required


class Reach:
    """Restrictions, looked up in one table of nodes."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._by_label: dict[str, Callable[[str], Rows]] = {}

    def mask(self, restriction: Restriction) -> BoolColumn | None:
        """bool[rows]: the rows that the restriction leaves; None for all."""
        if restriction is None:
            return None
        found = np.zeros(len(self._nodes), np.bool_)
        for requirements in restriction:
            found |= matching_labels(self._nodes, requirements)
        return found

    def rows(self, restriction: Restriction) -> Rows:
        """intp[...]: the same as numbers, in no particular order."""
        if restriction is not None and len(restriction) == 1 and restriction[0]:
            first, *others = restriction[0]
            if first.operator is Operator.IN:
                return self._narrowed(self._listed(first), others)
        found = self.mask(restriction)
        return np.arange(len(self._nodes)) if found is None else np.flatnonzero(found)

    def _listed(self, requirement: Requirement) -> Rows:
        key = requirement.key
        rows_with = self._by_label.get(key)
        if rows_with is None:
            rows_with = self._by_label[key] = _rows_by_value(
                self._nodes.label_ids(key), self._nodes.label_values(key)
            )
        values = dict.fromkeys(requirement.values)
        if len(values) == 1:
            return rows_with(requirement.values[0])
        return np.concatenate([rows_with(value) for value in values])

    def _narrowed(self, rows: Rows, requirements: Sequence[Requirement]) -> Rows:
        if not requirements or not len(rows):
            return rows
        if len(rows) > _FEW:
            return rows[matching_labels(self._nodes, requirements)[rows]]
        for requirement in requirements:
            ids = self._nodes.label_ids(requirement.key)[rows].tolist()
            values = self._nodes.label_values(requirement.key)
            rows = rows[[requirement.matches_value(values[number]) for number in ids]]
        return rows


def _rows_by_value(ids: AnyColumn, values: Sequence[str | None]) -> Callable[[str], Rows]:
    """A function from a label's value to the rows that have it."""
    numbers: Mapping[str | None, int] = {value: number for number, value in enumerate(values)}
    order: Rows = np.argsort(ids, kind="stable").astype(np.intp, copy=False)
    starts: list[int] = np.searchsorted(ids[order], np.arange(len(values) + 1)).tolist()
    none = order[:0]

    def rows_with(value: str) -> Rows:
        number = numbers.get(value)
        return none if number is None else order[starts[number] : starts[number + 1]]

    return rows_with


def first_of(
    found: Sequence[Rows], numbers: Sequence[int], count: int, excluded: Sequence[AnyColumn] = ()
) -> AnyColumn:
    """int32[rows]: the number of the first entry that has the row, -1 where none has.

    Args:
        found: the rows of each entry.
        numbers: the number of each entry.
        count: the number of rows.
        excluded: int32[rows] each: numbers that the row is not to get.
    """
    first = np.full(count, -1, np.int32)
    if found:
        rows = np.concatenate(found)
        entries = np.repeat(np.array(numbers, np.int32), [len(each) for each in found])
        for column in excluded:
            kept = column[rows] != entries
            rows, entries = rows[kept], entries[kept]
        # Of several values for one row the last one stays, hence backwards.
        first[rows[::-1]] = entries[::-1]
    return first
