"""How good a node's storage is for the pod, under the gate StorageCapacityScoring (alpha; otherwise every score is zero).

Per storage class, the share of the capacity that the pod's claims would use is put through a function of the configuration (``shape``);
the mean over the classes, rounded, is the node's score. Volumes that exist count with their whole size; only where no claim finds one,
the storage of which a driver makes new ones counts.

Upstream: ``scorer.go``, ``VolumeBinding.Score``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler.apis.config.args import UtilizationShapePoint
from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim
from scheduler.apis.quantity import value
from scheduler.framework.integers import quotient
from scheduler.framework.interface import MAX_NODE_SCORE
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.plugins.helper.claims import class_of
from scheduler.plugins.noderesources.strategies import broken_linear
from scheduler.plugins.volume_binding.placement import Placement
from scheduler.plugins.volume_binding.static import NONE

_MAX_UTILIZATION: Final = 100
_MAX_POINT_SCORE: Final = 10


class _Usage:
    """Requested and available storage of one class: bytes, int64[rows], and on which rows it counts."""

    def __init__(self, rows: int) -> None:
        self.requested = np.zeros(rows, np.int64)
        self.capacity = np.zeros(rows, np.int64)
        self.counts = np.zeros(rows, np.bool_)


class CapacityScorer:
    """Scores by a function whose points are given in hundredths of utilization and scores from 0 to 10."""

    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        scale = MAX_NODE_SCORE // _MAX_POINT_SCORE
        self._points = [(point.utilization, point.score * scale) for point in shape]

    def scores(self, placement: Placement, pool: Sequence[PersistentVolume]) -> Column:
        """int64[rows]: 0 to 100."""
        bound = np.zeros(placement.rows, np.bool_)
        for _, choice in placement.matched:
            bound |= choice != NONE
        static, dynamic = _static(placement, pool), _dynamic(placement)
        return np.where(bound, self._mean(static, placement.rows), self._mean(dynamic, placement.rows))

    def _mean(self, usages: dict[str, _Usage], rows: int) -> Column:
        total = np.zeros(rows, np.int64)
        classes = np.zeros(rows, np.int64)
        for usage in usages.values():
            total += np.where(usage.counts, self._score(usage), 0)
            classes += usage.counts
        mean: Column = np.floor(total / np.maximum(classes, 1) + 0.5).astype(np.int64)
        return mean

    def _score(self, usage: _Usage) -> Column:
        share = quotient(usage.requested * _MAX_UTILIZATION, usage.capacity)
        share[(usage.capacity == 0) | (usage.requested > usage.capacity)] = _MAX_UTILIZATION
        return broken_linear(self._points, share)


def _static(placement: Placement, pool: Sequence[PersistentVolume]) -> dict[str, _Usage]:
    """The volumes that claims find, by the class that they name."""
    usages: dict[str, _Usage] = {}
    names = [volume.spec.storage_class_name for volume in pool]
    distinct = sorted(set(names))
    # The last entry is what NONE, which is -1, finds.
    classes = np.array([*map(distinct.index, names), NONE], np.int32)
    sizes = np.array([*(value(volume.spec.capacity.get("storage", 0)) for volume in pool), 0], np.int64)
    for claim, choice in placement.matched:
        for number, name in enumerate(distinct):
            rows: BoolColumn = classes[choice] == number
            if rows.any():
                usage = usages.setdefault(name, _Usage(placement.rows))
                usage.requested[rows] += _requested(claim)
                usage.capacity[rows] += sizes[choice[rows]]
                usage.counts |= rows
    return usages


def _dynamic(placement: Placement) -> dict[str, _Usage]:
    """The storage that volumes are made of: several claims of a class share one capacity."""
    usages: dict[str, _Usage] = {}
    for provision in placement.provisions:
        if not provision.pools:
            continue
        amounts = [value(pool.capacity.capacity or 0) for pool in provision.pools]
        rows: BoolColumn = provision.rows & (provision.pool != NONE)
        usage = usages.setdefault(class_of(provision.claim), _Usage(placement.rows))
        usage.capacity[rows] = np.array(amounts, np.int64)[provision.pool[rows]]
        usage.requested[rows] += _requested(provision.claim)
        usage.counts |= rows
    return usages


def _requested(claim: PersistentVolumeClaim) -> int:
    return value(claim.spec.resources.requests.get("storage", 0))
