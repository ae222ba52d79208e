"""Which in-tree disks a pod mounts by itself, without a claim, and with which it cannot share a node.

==================  ==========================================  ================================================
disk                the same disk                               two pods on one node
==================  ==========================================  ================================================
GCE persistent      same name                                   only if both mount it read-only
Amazon EBS          same volume id                              never
iSCSI               same IQN, whatever its portal and LUN       only if both mount it read-only
Ceph RBD            same pool and image, a monitor in common    only if both mount it read-only
==================  ==========================================  ================================================

An RBD image is entered once per monitor, so that one in common is found by equality.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from scheduler.apis.objects import Pod, Volume
from scheduler.framework.pods import PodInfo


class Disk(NamedTuple):
    """A mount of a disk: what tells the disk from others, and whether only to read. EBS knows no reading together."""

    kind: str
    identity: tuple[str, ...]
    read_only: bool


def mounts_disks(pod: Pod) -> bool:
    """Whether a volume of the pod is a disk of one of the four kinds (upstream: ``needsRestrictionsCheck``)."""
    return any(
        volume.gce_persistent_disk or volume.aws_elastic_block_store or volume.rbd or volume.iscsi
        for volume in pod.spec.volumes
    )


def disks(pod: Pod) -> frozenset[Disk]:
    """The disks that the pod mounts."""
    return frozenset(disk for volume in pod.spec.volumes for disk in _disks(volume))


def rivals(pod: Pod) -> frozenset[Disk]:
    """The mounts beside which the pod cannot run (upstream: ``isVolumeConflict``)."""
    mounted = disks(pod)
    writing = {disk._replace(read_only=False) for disk in mounted}
    reading = {disk._replace(read_only=True) for disk in mounted if not disk.read_only}
    return frozenset(writing | reading)


def disks_in_use(pod: PodInfo) -> Iterable[Disk]:
    """The disks that the pod mounts, for ``Nodes.pods_by``."""
    return pod.derived(disks) if pod.pod.spec.volumes else ()


def _disks(volume: Volume) -> Iterator[Disk]:
    if (gce := volume.gce_persistent_disk) is not None:
        yield Disk("gce", (gce.pd_name,), gce.read_only)
    if (ebs := volume.aws_elastic_block_store) is not None:
        yield Disk("ebs", (ebs.volume_id,), False)
    if (iscsi := volume.iscsi) is not None:
        yield Disk("iscsi", (iscsi.iqn,), iscsi.read_only)
    if (rbd := volume.rbd) is not None:
        for monitor in rbd.monitors:
            yield Disk("rbd", (monitor, rbd.pool, rbd.image), rbd.read_only)
