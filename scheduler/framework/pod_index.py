"""PodIndex: where the pods with something in common are, as rows and counts.

A selector is matched against each distinct set of labels, never against each pod; an affinity term is looked at once, however
many pods carry it. What pods have in common is whatever ``keys_of`` says of one: its labels, its anti-affinity terms, its claims::

    keys_of(pod) = ((namespace, labels),)              rows       0    1    3
    index[("web", {app: a})]                           counts     2    1    4

A table keeps an index from the first question on (``Nodes.pods_by``), and pays for those that somebody has asked for. A pod that
comes or goes costs about a microsecond per key; a question costs what copying the rows and counts of its keys costs.
"""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from scheduler.framework.columns import Rows
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Column

K = TypeVar("K", bound=Hashable)
PodKeys = Callable[[PodInfo], Iterable[K]]
"""(pod) -> what it has in common with others. Pure; it is asked again when the pod goes."""

Pairs = npt.NDArray[np.int64]
"""int64[n, 2]: rows and counts."""

_REMEMBERED_CHANGES: Final = 1024


class Tally:
    """How many pods with one key are on each row: pairs of row and count, packed so that NumPy reads them without a loop.

    ::

        _pairs    [3, 1,  0, 2,  7, 4]          row 3: 1 pod, row 0: 2 pods, row 7: 4 pods
        _places   {3: 1, 0: 3, 7: 5}            where the count of a row stands
    """

    __slots__ = ("_pairs", "_places")

    def __init__(self) -> None:
        self._pairs = array("q")
        self._places: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._places)

    @property
    def pairs(self) -> array[int]:
        """int64[2n]: each row and its count in turn, in no particular order; good until the next change."""
        return self._pairs

    def add(self, row: int) -> None:
        """One pod more."""
        place = self._places.get(row)
        if place is None:
            self._pairs.extend((row, 1))
            self._places[row] = len(self._pairs) - 1
        else:
            self._pairs[place] += 1

    def remove(self, row: int) -> None:
        """One pod less. The last pair fills the gap of a row that has none left."""
        pairs, place = self._pairs, self._places[row]
        if pairs[place] > 1:
            pairs[place] -= 1
            return
        del self._places[row]
        count, last = pairs.pop(), pairs.pop()
        if last != row:
            pairs[place - 1 : place + 1] = array("q", (last, count))
            self._places[last] = place

    def move(self, old: int, new: int) -> None:
        """The pods on the row ``old``, if any, are on ``new``, which had none."""
        place = self._places.pop(old, None)
        if place is not None:
            self._pairs[place - 1] = new
            self._places[new] = place


class PodIndex(Generic[K]):
    """Counts of pods by key and row.

    Attributes:
        version: grows when a key appears or vanishes, so that what was matched against the keys can be kept until then.
    """

    __slots__ = ("_changed", "_keys_of", "_tallies", "version")

    def __init__(self, keys_of: PodKeys[K]) -> None:
        self._keys_of = keys_of
        self._tallies: dict[K, Tally] = {}
        self._changed: deque[K] = deque(maxlen=_REMEMBERED_CHANGES)
        self.version = 0

    def __len__(self) -> int:
        return len(self._tallies)

    def __contains__(self, key: K) -> bool:
        return key in self._tallies

    def keys(self) -> Iterable[K]:
        """The keys that any pod has, in the order in which they appeared."""
        return self._tallies.keys()

    def changed_since(self, version: int) -> Iterable[K] | None:
        """The keys that appeared or vanished since, some of them repeatedly; None when that is too long ago to be known."""
        past = self.version - version
        if version < 0 or past > len(self._changed):
            return None
        return islice(self._changed, len(self._changed) - past, None)

    def rows_of(self, key: K) -> tuple[Rows, Column]:
        """intp[n] and int64[n]: the rows that have pods with the key, in no particular order, and how many."""
        pairs = self._pairs_of((key,))
        return pairs[:, 0].astype(np.intp, copy=False), pairs[:, 1]

    def counts(self, keys: Iterable[K], rows: int) -> Column:
        """int64[rows]: on each row, how many pods have one of the keys; a pod with several counts for each.

        Args:
            rows: the number of rows of the table.
        """
        pairs = self._pairs_of(keys)
        total: Column = np.zeros(rows, np.int64)
        np.add.at(total, pairs[:, 0], pairs[:, 1])
        return total

    def _pairs_of(self, keys: Iterable[K]) -> Pairs:
        found = (self._tallies.get(key) for key in keys)
        # Joining bytes costs half of what joining arrays does, and copies, which a buffer that grows must have done to it.
        joined = b"".join(tally.pairs for tally in found if tally is not None)
        return np.frombuffer(joined, np.int64).reshape(-1, 2)

    # For the table that keeps the index

    def add(self, row: int, pod: PodInfo) -> None:
        """A pod came."""
        self._add(row, self._keys_of(pod))

    def remove(self, row: int, pod: PodInfo) -> None:
        """A pod went."""
        self._remove(row, self._keys_of(pod))

    def replace(self, row: int, old: PodInfo, new: PodInfo) -> None:
        """A pod is as ``new`` says now; most changes leave its keys as they are."""
        before, after = tuple(self._keys_of(old)), tuple(self._keys_of(new))
        if before != after:
            # First what it has now, so that a key that stays does not vanish and reappear.
            self._add(row, after)
            self._remove(row, before)

    def move(self, old: int, new: int, pods: Sequence[PodInfo]) -> None:
        """The row's number changed from ``old`` to ``new``, on which nothing is; ``pods`` are those on it."""
        for pod in pods:
            for key in self._keys_of(pod):
                self._tallies[key].move(old, new)

    def _add(self, row: int, keys: Iterable[K]) -> None:
        for key in keys:
            tally = self._tallies.get(key)
            if tally is None:
                tally = self._tallies[key] = Tally()
                self._note_change(key)
            tally.add(row)

    def _remove(self, row: int, keys: Iterable[K]) -> None:
        for key in keys:
            tally = self._tallies[key]
            tally.remove(row)
            if not len(tally):
                del self._tallies[key]
                self._note_change(key)

    def _note_change(self, key: K) -> None:
        self._changed.append(key)
        self.version += 1
