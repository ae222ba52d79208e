"""Domains: numbers per place, where a place is a topology key with one of its values.

A domain is the number of its label value, so that a node finds its own by ``label_ids``, and all nodes by one gather::

    label_ids("zone")      1  2  1  0        rows n0 … n3; 0: the label is missing, and the node is in no domain
    pods per row           1  0  2  5
    numbers["zone"]        [0, 3, 0]         by label value: the row without the label counts nowhere
    gathered               3  0  3  0
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from scheduler.framework.facts import ABSENT
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column


class Domains:
    """int64 numbers by topology key and label value; a key of which all are zero is left out."""

    __slots__ = ("_numbers",)

    def __init__(self, numbers: dict[str, Column]) -> None:
        self._numbers = numbers

    @classmethod
    def of(cls, nodes: Nodes, per_row: Mapping[str, Column]) -> Domains:
        """Add up, by topology key, int64[rows] numbers of each row of ``nodes``, the whole table."""
        numbers = {}
        for key, column in per_row.items():
            found = _added_up(nodes, key, column)
            if found.any():
                numbers[key] = found
        return cls(numbers)

    def copy(self) -> Domains:
        """The same numbers, to be changed on their own."""
        return Domains({key: column.copy() for key, column in self._numbers.items()})

    def __bool__(self) -> bool:
        """Whether any number is not zero."""
        return any(column.any() for column in self._numbers.values())

    def add(self, nodes: Nodes, row: int, key: str, amount: int) -> None:
        """Change the number of the domain that a row of ``nodes`` is in, if it is in one."""
        domain = int(nodes.label_ids(key)[row])
        if domain == ABSENT:
            return
        column = self._numbers.get(key)
        if column is None:
            column = self._numbers[key] = np.zeros(len(nodes.label_values(key)), np.int64)
        column[domain] += amount

    def positive(self, nodes: Nodes, key: str) -> BoolColumn:
        """bool[rows]: the rows of any selection whose domain has a number above zero; a row in no domain has not."""
        column = self._numbers.get(key)
        if column is None:
            return np.zeros(len(nodes), np.bool_)
        above: BoolColumn = column[nodes.label_ids(key)] > 0
        return above

    def positive_in_any(self, nodes: Nodes) -> BoolColumn | None:
        """bool[rows]: the same for whichever key; None when there is none."""
        return _either(self.positive(nodes, key) for key in self._numbers)

    def sums(self, nodes: Nodes) -> Column:
        """int64[rows]: the numbers of the row's domains, all keys together."""
        total: Column = np.zeros(len(nodes), np.int64)
        for key, column in self._numbers.items():
            total += column[nodes.label_ids(key)]
        return total


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
