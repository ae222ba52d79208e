"""Claims, volumes, classes and CSINodes for tests in one line each, and a cluster's catalog of them."""

from __future__ import annotations

from typing import Any

from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    convert,
)
from scheduler.framework.catalog import Catalog
from tests.builders import PodBuilder, make_pod

Document = dict[str, Any]


def catalog_of(*objects: Any) -> Catalog:
    """A catalog of these objects."""
    catalog = Catalog()
    for each in objects:
        catalog.of(type(each)).put(each)
    return catalog


def claim(name: str, volume: str = "", modes: tuple[str, ...] = (), **spec: Any) -> PersistentVolumeClaim:
    """A claim in the default namespace, bound to the volume."""
    return owned_claim(name, "", volumeName=volume, accessModes=list(modes), **spec)


def owned_claim(name: str, owner: str, **spec: Any) -> PersistentVolumeClaim:
    """A claim that the pod with this uid owns; nobody without one."""
    owners = [{"kind": "Pod", "uid": owner, "controller": True}] if owner else []
    metadata = {"name": name, "namespace": "default", "ownerReferences": owners}
    return convert(PersistentVolumeClaim, {"metadata": metadata, "spec": spec})


def volume(name: str, labels: Document | None = None, **source: Any) -> PersistentVolume:
    """A volume with this source."""
    return convert(PersistentVolume, {"metadata": {"name": name, "labels": labels or {}}, "spec": source})


def csi_volume(name: str, driver: str = "d", handle: str = "") -> PersistentVolume:
    """A CSI volume; the handle is its name unless given."""
    return volume(name, csi={"driver": driver, "volumeHandle": handle or name})


def storage_class(
    name: str, provisioner: str = "d", mode: str | None = "WaitForFirstConsumer"
) -> StorageClass:
    """A class."""
    document = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    return convert(StorageClass, document)


def csi_node(name: str, **limits: int | None) -> CSINode:
    """A node's drivers with their limits; dots of names as two underscores."""
    drivers = [
        {"name": driver.replace("__", "."), "allocatable": {"count": limit}}
        for driver, limit in limits.items()
    ]
    return convert(CSINode, {"metadata": {"name": name}, "spec": {"drivers": drivers}})


def csi_driver(name: str, **spec: Any) -> CSIDriver:
    """A driver."""
    return convert(CSIDriver, {"metadata": {"name": name}, "spec": spec})


def attachment(name: str, node: str, volume_name: str | None, attacher: str = "d") -> VolumeAttachment:
    """A volume attached to a node."""
    spec = {"attacher": attacher, "nodeName": node, "source": {"persistentVolumeName": volume_name}}
    return convert(VolumeAttachment, {"metadata": {"name": name}, "spec": spec})


def pod_with(*volumes: Document, name: str = "pod", namespace: str = "default") -> PodBuilder:
    """A pod with these volumes, named v0, v1 and so on."""
    named = [{"name": f"v{number}", **each} for number, each in enumerate(volumes)]
    return make_pod(name, namespace).spec(volumes=named)


def of_claim(name: str) -> Document:
    """A volume that names a claim."""
    return {"persistentVolumeClaim": {"claimName": name}}


EPHEMERAL: Document = {"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}
CONFIG_MAP: Document = {"configMap": {"name": "settings"}}


def ebs(volume_id: str) -> Document:
    """An EBS disk."""
    return {"awsElasticBlockStore": {"volumeID": volume_id}}


def gce(name: str, read_only: bool = False) -> Document:
    """A GCE disk."""
    return {"gcePersistentDisk": {"pdName": name, "readOnly": read_only}}


def iscsi(iqn: str, lun: int = 0, read_only: bool = False) -> Document:
    """An iSCSI disk."""
    return {"iscsi": {"targetPortal": f"10.0.0.{lun}", "iqn": iqn, "lun": lun, "readOnly": read_only}}


def rbd(monitors: str, image: str = "i", pool: str = "p", read_only: bool = False) -> Document:
    """A Ceph image with a monitor per letter."""
    return {"rbd": {"monitors": list(monitors), "image": image, "pool": pool, "readOnly": read_only}}
