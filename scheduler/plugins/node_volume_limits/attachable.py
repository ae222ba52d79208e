"""Which volumes of CSI drivers a pod attaches to its node.

::

    volume of the pod ──> claim ──> volume name? ──> PersistentVolume: driver and handle
            │                            │ none, or the volume is gone
            │                            └──> class: its provisioner, and the claim in the place of a handle
            └──> an in-tree disk: the driver that replaced its plugin, and the handle made of the source

A volume counts once, however many pods and claims lead to it. In-tree disks count only on nodes that have a CSINode, so a pod
that has them attaches one set of volumes there and another elsewhere. What leads to no driver is not counted.

Upstream: ``filterAttachableVolumes``, ``getCSIDriverInfo``, ``checkAttachableInlineVolume`` in ``plugins/nodevolumelimits``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, Volume
from scheduler.framework.catalog import Catalog
from scheduler.framework.rejections import Reason
from scheduler.framework.status import Code
from scheduler.plugins.helper.claims import (
    ClaimReference,
    claim_not_found,
    claim_of,
    class_of,
    ownership_fault,
)
from scheduler.plugins.helper.csi_translation import (
    ALWAYS_MIGRATED,
    IN_TREE_DRIVERS,
    CSISource,
    Untranslatable,
    translated,
    translated_inline,
)

CLAIM_WITHOUT_NAME: Final = "PersistentVolumeClaim had no name"

AttachedVolume = tuple[str, ...]
"""The driver, then the handle; namespace and name of the claim while the volume is not there, which is no handle's length."""

Read = tuple[type[Any], str, str]
"""An object that was looked up, found or not: its kind, namespace and name."""


@dataclass(slots=True)
class Attachable:
    """What a pod attaches.

    Attributes:
        volumes: the distinct volumes.
        reads: the objects on which this depends.
        fault: why the volumes cannot be told; then the others mean nothing.
    """

    volumes: set[AttachedVolume] = field(default_factory=set)
    reads: set[Read] = field(default_factory=set)
    fault: Reason | None = None


def attachable(pod: Pod, catalog: Catalog, *, csi_node: bool, new: bool) -> Attachable:
    """What a pod attaches to a node.

    Args:
        pod: the pod.
        catalog: where its claims are looked up.
        csi_node: whether the node has a CSINode: if so, in-tree disks count for their drivers.
        new: whether the pod is to be placed; one that runs is forgiven a missing claim.
    """
    found = Attachable()
    for volume in pod.spec.volumes:
        reference = claim_of(pod, volume)
        if reference is not None:
            found.fault = _add_claim(found, pod, reference, catalog, csi_node, new)
        elif csi_node:
            found.fault = _add_inline(found, volume)
        if found.fault is not None:
            break
    return found


def _add_inline(found: Attachable, volume: Volume) -> Reason | None:
    source = translated_inline(volume)
    if isinstance(source, Untranslatable):
        return Reason(f"converting volume({volume.name}) from inline to csi: {source.message}", Code.ERROR)
    if source is not None:
        found.volumes.add(source)
    return None


def _add_claim(
    found: Attachable, pod: Pod, reference: ClaimReference, catalog: Catalog, csi_node: bool, new: bool
) -> Reason | None:
    name, namespace = reference.name, pod.metadata.namespace
    if not name:
        return Reason(CLAIM_WITHOUT_NAME, Code.ERROR)
    found.reads.add((PersistentVolumeClaim, namespace, name))
    claim = catalog.persistent_volume_claims.get(name, namespace)
    if claim is None:
        message = f"looking up PVC {namespace}/{name}: {claim_not_found(name)}"
        return Reason(message, Code.UNSCHEDULABLE_AND_UNRESOLVABLE) if new else None
    fault = ownership_fault(pod, claim) if reference.ephemeral else None
    if fault is not None:
        return Reason(fault, Code.ERROR)
    volume = _volume_of(claim, catalog, csi_node, found.reads)
    if volume is not None and all(volume):
        found.volumes.add(volume)
    return None


def _volume_of(
    claim: PersistentVolumeClaim, catalog: Catalog, csi_node: bool, reads: set[Read]
) -> AttachedVolume | None:
    """The volume behind a claim, or the one that its class will make."""
    name = claim.spec.volume_name
    if not name:
        return _volume_to_come(claim, catalog, csi_node, reads)
    reads.add((PersistentVolume, "", name))
    volume = catalog.persistent_volumes.get(name)
    if volume is None:
        return _volume_to_come(claim, catalog, csi_node, reads)
    if volume.spec.csi is not None:
        return CSISource(volume.spec.csi.driver, volume.spec.csi.volume_handle)
    source = translated(volume) if csi_node else None
    return None if isinstance(source, Untranslatable) else source


def _volume_to_come(
    claim: PersistentVolumeClaim, catalog: Catalog, csi_node: bool, reads: set[Read]
) -> AttachedVolume | None:
    """What the claim's class will provision; nothing without a class, since such a claim is bound before its pod is placed."""
    name = class_of(claim)
    if not name:
        return None
    reads.add((StorageClass, "", name))
    storage_class = catalog.storage_classes.get(name)
    if storage_class is None:
        return None
    driver = storage_class.provisioner
    if driver in IN_TREE_DRIVERS:
        if not csi_node or driver not in ALWAYS_MIGRATED:
            return None
        driver = IN_TREE_DRIVERS[driver]
    return driver, claim.metadata.namespace, claim.metadata.name
