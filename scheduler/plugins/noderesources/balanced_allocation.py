"""NodeResourcesBalancedAllocation: likes nodes whose resources would be used more evenly with the pod than without it.

Evenness is 100 minus the standard deviation of the resources' shares in use, in hundredths; it lies between 50 and 100.
The score is 75 when the pod changes nothing, toward 100 when it evens the node out, toward 50 when it tips it.

Quirks: a pod that requests none of the resources is skipped (it would pile up on one node). With two resources the deviation
is half their distance, computed so; the general formula would differ in the last bit. Floats in upstream's order throughout.

Upstream: ``plugins/noderesources/balanced_allocation.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from scheduler.apis.config.args import NodeResourcesBalancedAllocationArgs
from scheduler.framework.cycle import Cycle
from scheduler.framework.integers import quotient
from scheduler.framework.interface import MAX_NODE_SCORE, Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.framework.status import Status
from scheduler.plugins.noderesources.usage import usages

Floats = npt.NDArray[np.float64]


class NodeResourcesBalancedAllocation:
    """Ranks nodes by how evenly they would be used."""

    name: Final = "NodeResourcesBalancedAllocation"

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        """The resources to balance come from the arguments."""
        self._resources = args.resources

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods that request none of the resources."""
        return None if self._concerns(cycle) else Status.skip()

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: 50 to 100; zeros for a pod that ``pre_score`` would have skipped, had the profile asked it."""
        if not self._concerns(cycle):
            return np.zeros(len(nodes), np.int64)
        used = list(usages(nodes, self._resources, cycle.pod_info.requests, with_defaults=False))
        counts = [usage.allocatable != 0 for usage in used]
        after = _evenness([(usage.requested, usage.allocatable) for usage in used], counts, len(nodes))
        before = _evenness([(usage.allocated, usage.allocatable) for usage in used], counts, len(nodes))
        half = MAX_NODE_SCORE // 2
        return half + quotient(half + after - before, 2)

    def _concerns(self, cycle: Cycle) -> bool:
        """Whether the pod requests any of the resources."""
        wanted = cycle.pod_info.requests
        return any(wanted.get(resource.name) for resource in self._resources)


def _evenness(parts: Sequence[tuple[Column, Column]], counts: Sequence[BoolColumn], rows: int) -> Column:
    """int64[rows]: 100 for equal shares. ``parts`` are (in use, there is) per resource, ``counts`` where it counts."""
    shares = [
        np.minimum(np.divide(used, there_is, out=np.zeros(rows), where=present), 1.0)
        for (used, there_is), present in zip(parts, counts, strict=True)
    ]
    deviation = _deviation(shares, counts, rows)
    # Requests that overflowed make shares far below zero; what is too large for an int64 becomes its smallest, as in Go.
    with np.errstate(invalid="ignore"):
        evenness: Column = ((1 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)
    return evenness


def _deviation(shares: Sequence[Floats], counts: Sequence[BoolColumn], rows: int) -> Floats:
    """float64[rows]: the standard deviation of the shares that count; 0 for fewer than two."""
    if len(shares) < 2:
        return np.zeros(rows)
    if len(shares) == 2:
        return np.abs((shares[0] - shares[1]) / 2) * (counts[0] & counts[1])
    number = np.sum(counts, axis=0)
    largest = np.max(np.where(counts, shares, -np.inf), axis=0)
    smallest = np.min(np.where(counts, shares, np.inf), axis=0)
    deviation = np.where(number == 2, np.abs((largest - smallest) / 2), 0.0)
    many = number > 2
    return np.where(many, _general_deviation(shares, counts, np.maximum(number, 1)), deviation)


def _general_deviation(shares: Sequence[Floats], counts: Sequence[BoolColumn], number: Column) -> Floats:
    total = np.zeros(len(number))
    for share in shares:
        total += share
    mean = total / number
    squares = np.zeros(len(number))
    for share, present in zip(shares, counts, strict=True):
        squares += np.where(present, (share - mean) * (share - mean), 0.0)
    deviation: Floats = np.sqrt(squares / number)
    return deviation
