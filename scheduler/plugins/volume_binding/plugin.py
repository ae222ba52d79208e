"""The plugin: from the pod's claims to rejected rows, a score, assumed objects and, before the pod is bound, bound volumes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from scheduler.apis.config.args import VolumeBindingArgs
from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler.client.errors import ClientError
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Handle, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column, Rejections
from scheduler.framework.status import Status
from scheduler.plugins.helper.claims import class_of, class_of_volume
from scheduler.plugins.helper.notes import without_note
from scheduler.plugins.volume_binding import hints
from scheduler.plugins.volume_binding.assume_cache import OutOfSyncError
from scheduler.plugins.volume_binding.binder import Binder, Binding
from scheduler.plugins.volume_binding.bound import place_bound
from scheduler.plugins.volume_binding.dynamic import Capacities
from scheduler.plugins.volume_binding.placement import Placement, PodVolumes, place_delayed
from scheduler.plugins.volume_binding.pod_claims import (
    NO_CLAIMS,
    ClassError,
    PodClaims,
    claims_fault,
    sorted_claims,
)
from scheduler.plugins.volume_binding.progress import BindError
from scheduler.plugins.volume_binding.reach import Affinities, Reach
from scheduler.plugins.volume_binding.scorer import CapacityScorer
from scheduler.plugins.volume_binding.static import Matcher, Sizes

UNBOUND_IMMEDIATE: Final = "pod has unbound immediate PersistentVolumeClaims"
_NO_NOTE: Final = "not found"
_NAME: Final = "VolumeBinding"
_ADD_OR_UPDATE: Final = ActionType.ADD | ActionType.UPDATE


@dataclass(slots=True)
class Note:
    """What the plugin keeps of an attempt; a what-if shares it, since pods on nodes change nothing here.

    Attributes:
        pool: the volumes that the delayed claims may choose from, and ``classes``, the class of each.
        judged: what the filter found, for Reserve, and for which nodes: the most that it has looked at, since what-ifs look at few.
        nothing_left: Reserve found all claims bound.
        binding: what Reserve assumed.
    """

    claims: PodClaims = NO_CLAIMS
    pool: Sequence[PersistentVolume] = ()
    classes: Sequence[str] = ()
    judged: tuple[Nodes, Placement] | None = None
    nothing_left: bool = False
    binding: Binding | None = field(default=None)


class VolumeBinding:
    """Rejects nodes that the pod's volumes do not reach or where none can be had, and binds volumes before the pod is bound."""

    name: Final = _NAME
    reads: Final = (
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        CSINode,
        CSIDriver,
        CSIStorageCapacity,
    )

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        """How long to wait, and how to score, come from the arguments; whether to score at all is a feature gate."""
        self._catalog: Catalog = handle.catalog
        self._affinities = Affinities()
        self._sizes = Sizes()
        self._capacities = Capacities(handle.catalog)
        self._attributes_classes = handle.features.enabled("VolumeAttributesClass")
        self._binder = Binder(
            handle.catalog, handle.port, handle.live, self._affinities, float(args.bind_timeout_seconds)
        )
        self._scorer: CapacityScorer | None = None
        if handle.features.enabled("StorageCapacityScoring"):
            self._scorer = CapacityScorer(args.shape or ())

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Whatever the pod's volumes depend on."""
        event = partial(ClusterEvent, action=_ADD_OR_UPDATE)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        driver = ClusterEvent(EventResource.CSI_DRIVER, ActionType.UPDATE)
        return (
            ClusterEventWithHint(event(EventResource.STORAGE_CLASS), hints.after_class_change),
            ClusterEventWithHint(event(EventResource.PERSISTENT_VOLUME_CLAIM), hints.after_claim_change),
            ClusterEventWithHint(event(EventResource.PERSISTENT_VOLUME)),
            ClusterEventWithHint(node),
            ClusterEventWithHint(event(EventResource.CSI_NODE), hints.after_csi_node_change),
            ClusterEventWithHint(driver, hints.after_csi_driver_change),
            ClusterEventWithHint(event(EventResource.CSI_STORAGE_CAPACITY), hints.after_capacity_change),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """Skip pods without claims; refuse those whose claims no node can help."""
        pod = cycle.pod
        if all(
            volume.persistent_volume_claim is None and volume.ephemeral is None for volume in pod.spec.volumes
        ):
            cycle.state[_NAME] = Note()
            return Status.skip()
        fault = claims_fault(pod, self._catalog)
        if fault is not None:
            return Status.unresolvable(fault)
        try:
            claims = sorted_claims(pod, self._binder.claims.get, self._catalog)
        except ClassError as error:
            return Status.failure(error)
        if claims.immediate:
            return Status.unresolvable(UNBOUND_IMMEDIATE)
        pool = self._pool(claims)
        cycle.state[_NAME] = Note(claims, pool, [class_of_volume(volume) for volume in pool])
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows that a bound volume does not reach, and those where a delayed claim can have none."""
        note = _note(cycle)
        if note is None:
            return without_note(nodes, _NO_NOTE)
        placement = self._place(note, nodes)
        if note.judged is None or len(nodes) >= len(note.judged[0]):
            note.judged = nodes, placement
        return placement.rejections()

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip, unless capacity is scored."""
        if self._scorer is None:
            return Status.skip()
        return None if _note(cycle) else Status.failure(LookupError(_NO_NOTE))

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: how well the storage of the node would be used; 0 without delayed claims."""
        note = _note(cycle)
        if self._scorer is None or note is None or note.judged is None:
            return np.zeros(len(nodes), np.int64)
        return self._scorer.scores(self._place(note, nodes), note.pool)

    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        """Assume the volumes that the pod gets on the node."""
        note = _note(cycle)
        if note is None:
            return Status.failure(LookupError(_NO_NOTE))
        chosen = _chosen(note, node)
        try:
            note.binding = None if chosen is None else self._binder.assume(cycle.pod, node, chosen)
        except OutOfSyncError as error:
            return Status.failure(error)
        note.nothing_left = note.binding is None
        return None

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Take back what is assumed and not written."""
        note = _note(cycle)
        if note is not None and note.binding is not None:
            self._binder.revert(note.binding)

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status | None:
        """Skip when all claims are bound."""
        note = _note(cycle)
        if note is None:
            return Status.failure(LookupError(_NO_NOTE))
        if note.nothing_left:
            return Status.skip()
        return _no_volumes(node) if note.binding is None else None

    def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        """Write the choice, and wait until it is done."""
        note = _note(cycle)
        if note is None:
            return Status.failure(LookupError(_NO_NOTE))
        if note.nothing_left:
            return None
        if note.binding is None:
            return _no_volumes(node)
        try:
            self._binder.bind(cycle.pod, node, note.binding)
        except (ClientError, BindError) as error:
            return Status.failure(error)
        return None

    def _place(self, note: Note, nodes: Nodes) -> Placement:
        placement, reach, claims = Placement(len(nodes)), Reach(nodes), note.claims
        judged = place_bound(
            placement,
            claims.bound,
            nodes,
            reach,
            self._binder.volumes,
            self._affinities,
            self._catalog.csi_nodes,
        )
        if claims.delayed:
            matcher = Matcher(
                note.pool,
                note.classes,
                self._affinities,
                self._sizes,
                attributes_classes=self._attributes_classes,
            )
            place_delayed(placement, claims, nodes, reach, judged, matcher, self._capacities)
        return placement

    def _pool(self, claims: PodClaims) -> list[PersistentVolume]:
        """The volumes of the delayed claims' classes that nobody has claimed, or that are set aside for one of the claims."""
        volumes = self._catalog.persistent_volumes
        names = dict.fromkeys(class_of(delayed.claim) for delayed in claims.delayed)
        owners = dict.fromkeys(
            (delayed.claim.metadata.namespace, delayed.claim.metadata.name) for delayed in claims.delayed
        )
        found = [volume for owner in owners for volume in volumes.by(_owner_of, owner)]
        found += [volume for name in names for volume in volumes.by(_unclaimed_class_of, name)]
        return self._binder.volumes.overlaid(found)


def _note(cycle: Cycle) -> Note | None:
    note: Note | None = cycle.state.get(_NAME)
    return note


def _chosen(note: Note, node: str) -> PodVolumes | None:
    """What the pod gets on a node; None where the filter has not looked or rejects: then upstream binds nothing."""
    if note.judged is None:
        return None
    nodes, placement = note.judged
    row = nodes.row_of(node)
    return None if row is None else placement.volumes_at(row, note.pool)


def _no_volumes(node: str) -> Status:
    return Status.failure(LookupError(f'no pod volume found for node "{node}"'))


def _owner_of(volume: PersistentVolume) -> Iterable[tuple[str, str]]:
    reference = volume.spec.claim_ref
    return () if reference is None else ((reference.namespace, reference.name),)


def _unclaimed_class_of(volume: PersistentVolume) -> Iterable[str]:
    return (class_of_volume(volume),) if volume.spec.claim_ref is None else ()
