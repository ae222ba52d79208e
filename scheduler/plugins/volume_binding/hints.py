"""Which changes may help a pod that VolumeBinding refused.

Upstream: the queueing hints of ``volume_binding.go``.
"""

from __future__ import annotations

from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
)
from scheduler.framework.events import QueueingHint
from scheduler.plugins.helper.claims import claims_of
from scheduler.plugins.volume_binding.dynamic import volume_limit
from scheduler.plugins.volume_binding.migration import MIGRATED_PLUGINS


def _hint(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP


def after_class_change(pod: Pod, old: StorageClass | None, new: StorageClass) -> QueueingHint:
    """A new class, or other topologies allowed; when it binds cannot change."""
    return _hint(old is None or old.allowed_topologies != new.allowed_topologies)


def after_claim_change(
    pod: Pod, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim
) -> QueueingHint:
    """One of the pod's claims."""
    same_namespace = new.metadata.namespace == pod.metadata.namespace
    return _hint(same_namespace and any(claim.name == new.metadata.name for claim in claims_of(pod)))


def after_csi_node_change(pod: Pod, old: CSINode | None, new: CSINode) -> QueueingHint:
    """A node's CSI drivers became known, or took over other in-tree plugins."""
    return _hint(old is None or _migrated(old) != _migrated(new))


def after_csi_driver_change(pod: Pod, old: CSIDriver, new: CSIDriver) -> QueueingHint:
    """The driver of one of the pod's inline volumes does not publish its capacity any more."""
    used = any(
        volume.csi is not None and volume.csi.driver == new.metadata.name for volume in pod.spec.volumes
    )
    return _hint(used and bool(old.spec.storage_capacity) and not new.spec.storage_capacity)


def after_capacity_change(pod: Pod, old: CSIStorageCapacity | None, new: CSIStorageCapacity) -> QueueingHint:
    """There is room for larger volumes than before."""
    if old is None:
        return QueueingHint.QUEUE
    before, after = volume_limit(old), volume_limit(new)
    return _hint(after is not None and (before is None or after > before))


def _migrated(node: CSINode) -> str:
    return node.metadata.annotations.get(MIGRATED_PLUGINS, "")
