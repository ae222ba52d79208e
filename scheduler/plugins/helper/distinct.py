"""Judge distinct things once, gather by id.

5,000 nodes carry perhaps five distinct sets of taints. The judge looks at five, not at 5,000; the rows then pick their
verdict by the id of their set. A selection of fewer rows than there are sets judges only the sets that its rows have.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

from scheduler.framework.columns import AnyColumn
from scheduler.framework.rejections import BoolColumn, Column

T = TypeVar("T")


def present(ids: AnyColumn, values: Sequence[T]) -> tuple[Sequence[T], AnyColumn]:
    """The values worth judging, and each row's place among them.

    Args:
        ids: int[rows], into ``values``.
        values: the distinct values.
    """
    if len(ids) >= len(values):
        return values, ids
    used, places = np.unique(ids, return_inverse=True)
    return [values[number] for number in used.tolist()], places


def where(ids: AnyColumn, values: Sequence[T], holds: Callable[[T], bool]) -> BoolColumn | None:
    """bool[rows]: whether it holds for the row's value; None when it holds for no row."""
    values, places = present(ids, values)
    verdicts = np.fromiter(map(holds, values), np.bool_, len(values))
    return verdicts[places] if verdicts.any() else None


def gather(ids: AnyColumn, values: Sequence[T], measure: Callable[[T], int]) -> Column:
    """int64[rows]: the measure of the row's value."""
    values, places = present(ids, values)
    column: Column = np.fromiter(map(measure, values), np.int64, len(values))[places]
    return column
