"""The scoring strategies of NodeResourcesFit: how good it is that so much of a node would be in use.

Each scores every resource between 0 and 100 and takes the mean by weight:

* ``LeastAllocated``: the share that stays free, so that load spreads;
* ``MostAllocated``: the share in use, so that nodes fill up one after another;
* ``RequestedToCapacityRatio``: a function of the share in use, given as points between which it is linear. Resources that
  score 0 do not take part in the mean, and the mean is rounded rather than cut off.

Upstream: ``least_allocated.go``, ``most_allocated.go``, ``requested_to_capacity_ratio.go``, ``helper.BuildBrokenLinearFunction``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

import numpy as np

from scheduler.apis.config.args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    REQUESTED_TO_CAPACITY_RATIO,
    ScoringStrategy,
)
from scheduler.framework.integers import quotient
from scheduler.framework.interface import MAX_NODE_SCORE
from scheduler.framework.rejections import Column
from scheduler.plugins.noderesources.mean import WeightedMean
from scheduler.plugins.noderesources.usage import Usage

Strategy = Callable[[Iterable[Usage], int], Column]
"""(the resources' usage, the number of rows) -> int64[rows], 0 to 100"""

_MAX_UTILIZATION: Final = 100
_MAX_POINT_SCORE: Final = 10


def strategy_of(configured: ScoringStrategy) -> Strategy:
    """The strategy of that type.

    Raises:
        ValueError: there is none of that type.
    """
    if configured.type == LEAST_ALLOCATED:
        return least_allocated
    if configured.type == MOST_ALLOCATED:
        return most_allocated
    if configured.type == REQUESTED_TO_CAPACITY_RATIO and configured.requested_to_capacity_ratio:
        points = configured.requested_to_capacity_ratio.shape
        scale = MAX_NODE_SCORE // _MAX_POINT_SCORE
        return partial(
            requested_to_capacity_ratio, [(point.utilization, point.score * scale) for point in points]
        )
    raise ValueError(f"scoring strategy {configured.type} is not supported")


def least_allocated(used: Iterable[Usage], rows: int) -> Column:
    """int64[rows]: the mean share that would stay free."""
    mean = WeightedMean(rows)
    for usage in used:
        free = quotient((usage.allocatable - usage.requested) * MAX_NODE_SCORE, usage.allocatable)
        free[usage.requested > usage.allocatable] = 0
        mean.add(usage.weight, free, usage.allocatable != 0)
    return mean.truncated()


def most_allocated(used: Iterable[Usage], rows: int) -> Column:
    """int64[rows]: the mean share that would be in use; more than all there is counts as all."""
    mean = WeightedMean(rows)
    for usage in used:
        capped = np.minimum(usage.requested, usage.allocatable)
        share = quotient(capped * MAX_NODE_SCORE, usage.allocatable)
        mean.add(usage.weight, share, usage.allocatable != 0)
    return mean.truncated()


def requested_to_capacity_ratio(
    points: Sequence[tuple[int, int]], used: Iterable[Usage], rows: int
) -> Column:
    """int64[rows]: the mean of the function's values; ``points`` are (share in hundredths, score), ascending."""
    mean = WeightedMean(rows)
    for usage in used:
        share = quotient(usage.requested * _MAX_UTILIZATION, usage.allocatable)
        share[usage.requested > usage.allocatable] = _MAX_UTILIZATION
        score = broken_linear(points, share)
        mean.add(usage.weight, score, (usage.allocatable != 0) & (score > 0))
    return mean.rounded()


def broken_linear(points: Sequence[tuple[int, int]], arguments: Column) -> Column:
    """int64[rows]: linear between the points, level outside of them; in integers, truncated toward the point before."""
    values = np.full(len(arguments), points[-1][1], np.int64)
    for (left, low), (right, high) in reversed(list(pairwise(points))):
        slope = low + quotient((high - low) * (arguments - left), right - left)
        values = np.where(arguments <= right, slope, values)
    first, score = points[0]
    return np.where(arguments <= first, score, values)
