"""Many times of one thing, as three numbers: what is usual, what is seldom worse, what hardly ever is."""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from typing import NamedTuple


class Spread(NamedTuple):
    """Percentiles, in the unit of the times."""

    p50: float
    p95: float
    p99: float

    @classmethod
    def of(cls, times: Iterable[float]) -> Spread:
        """Of two times or more."""
        cuts = statistics.quantiles(times, n=100, method="inclusive")
        return cls(cuts[49], cuts[94], cuts[98])
