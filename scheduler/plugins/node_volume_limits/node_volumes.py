"""What one node has attached, of which drivers, and how many it can attach.

Counted are the distinct volumes of the pods that are there, and the VolumeAttachments of the node that no pod there accounts
for (those of pods that left a moment ago, say). Only nodes whose CSINode limits some driver are counted at all.

Quirk: an attachment is compared with the volumes of the pods, not with those of the pod that is to be placed: a volume that is
attached but used by no pod on the node counts twice for a pod that wants it.

Upstream: ``getVolumeLimits``, ``getNodeVolumeAttachmentInfo`` and ``Filter`` in ``plugins/nodevolumelimits``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler.apis.objects import CSINode, PersistentVolume, VolumeAttachment
from scheduler.framework.catalog import Catalog
from scheduler.framework.pods import PodInfo
from scheduler.plugins.node_volume_limits.attachable import AttachedVolume, Read, attachable


@dataclass(frozen=True, slots=True)
class NodeVolumes:
    """One node's volumes.

    Attributes:
        csi_node: whether the node has a CSINode.
        drivers: the drivers that its CSINode lists.
        limits: how many volumes it can attach, by driver; drivers without a limit are left out.
        counts: how many it has attached, by driver; only where something is limited, as what follows.
        volumes: the volumes of its pods.
        fault: why the volumes of its pods cannot be told.
        reads: the objects on which this depends, besides the CSINode.
    """

    csi_node: bool = False
    drivers: frozenset[str] = frozenset()
    limits: Mapping[str, int] | None = None
    counts: Mapping[str, int] | None = None
    volumes: frozenset[AttachedVolume] = frozenset()
    fault: str | None = None
    reads: frozenset[Read] = frozenset()

    def room(self, driver: str) -> int | None:
        """How many more volumes of the driver fit, negative on an overfull node; None without a limit."""
        limit = (self.limits or {}).get(driver)
        return None if limit is None else limit - (self.counts or {}).get(driver, 0)


NOTHING: Final = NodeVolumes()
"""A node without a CSINode."""


def volumes_of_node(name: str, pods: Sequence[PodInfo], catalog: Catalog) -> NodeVolumes:
    """Look a node up, and its pods' claims."""
    csi_node = catalog.csi_nodes.get(name)
    if csi_node is None:
        return NOTHING
    drivers = frozenset(driver.name for driver in csi_node.spec.drivers)
    limits = _limits(csi_node)
    if not limits:
        return NodeVolumes(True, drivers)
    volumes: set[AttachedVolume] = set()
    reads: set[Read] = set()
    for pod in pods:
        if not pod.pod.spec.volumes:
            continue
        found = attachable(pod.pod, catalog, csi_node=True, new=False)
        reads |= found.reads
        if found.fault is not None:
            return NodeVolumes(True, drivers, limits, fault=found.fault.message, reads=frozenset(reads))
        volumes |= found.volumes
    attached = _attached(name, catalog, reads)
    counts = Counter(volume[0] for volume in volumes | attached)
    return NodeVolumes(True, drivers, limits, counts, frozenset(volumes), reads=frozenset(reads))


def _limits(csi_node: CSINode) -> Mapping[str, int]:
    return {
        driver.name: driver.allocatable.count
        for driver in csi_node.spec.drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }


def _attached(name: str, catalog: Catalog, reads: set[Read]) -> set[AttachedVolume]:
    """The volumes that VolumeAttachments tell of, as far as they lead to a CSI volume."""
    attached: set[AttachedVolume] = set()
    for attachment in catalog.volume_attachments.by(_node_of, name):
        reads.add((VolumeAttachment, "", attachment.metadata.name))
        volume_name = attachment.spec.source.persistent_volume_name
        if not attachment.spec.attacher or volume_name is None:
            continue
        reads.add((PersistentVolume, "", volume_name))
        volume = catalog.persistent_volumes.get(volume_name)
        if volume is not None and volume.spec.csi is not None:
            attached.add((attachment.spec.attacher, volume.spec.csi.volume_handle))
    return attached


def _node_of(attachment: VolumeAttachment) -> Iterable[str]:
    return (attachment.spec.node_name,)
