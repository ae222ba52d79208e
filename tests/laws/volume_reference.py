"""Volume plugins written for one node at a time, the plain way: every answer is worked out anew from the objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scheduler.apis.objects import CSINode, PersistentVolumeClaim, Pod, Volume
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.status import Status
from scheduler.plugins.helper.csi_translation import CSISource, Untranslatable, translated, translated_inline

ZONES = (
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
)


class VolumeRestrictions:
    """Disks and claims, compared pod by pod."""

    name = "VolumeRestrictions"

    def __init__(self, catalog: Catalog, whole: Nodes) -> None:
        self._catalog = catalog
        self._whole = whole

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        """A disk in use on the node, or a claim in use anywhere."""
        for mine in cycle.pod.spec.volumes:
            if any(_conflict(mine, theirs) for pod in node.pods for theirs in pod.pod.spec.volumes):
                return Status.unschedulable("node(s) had no available disk")
        if any(self._in_use(cycle.pod, name) for name in _claim_names(cycle.pod)):
            return Status.unschedulable(
                "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode"
                " already in-use by another pod"
            )
        return None

    def _in_use(self, pod: Pod, name: str) -> bool:
        claim = self._catalog.persistent_volume_claims.get(name, pod.metadata.namespace)
        if claim is None or "ReadWriteOncePod" not in claim.spec.access_modes:
            return False
        running = [other.pod for pods in self._whole.pods_by_row for other in pods]
        return any(
            name in _claim_names(other)
            for other in running
            if other.metadata.namespace == pod.metadata.namespace
        )


class VolumeZone:
    """Labels of volumes against labels of one node."""

    name = "VolumeZone"

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        """Every label of every bound volume."""
        if not any(key in node.labels for key in ZONES):
            return None
        for name in _claim_names(cycle.pod):
            claim = self._catalog.persistent_volume_claims.get(name, cycle.pod.metadata.namespace)
            assert claim is not None
            volume = self._catalog.persistent_volumes.get(claim.spec.volume_name)
            labels = {} if volume is None else volume.metadata.labels
            if not all(_within(node, key, labels[key]) for key in ZONES if key in labels):
                return Status.unresolvable("node(s) had no available volume zone")
        return None


class NodeVolumeLimits:
    """Volumes by name, counted node by node."""

    name = "NodeVolumeLimits"

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        """New volumes, limits, the volumes of running pods, attachments: in this order."""
        csi_node = self._catalog.csi_nodes.get(node.name)
        new = self._volumes(cycle.pod, csi_node, new=True)
        if isinstance(new, Status):
            return new
        limits = _limits(csi_node)
        if not new or not limits:
            return None
        running: dict[str, str] = {}
        for other in node.pods:
            theirs = self._volumes(other.pod, csi_node, new=False)
            if isinstance(theirs, Status):
                return theirs
            running.update(theirs)
        attached = Counter({**running, **self._attachments(node.name)}.values())
        coming = Counter(driver for volume, driver in new.items() if volume not in running)
        exceeded = any(
            attached[driver] + count > limits[driver] for driver, count in coming.items() if driver in limits
        )
        return Status.unschedulable("node(s) exceed max volume count") if exceeded else None

    def _attachments(self, node: str) -> dict[str, str]:
        found = {}
        for attachment in self._catalog.volume_attachments.all():
            if attachment.spec.node_name != node or not attachment.spec.attacher:
                continue
            volume = self._catalog.persistent_volumes.get(attachment.spec.source.persistent_volume_name or "")
            if volume is not None and volume.spec.csi is not None:
                handle = volume.spec.csi.volume_handle
                found[f"{attachment.spec.attacher}/{handle}"] = attachment.spec.attacher
        return found

    def _volumes(self, pod: Pod, csi_node: CSINode | None, *, new: bool) -> dict[str, str] | Status:
        found: dict[str, str] = {}
        for volume in pod.spec.volumes:
            if volume.persistent_volume_claim is None and volume.ephemeral is None:
                source = translated_inline(volume) if csi_node is not None else None
                if isinstance(source, Untranslatable):
                    why = f"converting volume({volume.name}) from inline to csi: {source.message}"
                    return Status.failure(ValueError(why))
            else:
                claim = self._claim(pod, volume, new=new)
                if isinstance(claim, Status):
                    return claim
                source = None if claim is None else self._source(claim, csi_node)
            if source is not None:
                found["/".join(source)] = source.driver
        return found

    def _claim(self, pod: Pod, volume: Volume, *, new: bool) -> PersistentVolumeClaim | Status | None:
        namespace, named = pod.metadata.namespace, volume.persistent_volume_claim
        name = f"{pod.metadata.name}-{volume.name}" if named is None else named.claim_name
        claim = self._catalog.persistent_volume_claims.get(name, namespace)
        if claim is None:
            missing = f'looking up PVC {namespace}/{name}: persistentvolumeclaim "{name}" not found'
            return Status.unresolvable(missing) if new else None
        owners = [owner.uid for owner in claim.metadata.owner_references if owner.controller]
        if named is None and owners[:1] != [pod.metadata.uid]:
            why = f"PVC {namespace}/{name} was not created for pod {pod.full_name} (pod is not owner)"
            return Status.failure(ValueError(why))
        return claim

    def _source(self, claim: PersistentVolumeClaim, csi_node: CSINode | None) -> CSISource | None:
        volume = self._catalog.persistent_volumes.get(claim.spec.volume_name)
        if volume is None:
            storage_class = self._catalog.storage_classes.get(claim.spec.storage_class_name or "")
            driver = "" if storage_class is None else storage_class.provisioner
            if driver.startswith("kubernetes.io/"):
                driver = "ebs.csi.aws.com" if csi_node is not None and driver.endswith("aws-ebs") else ""
            return CSISource(driver, f"?{claim.metadata.name}") if driver else None
        if volume.spec.csi is not None:
            csi = volume.spec.csi
            return CSISource(csi.driver, csi.volume_handle) if csi.driver and csi.volume_handle else None
        source = translated(volume) if csi_node is not None else None
        return None if isinstance(source, Untranslatable) else source


def _conflict(mine: Volume, theirs: Volume) -> bool:
    return any(_same_disk(mine, theirs))


def _same_disk(mine: Volume, theirs: Volume) -> Iterator[bool]:
    if (gce := mine.gce_persistent_disk) and (other := theirs.gce_persistent_disk):
        yield gce.pd_name == other.pd_name and not (gce.read_only and other.read_only)
    if (ebs := mine.aws_elastic_block_store) and (disk := theirs.aws_elastic_block_store):
        yield ebs.volume_id == disk.volume_id
    if (iscsi := mine.iscsi) and (target := theirs.iscsi):
        yield iscsi.iqn == target.iqn and not (iscsi.read_only and target.read_only)
    if (rbd := mine.rbd) and (image := theirs.rbd):
        same = (rbd.pool, rbd.image) == (image.pool, image.image)
        yield same and bool({*rbd.monitors} & {*image.monitors}) and not (rbd.read_only and image.read_only)


def _claim_names(pod: Pod) -> list[str]:
    named = (volume.persistent_volume_claim for volume in pod.spec.volumes)
    return [claim.claim_name for claim in named if claim is not None]


def _within(node: NodeInfo, key: str, text: str) -> bool:
    zones = [zone.strip() for zone in text.split("__")]
    here = node.labels.get(key, node.labels.get(key.replace("failure-domain.beta", "topology")))
    return "" in zones or here in zones


def _limits(csi_node: CSINode | None) -> dict[str, int]:
    drivers = () if csi_node is None else csi_node.spec.drivers
    return {
        driver.name: driver.allocatable.count
        for driver in drivers
        if driver.allocatable is not None and driver.allocatable.count is not None
    }
