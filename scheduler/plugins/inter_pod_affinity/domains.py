"""Domains: numbers per place, where a place is a topology key with one of its values.

A domain is the number of its label value, so that a node finds its own by ``label_ids``, and all nodes by one gather::

    label_ids("zone")      1  2  1  0        rows n0 … n3; 0: the label is missing, and the node is in no domain
    pods per row           1  0  2  5
    numbers["zone"]        [0, 3, 0]         by label value: the row without the label counts nowhere
    gathered               3  0  3  0

A what-if changes no number, but what a row sees of the domain that it is in (see ``helper.own_changes``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from scheduler.framework.facts import ABSENT
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.plugins.helper.own_changes import OwnChanges


class Domains:
    """int64 numbers by topology key and label value; a key of which all are zero is left out."""

    __slots__ = ("_changes", "_numbers")

    def __init__(self, numbers: dict[str, Column], changes: dict[str, OwnChanges] | None = None) -> None:
        self._numbers = numbers
        self._changes = changes or {}

    @classmethod
    def of(cls, nodes: Nodes, per_row: Mapping[str, Column]) -> Domains:
        """Add up, by topology key, int64[rows] numbers of each row of ``nodes``, the whole table."""
        numbers = {}
        for key, column in per_row.items():
            found = _added_up(nodes, key, column)
            if found.any():
                numbers[key] = found
        return cls(numbers)

    def clone(self) -> Domains:
        """The same numbers, of which rows may see others in a what-if."""
        return Domains(self._numbers, {key: changes.clone() for key, changes in self._changes.items()})

    def __bool__(self) -> bool:
        """Whether any number is not zero, before what-ifs."""
        return any(column.any() for column in self._numbers.values())

    def add(self, nodes: Nodes, row: int, key: str, amount: int) -> None:
        """Change the number that a row of ``nodes`` sees of the domain that it is in, if it is in one."""
        if nodes.label_ids(key)[row] == ABSENT:
            return
        if key not in self._changes:
            self._changes[key] = OwnChanges()
        self._changes[key].add(nodes, row, amount)

    def positive(self, nodes: Nodes, key: str) -> BoolColumn:
        """bool[rows]: the rows of any selection whose domain has a number above zero; a row in no domain has not."""
        seen = self._seen(nodes, key)
        above: BoolColumn = np.zeros(len(nodes), np.bool_) if seen is None else seen > 0
        return above

    def positive_in_any(self, nodes: Nodes) -> BoolColumn | None:
        """bool[rows]: the same for whichever key; None when there is none."""
        return _either(self.positive(nodes, key) for key in dict.fromkeys((*self._numbers, *self._changes)))

    def all_zero(self, nodes: Nodes) -> BoolColumn:
        """bool[rows]: the rows for which no domain of any key, wherever it is, has a number other than zero."""
        found: Column = np.full(len(nodes), sum(map(np.count_nonzero, self._numbers.values())), np.int64)
        for key in self._changes:
            before, now = self._counted(nodes, key), self._seen(nodes, key)
            if before is not None:
                found -= before != 0
            if now is not None:
                found += now != 0
        return ~found.astype(np.bool_)

    def sums(self, nodes: Nodes) -> Column:
        """int64[rows]: the numbers of the row's domains, all keys together."""
        total: Column = np.zeros(len(nodes), np.int64)
        for key, column in self._numbers.items():
            total += column[nodes.label_ids(key)]
        return total

    def _counted(self, nodes: Nodes, key: str) -> Column | None:
        """int64[rows]: the numbers of the row's domains, before what-ifs; None when all are zero."""
        column = self._numbers.get(key)
        return None if column is None else column[nodes.label_ids(key)]

    def _seen(self, nodes: Nodes, key: str) -> Column | None:
        """int64[rows]: the same with what the row has changed itself."""
        counted, changes = self._counted(nodes, key), self._changes.get(key)
        own = None if changes is None else changes.of(nodes)
        return counted if own is None else own if counted is None else counted + own


def _added_up(nodes: Nodes, key: str, column: Column) -> Column:
    # Sums of counts and weights stay far below 2**53, up to which floats are exact; bincount is many times faster than add.at.
    sums = np.bincount(nodes.label_ids(key), weights=column, minlength=len(nodes.label_values(key)))
    found: Column = sums.astype(np.int64)
    found[ABSENT] = 0
    return found


def _either(masks: Iterable[BoolColumn]) -> BoolColumn | None:
    found: BoolColumn | None = None
    for mask in masks:
        found = mask if found is None else found | mask
    return found
