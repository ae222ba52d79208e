"""Own changes: what a what-if has changed on each row, kept apart from what all rows see.

In a what-if each row is a world of its own: a pod that is taken off one row is still there when another is judged. So a note keeps
what was counted over the whole cluster, once for all, and beside it what came and went on each row; the verdict on a row adds
its own change, and nobody else's::

    pods in the domain        3  3  1         counted before the attempt
    own changes              -1  0  1         a victim taken off the first row, a guest put on the third
    seen by the row           2  3  2
"""

from __future__ import annotations

import numpy as np

from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column


class OwnChanges:
    """int64 by row of the whole table; nothing is kept until something changes."""

    __slots__ = ("_column",)

    def __init__(self) -> None:
        self._column: Column | None = None

    def clone(self) -> OwnChanges:
        """A copy that changes on its own."""
        copy = OwnChanges()
        if self._column is not None:
            copy._column = self._column.copy()
        return copy

    def add(self, nodes: Nodes, row: int, amount: int) -> None:
        """Change the number of a row of any selection."""
        if self._column is None:
            self._column = np.zeros(nodes.total, np.int64)
        self._column[nodes.whole_rows[row]] += amount

    def of(self, nodes: Nodes) -> Column | None:
        """int64[rows]: the numbers of these rows; None when there was no change on any row."""
        return None if self._column is None else self._column[nodes.whole_rows]
