"""What a pod's volumes make of each row: why it cannot run there, or which volumes it would get.

Bound claims are asked first; delayed ones are looked at also where a bound volume is out of reach, so that a row may have two
reasons. A claim whose node is chosen already (the annotation ``selected-node``) rules out all other rows, and nothing more is said of
these. The others look for a volume that exists; what they do not find is to be made::

    delayed ──node chosen───────────────────────────────┐
       │                                                ▼
       └──small ones first──> found: static binding   to be provisioned: topology, then capacity
                          └──not found ─────────────────^

Upstream: ``FindPodVolumes``, ``checkBoundClaims``, ``findMatchingVolumes``, ``checkVolumeProvisions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim
from scheduler.framework.columns import AnyColumn
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Reason, Rejections
from scheduler.framework.status import Code
from scheduler.plugins.volume_binding.dynamic import (
    Capacities,
    Pool,
    allowed_topology,
    first_reached,
    provisions,
)
from scheduler.plugins.volume_binding.pod_claims import DelayedClaim, PodClaims
from scheduler.plugins.volume_binding.reach import Reach
from scheduler.plugins.volume_binding.static import NONE, Matcher, MatchError

NODE_CONFLICT: Final = Reason(
    "node(s) didn't match PersistentVolume's node affinity", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)
BIND_CONFLICT: Final = Reason(
    "node(s) didn't find available persistent volumes to bind", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)
NOT_ENOUGH_SPACE: Final = Reason(
    "node(s) did not have enough free storage", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)
VOLUME_MISSING: Final = Reason(
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
)
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
"""The annotation of a claim that names the node near which its volume is to be made."""


class StaticBinding(NamedTuple):
    """A claim that gets a volume which exists."""

    volume: PersistentVolume
    claim: PersistentVolumeClaim


class PodVolumes(NamedTuple):
    """What the pod's delayed claims get on one node."""

    bindings: tuple[StaticBinding, ...]
    provisions: tuple[PersistentVolumeClaim, ...]


class Provision(NamedTuple):
    """A claim to be provisioned on some rows.

    Attributes:
        rows: bool[rows]: where.
        pools: the storage that may serve it; None when nobody says how much there is.
        pool: int32[rows]: the number of the pool that serves the row, -1 without one.
    """

    claim: PersistentVolumeClaim
    rows: BoolColumn
    pools: tuple[Pool, ...] | None
    pool: AnyColumn


@dataclass(slots=True)
class Placement:
    """Verdicts and choices, a column each.

    Attributes:
        masks: bool[rows] per reason: the rows that it rejects.
        matched: the claims that looked for a volume, small ones first, each with int32[rows]: the volume's number, ``NONE`` without one.
        provisions: the claims that want one made, in order.
    """

    rows: int
    masks: list[tuple[BoolColumn, Reason]] = field(default_factory=list)
    matched: list[tuple[PersistentVolumeClaim, AnyColumn]] = field(default_factory=list)
    provisions: list[Provision] = field(default_factory=list)

    def rejections(self) -> Rejections | None:
        """The rejected rows, reasons in upstream's order; a row with an error has that only."""
        merged: dict[Reason, BoolColumn] = {}
        for mask, reason in self.masks:
            merged[reason] = merged[reason] | mask if reason in merged else mask
        failed = [mask for reason, mask in merged.items() if reason.code is Code.ERROR]
        for mask in failed:
            merged = {
                reason: found if reason.code is Code.ERROR else found & ~mask
                for reason, found in merged.items()
            }
        ordered = sorted(merged, key=lambda reason: _ORDER.get(reason, len(_ORDER)))
        return Rejections.collect([(merged[reason], reason) for reason in ordered])

    def volumes_at(self, row: int, pool: Sequence[PersistentVolume]) -> PodVolumes | None:
        """What the claims get on the row, which is not to be changed; None when the row is rejected."""
        if any(mask[row] for mask, _ in self.masks):
            return None
        return PodVolumes(
            tuple(
                StaticBinding(pool[choice[row]], claim)
                for claim, choice in self.matched
                if choice[row] != NONE
            ),
            tuple(provision.claim for provision in self.provisions if provision.rows[row]),
        )


_ORDER: Final = {
    reason: place
    for place, reason in enumerate((NODE_CONFLICT, BIND_CONFLICT, NOT_ENOUGH_SPACE, VOLUME_MISSING))
}


def place_delayed(
    placement: Placement,
    claims: PodClaims,
    nodes: Nodes,
    reach: Reach,
    judged: BoolColumn,
    matcher: Matcher,
    capacities: Capacities,
) -> None:
    """Look at the delayed claims on the rows of ``judged`` (bool[rows]), and add what comes of it."""
    chosen = [delayed for delayed in claims.delayed if _selected_node(delayed) is not None]
    looking = matcher.by_size(delayed for delayed in claims.delayed if _selected_node(delayed) is None)
    rows = judged & _selected_rows(chosen, nodes)
    placement.masks.append((judged & ~rows, BIND_CONFLICT))
    try:
        choices = matcher.choices((delayed.claim for delayed in looking), reach, rows)
    except MatchError as error:
        placement.masks.append((rows, Reason(str(error), Code.ERROR)))
        return
    found = list(zip(looking, choices, strict=True))
    placement.matched += [(delayed.claim, choice) for delayed, choice in found]
    wanted = [(delayed, rows) for delayed in chosen]
    wanted += [(delayed, rows & (choice == NONE)) for delayed, choice in found]
    _provision(placement, wanted, reach, rows.copy(), capacities)


def _provision(
    placement: Placement,
    wanted: Sequence[tuple[DelayedClaim, BoolColumn]],
    reach: Reach,
    open_rows: BoolColumn,
    capacities: Capacities,
) -> None:
    """Check one claim after the other; a row is closed by the first that cannot be provisioned there."""
    for delayed, rows in wanted:
        rows = rows & open_rows  # noqa: PLW2901  # narrowed
        if not rows.any():
            continue
        allowed = _allowed(delayed, reach, rows)
        pools = capacities.sufficient(delayed)
        pool = np.full(len(rows), NONE, np.int32) if pools is None else first_reached(pools, reach, len(rows))
        short = np.zeros(len(rows), np.bool_) if pools is None else allowed & (pool == NONE)
        placement.masks += [(rows & ~allowed, BIND_CONFLICT), (short, NOT_ENOUGH_SPACE)]
        placement.provisions.append(Provision(delayed.claim, allowed & ~short, pools, pool))
        open_rows &= ~rows | (allowed & ~short)


def _allowed(delayed: DelayedClaim, reach: Reach, rows: BoolColumn) -> BoolColumn:
    """bool[rows]: those of ``rows`` where the class can provision."""
    if not provisions(delayed.storage_class):
        return np.zeros(len(rows), np.bool_)
    mask = reach.mask(allowed_topology(delayed.storage_class.allowed_topologies))
    return rows if mask is None else rows & mask


def _selected_rows(chosen: Sequence[DelayedClaim], nodes: Nodes) -> BoolColumn:
    """bool[rows]: the rows that every claim with a chosen node has chosen."""
    rows = np.ones(len(nodes), np.bool_)
    for delayed in chosen:
        row = nodes.row_of(_selected_node(delayed) or "")
        kept = row is not None and rows[row]
        rows[:] = False
        if row is not None:
            rows[row] = kept
    return rows


def _selected_node(delayed: DelayedClaim) -> str | None:
    return delayed.claim.metadata.annotations.get(SELECTED_NODE)
