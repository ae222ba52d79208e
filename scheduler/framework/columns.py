"""Where columns live: growable ones for the cluster's table, gathered ones for a selection of its rows.

A column is asked for by name and comes into being, all zeros, when it is first asked for, so that a resource or label that
no node has ever had costs nothing and reads as zero. ``get`` hands out a writable array of exactly ``rows`` entries.

Both classes answer ``get`` alike; only the growable one can add and drop rows. A gathered column is copied from its source
when it is first read and is its own from then on: writing to it leaves the cluster as it was, which is all that a what-if
needs.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

AnyColumn = npt.NDArray[Any]
Rows = npt.NDArray[np.intp]

_FIRST_CAPACITY = 64


class ColumnSource(Protocol):
    """Columns by name, all of one length."""

    rows: int

    def get(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column, ``dtype[rows]``; zeros when nobody has written it."""
        ...

    def names(self) -> list[str]:
        """The columns that exist."""
        ...


class GrowableColumns:
    """The cluster's columns: one contiguous array each, grown by doubling, rows dropped by moving the last one in."""

    __slots__ = ("_arrays", "_capacity", "_views", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._capacity = _FIRST_CAPACITY
        self._arrays: dict[str, AnyColumn] = {}
        self._views: dict[str, AnyColumn] = {}

    @classmethod
    def copy_of(cls, source: ColumnSource) -> GrowableColumns:
        """Columns of their own with what ``source`` has now."""
        copy = cls()
        copy.rows = source.rows
        copy._capacity = source.rows + _FIRST_CAPACITY
        for name in source.names():
            column = source.get(name)
            copy._arrays[name] = np.concatenate((column, np.zeros(_FIRST_CAPACITY, column.dtype)))
        return copy

    def get(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column as a view: writes go through."""
        view = self._views.get(name)
        if view is None:
            array = self._arrays.get(name)
            if array is None:
                array = self._arrays[name] = np.zeros(self._capacity, dtype)
            view = self._views[name] = array[: self.rows]
        return view

    def names(self) -> list[str]:
        """The columns that exist."""
        return list(self._arrays)

    def append(self) -> int:
        """Add a row of zeros; its number is returned."""
        if self.rows == self._capacity:
            self._capacity *= 2
            self._arrays = {
                name: np.concatenate((array, np.zeros(self._capacity - self.rows, array.dtype)))
                for name, array in self._arrays.items()
            }
        self.rows += 1
        self._views.clear()
        return self.rows - 1

    def drop(self, row: int) -> None:
        """Remove a row; the last row takes its place."""
        last = self.rows - 1
        for array in self._arrays.values():
            array[row] = array[last]
            array[last] = 0
        self.rows = last
        self._views.clear()


class GatheredColumns:
    """Some rows of another source, copied column by column as they are read."""

    __slots__ = ("_index", "_own", "_source", "rows")

    def __init__(self, source: ColumnSource, index: Rows) -> None:
        self.rows = len(index)
        self._source = source
        self._index = index
        self._own: dict[str, AnyColumn] = {}

    def get(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column as a copy: writes stay here."""
        own = self._own.get(name)
        if own is None:
            own = self._own[name] = self._source.get(name, dtype)[self._index]
        return own

    def names(self) -> list[str]:
        """The columns that exist in the source."""
        return self._source.names()
