"""PodIndex: where the pods with something in common are, as rows and counts.

A selector is matched against each distinct set of labels, never against each pod; an affinity term is looked at once, however
many pods carry it. What pods have in common is whatever ``keys_of`` says of one: its labels, its anti-affinity terms, its claims::

    keys_of(pod) = ((namespace, labels),)              rows       0    1    3
    index[("web", {app: a})]                           counts     2    1    4

A table keeps an index from the first question on (``Nodes.pods_by``), and pays for those that somebody has asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Final, Generic, TypeVar

import numpy as np

from scheduler.framework.columns import Rows
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Column

K = TypeVar("K", bound=Hashable)
PodKeys = Callable[[PodInfo], Iterable[K]]
"""(pod) -> what it has in common with others. Pure; it is asked again when the pod goes."""

_REMEMBERED_CHANGES: Final = 1024


class PodIndex(Generic[K]):
    """Counts of pods by key and row.

    Attributes:
        version: grows when a key appears or vanishes, so that what was matched against the keys can be kept until then.
    """

    __slots__ = ("_changed", "_counts", "_keys_of", "version")

    def __init__(self, keys_of: PodKeys[K]) -> None:
        self._keys_of = keys_of
        self._counts: dict[K, dict[int, int]] = {}
        self._changed: deque[K] = deque(maxlen=_REMEMBERED_CHANGES)
        self.version = 0

    def __len__(self) -> int:
        return len(self._counts)

    def __contains__(self, key: K) -> bool:
        return key in self._counts

    def keys(self) -> Iterable[K]:
        """The keys that any pod has, in the order in which they appeared."""
        return self._counts.keys()

    def changed_since(self, version: int) -> Iterable[K] | None:
        """The keys that appeared or vanished since, some of them repeatedly; None when that is too long ago to be known."""
        past = self.version - version
        if version < 0 or past > len(self._changed):
            return None
        return islice(self._changed, len(self._changed) - past, None)

    def rows_of(self, key: K) -> tuple[Rows, Column]:
        """intp[n] and int64[n]: the rows that have pods with the key, in no particular order, and how many."""
        found = self._counts.get(key, {})
        count = len(found)
        return np.fromiter(found.keys(), np.intp, count), np.fromiter(found.values(), np.int64, count)

    def counts(self, keys: Iterable[K], rows: int) -> Column:
        """int64[rows]: on each row, how many pods have one of the keys; a pod with several counts for each.

        Args:
            rows: the number of rows of the table.
        """
        places: list[int] = []
        counts: list[int] = []
        for key in keys:
            found = self._counts.get(key, {})
            places += found.keys()
            counts += found.values()
        total: Column = np.zeros(rows, np.int64)
        np.add.at(total, np.array(places, np.intp), np.array(counts, np.int64))
        return total

    # For the table that keeps the index

    def add(self, row: int, pod: PodInfo) -> None:
        """A pod came."""
        for key in self._keys_of(pod):
            found = self._counts.get(key)
            if found is None:
                found = self._counts[key] = {}
                self._note_change(key)
            found[row] = found.get(row, 0) + 1

    def remove(self, row: int, pod: PodInfo) -> None:
        """A pod went."""
        for key in self._keys_of(pod):
            found = self._counts[key]
            if found[row] > 1:
                found[row] -= 1
                continue
            del found[row]
            if not found:
                del self._counts[key]
                self._note_change(key)

    def move(self, old: int, new: int, pods: Sequence[PodInfo]) -> None:
        """The row's number changed from ``old`` to ``new``, on which nothing is; ``pods`` are those on it."""
        for pod in pods:
            for key in self._keys_of(pod):
                found = self._counts[key]
                if old in found:
                    found[new] = found.pop(old)

    def _note_change(self, key: K) -> None:
        self._changed.append(key)
        self.version += 1
