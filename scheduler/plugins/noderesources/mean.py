"""A mean by weight, row by row, over the columns that count for the row."""

from __future__ import annotations

import numpy as np

from scheduler.framework.integers import quotient
from scheduler.framework.rejections import BoolColumn, Column


class WeightedMean:
    """Adds up columns and their weights; a row for which nothing counts has a mean of 0."""

    __slots__ = ("_everywhere", "_somewhere", "_total")

    def __init__(self, rows: int) -> None:
        self._total: Column = np.zeros(rows, np.int64)
        self._everywhere = 0
        self._somewhere: Column | None = None

    def add(self, weight: int, scores: Column, counts: BoolColumn) -> None:
        """Add int64[rows], for the rows in which it counts."""
        if counts.all():
            self._total += scores * weight
            self._everywhere += weight
            return
        shares = counts * np.int64(weight)
        self._total += scores * shares
        self._somewhere = shares if self._somewhere is None else self._somewhere + shares

    def truncated(self) -> Column:
        """int64[rows]: the mean, cut off."""
        return quotient(self._total, self._weights())

    def rounded(self) -> Column:
        """int64[rows]: the mean of scores that are not negative, halves rounded up (upstream: ``math.Round``)."""
        weights = self._weights()
        if isinstance(weights, int):
            weights = np.full(len(self._total), weights, np.int64)
        means = np.divide(self._total, weights, out=np.zeros(len(weights)), where=weights != 0)
        whole = np.trunc(means)
        rounded: Column = (whole + (means - whole >= 0.5)).astype(np.int64)
        return rounded

    def _weights(self) -> Column | int:
        return self._everywhere if self._somewhere is None else self._somewhere + self._everywhere
