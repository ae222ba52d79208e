"""Where columns live: growable ones for the cluster's table, gathered ones for a selection of its rows.

A column is asked for by name. ``get`` reads it: one that nobody has written reads as zeros, and comes into being only when it is
asked for with ``own``, to be written. So a resource or label that no node has costs nothing, however many of them pods ask for.

Both classes answer alike; only the growable one can add and drop rows. A gathered column is copied from its source
when it is first read and is its own from then on: writing to it leaves the cluster as it was, which is all that a what-if
needs. ``GatheredItems`` does the same for what is no array: the nodes' names and objects, and the pods on them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar, overload

import numpy as np
import numpy.typing as npt

AnyColumn = npt.NDArray[Any]
Rows = npt.NDArray[np.intp]
T = TypeVar("T")

_FIRST_CAPACITY = 64


class ColumnSource(Protocol):
    """Columns by name, all of one length."""

    rows: int

    def get(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column to read, ``dtype[rows]``; zeros when nobody has written it."""
        ...

    def own(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column to write, ``dtype[rows]``."""
        ...

    def names(self) -> list[str]:
        """The columns that exist."""
        ...


class GrowableColumns:
    """The cluster's columns: one contiguous array each, grown by doubling, rows dropped by moving the last one in."""

    __slots__ = ("_arrays", "_blanks", "_capacity", "_views", "rows")

    def __init__(self) -> None:
        self.rows = 0
        self._capacity = _FIRST_CAPACITY
        self._arrays: dict[str, AnyColumn] = {}
        self._views: dict[str, AnyColumn] = {}
        self._blanks: dict[npt.DTypeLike, AnyColumn] = {}

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
        """The column as a view; a blank one, which cannot be written, when it does not exist."""
        view = self._views.get(name)
        if view is None:
            array = self._arrays.get(name)
            if array is None:
                return self._blank(dtype)
            view = self._views[name] = array[: self.rows]
        return view

    def own(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column as a view: writes go through."""
        if name not in self._arrays:
            self._arrays[name] = np.zeros(self._capacity, dtype)
        return self.get(name, dtype)

    def names(self) -> list[str]:
        """The columns that exist."""
        return list(self._arrays)

    def drop_blank(self) -> list[str]:
        """Forget the columns that have become all zeros; their names are returned."""
        blank = [name for name, array in self._arrays.items() if not array.any()]
        for name in blank:
            del self._arrays[name]
            self._views.pop(name, None)
        return blank

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
        self._blanks.clear()
        return self.rows - 1

    def drop(self, row: int) -> None:
        """Remove a row; the last row takes its place."""
        last = self.rows - 1
        for array in self._arrays.values():
            array[row] = array[last]
            array[last] = 0
        self.rows = last
        self._views.clear()
        self._blanks.clear()

    def _blank(self, dtype: npt.DTypeLike) -> AnyColumn:
        blank = self._blanks.get(dtype)
        if blank is None:
            blank = self._blanks[dtype] = np.zeros(self.rows, dtype)
            blank.flags.writeable = False
        return blank


class GatheredColumns:
    """Some rows of another source, copied column by column as they are read."""

    __slots__ = ("_index", "_own", "_source", "rows")

    def __init__(self, source: ColumnSource, index: Rows) -> None:
        self.rows = len(index)
        self._source = source
        self._index = index
        self._own: dict[str, AnyColumn] = {}

    def get(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column as a copy."""
        own = self._own.get(name)
        if own is None:
            own = self._own[name] = self._source.get(name, dtype)[self._index]
        return own

    def own(self, name: str, dtype: npt.DTypeLike = np.int64) -> AnyColumn:
        """The column as a copy: writes stay here."""
        return self.get(name, dtype)

    def names(self) -> list[str]:
        """The columns that exist in the source, and those read or written here."""
        return list(dict.fromkeys((*self._source.names(), *self._own)))


class GatheredItems(Sequence[T], Generic[T]):
    """Some rows of a sequence with an item per row, looked up as they are read: few of them are, whatever the number of rows.

    An item set here stays here.
    """

    __slots__ = ("_index", "_own", "_source")

    def __init__(self, source: Sequence[T], index: Rows) -> None:
        self._source = source
        self._index = index
        self._own: dict[int, T] = {}

    def __len__(self) -> int:
        return len(self._index)

    @overload
    def __getitem__(self, row: int) -> T: ...
    @overload
    def __getitem__(self, row: slice) -> list[T]: ...
    def __getitem__(self, row: int | slice) -> T | list[T]:
        if isinstance(row, slice):
            return list(self)[row]
        return self._own[row] if row in self._own else self._source[self._index[row]]

    def __iter__(self) -> Iterator[T]:
        if not self._own:
            return map(self._source.__getitem__, self._index.tolist())
        return (
            self._own[row] if row in self._own else self._source[place]
            for row, place in enumerate(self._index.tolist())
        )

    def __setitem__(self, row: int, item: T) -> None:
        self._own[row] = item
