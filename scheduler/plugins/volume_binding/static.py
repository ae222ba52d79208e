"""Static provisioning: which of the volumes that exist a claim gets on each node.

A volume that is reserved for the claim (its ``claimRef`` names it) is the only one that counts: a node that cannot reach it has
none. Otherwise it is the smallest one that is large enough, of the claim's class, mode and attributes class, offers
every access mode, carries the labels of the claim's selector, is available, and can be reached from the node. Small claims choose first.

What a claim gets differs from node to node, so the answer is a column: the number of the volume in the pool. Of volumes that
are reached from the same nodes only the first few (one more than the claims that chose before) can be anybody's choice,
so the work grows with distinct affinities and the rows that these reach, not with volumes times nodes.

Upstream: ``volume.FindMatchingVolume``, ``findMatchingVolumes``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from scheduler.apis.objects import NodeSelector, PersistentVolume, PersistentVolumeClaim
from scheduler.apis.quantity import Quantity, from_json
from scheduler.apis.selectors import Selector, SelectorError, compile_label_selector
from scheduler.framework.columns import AnyColumn, Rows
from scheduler.framework.rejections import BoolColumn
from scheduler.plugins.helper.claims import class_of
from scheduler.plugins.helper.gosort import go_sorted
from scheduler.plugins.volume_binding.pod_claims import DelayedClaim
from scheduler.plugins.volume_binding.reach import (
    Affinities,
    Reach,
    Restriction,
    first_of,
    required_of,
)

NONE: Final = -1
_FILESYSTEM: Final = "Filesystem"
_REMEMBERED: Final = 1 << 12
_MAX_DIGITS: Final = 100


class MatchError(ValueError):
    """A claim that cannot be matched with any volume; the message is upstream's."""


class Sizes:
    """Amounts of storage as integers that compare like the quantities, by text: volumes come in a few sizes."""

    def __init__(self) -> None:
        self._known: dict[str | int | float, int] = {}

    def storage(self, resources: dict[str, str | int | float]) -> int:
        """The amount of storage in a list of resources, in billionths of a byte; zero when it is not there.

        Raises:
            scheduler.apis.quantity.QuantityError: it cannot be read.
        """
        text = resources.get("storage")
        if text is None:
            return 0
        found = self._known.get(text)
        if found is None:
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            found = self._known[text] = _billionths(from_json(text))
        return found


def _billionths(quantity: Quantity) -> int:
    """Exact, except that amounts beyond all reason are all the same: their digits would not fit into memory."""
    return quantity.unscaled * int(10 ** min(quantity.exponent + 9, _MAX_DIGITS))


class _Fitting(NamedTuple):
    """The volumes that fit a claim, wherever they are: numbers in the pool, in the order in which they are preferred."""

    reserved: list[int]
    free: list[int]


class Matcher:
    """Finds volumes for the claims of one pod.

    Args:
        pool: the volumes that may be chosen, those of each class in the order in which they came.
        attributes_classes: whether volume attributes classes are on (the gate VolumeAttributesClass).
    """

    def __init__(
        self,
        pool: Sequence[PersistentVolume],
        classes: Sequence[str],
        affinities: Affinities,
        sizes: Sizes,
        *,
        attributes_classes: bool,
    ) -> None:
        self._pool = pool
        self._classes = classes
        self._affinities = affinities
        self._sizes = sizes
        self._attributes_classes = attributes_classes

    def by_size(self, claims: Iterable[DelayedClaim]) -> list[DelayedClaim]:
        """The claims, small ones first; equals as upstream's sort leaves them."""
        sized = [(self._requested(delayed.claim), delayed) for delayed in claims]
        return [delayed for _, delayed in go_sorted(sized, lambda one, other: one[0] < other[0])]

    def choices(
        self, claims: Iterable[PersistentVolumeClaim], reach: Reach, rows: BoolColumn
    ) -> list[AnyColumn]:
        """int32[rows] for each of the claims, in order: its volume's number, ``NONE`` without one and where ``rows`` is not set.

        Raises:
            MatchError: see there.
        """
        chosen: list[AnyColumn] = []
        for claim in claims:
            chosen.append(self._choice(self._fitting(claim), chosen, reach, rows))
        return chosen

    def _choice(
        self, fitting: _Fitting, chosen: Sequence[AnyColumn], reach: Reach, rows: BoolColumn
    ) -> AnyColumn:
        choice = np.full(len(rows), NONE, np.int32)
        undecided = rows.copy()
        for number in fitting.reserved:
            taken = _taken(number, chosen, undecided)
            mask = reach.mask(self._restriction(number))
            choice[undecided & ~taken if mask is None else undecided & ~taken & mask] = number
            undecided &= taken
        if fitting.free and undecided.any():
            found = self._smallest(fitting.free, chosen, reach, len(rows))
            choice[undecided] = found[undecided]
        return choice

    def _smallest(
        self, free: Sequence[int], chosen: Sequence[AnyColumn], reach: Reach, count: int
    ) -> AnyColumn:
        """int32[rows]: the first of the free volumes that the row reaches and no claim before has taken there."""
        numbers: list[int] = []
        found: list[Rows] = []
        used: dict[NodeSelector | None, int] = {}
        for number in free:
            required = required_of(self._pool[number])
            if used.get(required, 0) > len(chosen):
                continue
            used[required] = used.get(required, 0) + 1
            numbers.append(number)
            found.append(reach.rows(self._affinities.restriction(required)))
        return first_of(found, numbers, count, chosen)

    def _restriction(self, number: int) -> Restriction:
        return self._affinities.restriction(required_of(self._pool[number]))

    def _fitting(self, claim: PersistentVolumeClaim) -> _Fitting:
        self._check(claim)
        selector = _selector(claim)
        wanted, requested = class_of(claim), self._requested(claim)
        reserved: list[int] = []
        free: list[tuple[int, int]] = []
        for number, (volume, of_class) in enumerate(zip(self._pool, self._classes, strict=True)):
            if of_class != wanted or volume.metadata.deletion_timestamp:
                continue
            size = self._sizes.storage(volume.spec.capacity)
            if size < requested or not self._alike(claim, volume):
                continue
            if volume.spec.claim_ref is None:
                if _offers(volume, claim, selector):
                    free.append((size, number))
            elif reserved_for(volume, claim):
                reserved.append(number)
        # By size; the order in which they came decides between equals.
        return _Fitting(reserved, [number for _, number in sorted(free)])

    def _check(self, claim: PersistentVolumeClaim) -> None:
        if not self._attributes_classes and claim.spec.volume_attributes_class_name:
            raise MatchError(
                f"unsupported volumeAttributesClassName is set on claim {_name(claim)} "
                "when the feature-gate VolumeAttributesClass is disabled"
            )

    def _alike(self, claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
        """Whether volume mode and attributes class are the same."""
        mode = _FILESYSTEM if claim.spec.volume_mode is None else claim.spec.volume_mode
        volume_mode = _FILESYSTEM if volume.spec.volume_mode is None else volume.spec.volume_mode
        if mode != volume_mode:
            return False
        attributes = volume.spec.volume_attributes_class_name or ""
        if not self._attributes_classes:
            return not attributes
        return (claim.spec.volume_attributes_class_name or "") == attributes

    def _requested(self, claim: PersistentVolumeClaim) -> int:
        return self._sizes.storage(claim.spec.resources.requests)


def reserved_for(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    """Whether the volume is bound to the claim, or set aside for it (upstream: ``IsVolumeBoundToClaim``)."""
    reference, meta = volume.spec.claim_ref, claim.metadata
    if reference is None or (reference.name, reference.namespace) != (meta.name, meta.namespace):
        return False
    return reference.uid in ("", meta.uid)


def _offers(volume: PersistentVolume, claim: PersistentVolumeClaim, selector: Selector | None) -> bool:
    """What is asked only of volumes that nobody has claimed."""
    if volume.status.phase != "Available":
        return False
    if selector is not None and not selector.matches(volume.metadata.labels):
        return False
    return set(claim.spec.access_modes) <= set(volume.spec.access_modes)


def _selector(claim: PersistentVolumeClaim) -> Selector | None:
    if claim.spec.selector is None:
        return None
    try:
        return compile_label_selector(claim.spec.selector)
    except SelectorError as error:
        raise MatchError(
            f"error creating internal label selector for claim: {_name(claim)}: {error}"
        ) from error


def _taken(number: int, chosen: Sequence[AnyColumn], rows: BoolColumn) -> BoolColumn:
    """bool[rows]: where a claim before has chosen the volume."""
    taken = np.zeros(len(rows), np.bool_)
    for column in chosen:
        taken |= column == number
    return taken


def _name(claim: PersistentVolumeClaim) -> str:
    return f"{claim.metadata.namespace}/{claim.metadata.name}"
