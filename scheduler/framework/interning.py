"""Interning: distinct things get small numbers, so that a column of numbers can stand for them.

5,000 nodes carry perhaps five distinct sets of taints. A filter judges the five and gathers its column by id::

    verdicts = np.array([tolerates(taints) for taints in nodes.taint_sets])
    column   = verdicts[nodes.taint_set_ids]
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Interner(Generic[K]):
    """Numbers for values, in order of first sight; ``values[id]`` gives the value back."""

    __slots__ = ("_ids", "values")

    def __init__(self, *first: K) -> None:
        self.values: list[K] = list(first)
        self._ids: dict[K, int] = {value: place for place, value in enumerate(first)}

    def __len__(self) -> int:
        return len(self.values)

    def id_of(self, value: K) -> int:
        """The value's number, a new one when the value is new."""
        number = self._ids.get(value)
        if number is None:
            number = self._ids[value] = len(self.values)
            self.values.append(value)
        return number
