"""VolumeZone: a volume that is labelled with zones or regions is reached only from nodes in one of them.

The labels are those of the PersistentVolumes behind the pod's claims, in their beta and present spelling; a value may list
several zones, ``a__b``. A node must have one of the values under the same key; where it lacks a beta key, the present key
counts. Nodes without any zone or region label are taken to be in a cluster of one zone, and pass.

A claim without a volume passes when its class waits for the first consumer; any other is refused, as are claims, classes and
volumes that do not exist.

Quirks: a list with an empty part says nothing at all (``a__`` restricts no node). Generic ephemeral volumes are left to
VolumeBinding.

Upstream: ``plugins/volumezone``, ``cloud-provider/volume/helpers``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scheduler.apis.fielderror import quote
from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.interface import Handle, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Reason, Rejections
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_not_found,
    class_not_found,
    class_of,
    named_claims,
    volume_not_found,
)
from scheduler.plugins.helper.distinct import where

CONFLICT: Final = Reason("node(s) had no available volume zone", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
CLAIM_WITHOUT_NAME: Final = "PersistentVolumeClaim had no name"
CLAIM_WITHOUT_VOLUME_AND_CLASS: Final = "PersistentVolumeClaim had no pv name and storageClass name"
VOLUME_WITHOUT_NAME: Final = "PersistentVolume had no name"

_ZONE: Final = "topology.kubernetes.io/zone"
_REGION: Final = "topology.kubernetes.io/region"
_SUCCESSORS: Final = {
    "failure-domain.beta.kubernetes.io/zone": _ZONE,
    "failure-domain.beta.kubernetes.io/region": _REGION,
}
"""The beta keys, and those that replaced them."""
_KEYS: Final = (*_SUCCESSORS, _ZONE, _REGION)
_DELIMITER: Final = "__"
_NOTE: Final = "VolumeZone"


@dataclass(frozen=True, slots=True)
class Topology:
    """A label of a volume: the node must have one of the values under the key."""

    key: str
    values: frozenset[str]


class VolumeZone:
    """Rejects nodes outside the zones and regions of the pod's volumes."""

    name: Final = "VolumeZone"
    reads: Final = (PersistentVolume, PersistentVolumeClaim, StorageClass)

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._catalog = handle.catalog

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A class, node, claim or volume appeared; a node's labels, a claim or a volume changed."""
        new, changed = ActionType.ADD, ActionType.ADD | ActionType.UPDATE
        storage_class = ClusterEvent(EventResource.STORAGE_CLASS, new)
        node = ClusterEvent(EventResource.NODE, new | ActionType.UPDATE_NODE_LABEL)
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, changed)
        volume = ClusterEvent(EventResource.PERSISTENT_VOLUME, changed)
        return (
            ClusterEventWithHint(storage_class, after_class_added),
            ClusterEventWithHint(node),
            ClusterEventWithHint(claim, after_claim_change),
            ClusterEventWithHint(volume, after_volume_change),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """Refuse a pod whose claims lead to no volume; skip a pod whose volumes have no zone."""
        topologies = self._topologies(cycle.pod)
        if isinstance(topologies, Status):
            return topologies
        if not topologies:
            return Status.skip()
        cycle.state[_NOTE] = topologies
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows with a zone or region, but not a volume's."""
        topologies: Sequence[Topology] | Status = cycle.state.get(_NOTE) or self._topologies(cycle.pod)
        if isinstance(topologies, Status):  # the profile runs no PreFilter
            return Rejections.where(
                np.ones(len(nodes), np.bool_), Reason(topologies.message, topologies.code)
            )
        reached = np.ones(len(nodes), np.bool_)
        for topology in dict.fromkeys(topologies):
            reached &= _within(nodes, topology)
        return Rejections.where(~reached & _zoned(nodes), CONFLICT)

    def _topologies(self, pod: Pod) -> Sequence[Topology] | Status:
        """The labels of all of the pod's volumes."""
        found: list[Topology] = []
        for name in named_claims(pod):
            volume = self._volume_of(pod.metadata.namespace, name)
            if isinstance(volume, Status):
                return volume
            if volume is not None:
                found += topologies_of(volume)
        return found

    def _volume_of(self, namespace: str, name: str) -> PersistentVolume | Status | None:
        """The volume behind a claim; None when it will be there once the pod has a node, a Status when it will not."""
        if not name:
            return Status.unresolvable(CLAIM_WITHOUT_NAME)
        claim = self._catalog.persistent_volume_claims.get(name, namespace)
        if claim is None:
            return Status.unresolvable(claim_not_found(name))
        volume_name = claim.spec.volume_name
        if not volume_name:
            return self._refusal_of_unbound(claim)
        volume = self._catalog.persistent_volumes.get(volume_name)
        return Status.unresolvable(volume_not_found(volume_name)) if volume is None else volume

    def _refusal_of_unbound(self, claim: PersistentVolumeClaim) -> Status | None:
        name = class_of(claim)
        if not name:
            return Status.unresolvable(CLAIM_WITHOUT_VOLUME_AND_CLASS)
        storage_class = self._catalog.storage_classes.get(name)
        if storage_class is None:
            return Status.unresolvable(class_not_found(name))
        mode = storage_class.volume_binding_mode
        if mode is None:
            return Status.unresolvable(f"VolumeBindingMode not set for StorageClass {quote(name)}")
        return None if mode == WAIT_FOR_FIRST_CONSUMER else Status.unresolvable(VOLUME_WITHOUT_NAME)


def topologies_of(volume: PersistentVolume) -> tuple[Topology, ...]:
    """The zones and regions that a volume's labels name (upstream: ``getPVTopologies``)."""
    labels = volume.metadata.labels
    named = ((key, _listed(labels[key])) for key in _KEYS if key in labels)
    return tuple(Topology(key, values) for key, values in named if values)


def _listed(text: str) -> frozenset[str]:
    """The parts of ``a__b``; none when one of them is empty (upstream: ``LabelZonesToSet``)."""
    parts = [part.strip() for part in text.split(_DELIMITER)]
    return frozenset(parts) if all(parts) else frozenset()


def _within(nodes: Nodes, topology: Topology) -> BoolColumn:
    """bool[rows]: whether the node has one of the values."""
    own = _having(nodes, topology.key, topology.values)
    successor = _SUCCESSORS.get(topology.key)
    if successor is None:
        return own
    lacking = nodes.label_ids(topology.key) == 0
    found: BoolColumn = own | (lacking & _having(nodes, successor, topology.values))
    return found


def _having(nodes: Nodes, key: str, values: frozenset[str]) -> BoolColumn:
    found = where(nodes.label_ids(key), nodes.label_values(key), lambda value: value in values)
    return np.zeros(len(nodes), np.bool_) if found is None else found


def _zoned(nodes: Nodes) -> BoolColumn:
    """bool[rows]: whether the node has any zone or region label."""
    found = np.zeros(len(nodes), np.bool_)
    for key in _KEYS:
        found |= nodes.label_ids(key) != 0
    return found


def after_class_added(pod: Pod, old: Any, new: StorageClass) -> QueueingHint:
    """Only a class that waits for the first consumer lets a claim without a volume pass."""
    return _queue_if(new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER)


def after_claim_change(
    pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
) -> QueueingHint:
    """The claim is one that the pod's volumes name."""
    mine = new.metadata.namespace == pod.metadata.namespace
    return _queue_if(mine and new.metadata.name in named_claims(pod))


def after_volume_change(pod: Pod, old: PersistentVolume | None, new: PersistentVolume) -> QueueingHint:
    """A volume appeared, or its zones changed."""
    return _queue_if(old is None or topologies_of(old) != topologies_of(new))


def _queue_if(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
