"""In-tree volumes and the CSI drivers that serve them now.

The plugins that once were part of Kubernetes are gone; volumes that still name them are served by a CSI driver, under a handle
that is made of the old source. Whoever counts or matches volumes by driver and handle asks here.

Quirks: of the seven plugins five count as migrated on every node with a CSINode, whatever its annotation says; Azure Files and
vSphere never do. A disk of Google's cloud is one volume when spelled out in a pod, and another behind a PersistentVolume with
a zone.

Upstream: ``csi-translation-lib``, ``plugins/nodevolumelimits/utils.go``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from scheduler.apis.objects import (
    AWSElasticBlockStore,
    AzureDisk,
    InTreeSources,
    PersistentVolume,
    Volume,
)

IN_TREE_DRIVERS: Final = {
    "kubernetes.io/aws-ebs": "ebs.csi.aws.com",
    "kubernetes.io/azure-disk": "disk.csi.azure.com",
    "kubernetes.io/azure-file": "file.csi.azure.com",
    "kubernetes.io/cinder": "cinder.csi.openstack.org",
    "kubernetes.io/gce-pd": "pd.csi.storage.gke.io",
    "kubernetes.io/portworx-volume": "pxd.portworx.com",
    "kubernetes.io/vsphere-volume": "csi.vsphere.vmware.com",
}
"""The CSI driver that replaced each in-tree plugin; provisioners of classes have the plugins' names."""

ALWAYS_MIGRATED: Final = IN_TREE_DRIVERS.keys() - {"kubernetes.io/azure-file", "kubernetes.io/vsphere-volume"}
"""The plugins whose volumes count for their driver on every node that has a CSINode."""

_BETA_ZONE: Final = "failure-domain.beta.kubernetes.io/zone"
_ZONE: Final = "topology.kubernetes.io/zone"
_AWS_SCHEME: Final = "aws://"
_AWS_VOLUME: Final = re.compile(r"vol-[^/]*")
_UNSPECIFIED: Final = "UNSPECIFIED"


class CSISource(NamedTuple):
    """A volume as CSI knows it."""

    driver: str
    handle: str


@dataclass(frozen=True, slots=True)
class Untranslatable:
    """Why the source of a volume cannot be read."""

    message: str


def in_tree_plugin(source: InTreeSources) -> str | None:
    """The in-tree plugin that a pod's volume or a PersistentVolume names, None when it names none."""
    sources = (
        (source.gce_persistent_disk, "kubernetes.io/gce-pd"),
        (source.aws_elastic_block_store, "kubernetes.io/aws-ebs"),
        (source.cinder, "kubernetes.io/cinder"),
        (source.azure_disk, "kubernetes.io/azure-disk"),
        (source.azure_file, "kubernetes.io/azure-file"),
        (source.vsphere_volume, "kubernetes.io/vsphere-volume"),
        (source.portworx_volume, "kubernetes.io/portworx-volume"),
    )
    return next((plugin for found, plugin in sources if found is not None), None)


def translated_inline(volume: Volume) -> CSISource | Untranslatable | None:
    """The CSI volume that a pod's own in-tree volume is; None unless its plugin is one of ``ALWAYS_MIGRATED``."""
    if (gce := volume.gce_persistent_disk) is not None:
        return _gce("zones", _UNSPECIFIED, gce.pd_name)
    return _translated(volume)


def translated(volume: PersistentVolume) -> CSISource | Untranslatable | None:
    """The CSI volume that an in-tree PersistentVolume is; None unless its plugin is one of ``ALWAYS_MIGRATED``."""
    gce = volume.spec.gce_persistent_disk
    if gce is None:
        return _translated(volume.spec)
    labels = volume.metadata.labels
    zones = (labels.get(_BETA_ZONE) or labels.get(_ZONE, "")).split("__")
    if len(zones) == 1:
        return _gce("zones", zones[0] or _UNSPECIFIED, gce.pd_name)
    regions = {_region_of(zone) for zone in zones}
    region = regions.pop()
    if region is None or regions:
        return Untranslatable("failed to get region from zones")
    return _gce("regions", region, gce.pd_name)


def _translated(source: InTreeSources) -> CSISource | Untranslatable | None:
    if (ebs := source.aws_elastic_block_store) is not None:
        return _aws(ebs)
    if (cinder := source.cinder) is not None:
        return CSISource("cinder.csi.openstack.org", cinder.volume_id)
    if (azure := source.azure_disk) is not None:
        return _azure(azure)
    if (portworx := source.portworx_volume) is not None:
        return CSISource("pxd.portworx.com", portworx.volume_id)
    return None


def _gce(kind: str, place: str, name: str) -> CSISource:
    return CSISource("pd.csi.storage.gke.io", f"projects/{_UNSPECIFIED}/{kind}/{place}/disks/{name}")


def _region_of(zone: str) -> str | None:
    parts = zone.split("-")
    return "-".join(parts[:2]) if len(parts) == 3 else None


def _azure(disk: AzureDisk) -> CSISource | Untranslatable:
    if disk.kind is not None and disk.kind.lower() != "managed":
        return Untranslatable(f"kind({disk.kind}) is not supported in csi migration")
    return CSISource("disk.csi.azure.com", disk.disk_uri)


def _aws(disk: AWSElasticBlockStore) -> CSISource | Untranslatable:
    """``aws://ZONE/vol-1``, ``aws:///vol-1`` and ``vol-1`` are one volume; what is no URL is taken as it is."""
    name = disk.volume_id
    if name.startswith(_AWS_SCHEME):
        name = _path_of(name).strip("/")
        if not _AWS_VOLUME.fullmatch(name):
            problem = f"Invalid format for AWS volume ({disk.volume_id})"
            return Untranslatable(f"failed to translate Kubernetes ID to EBS Volume ID {problem}")
    return CSISource("ebs.csi.aws.com", name)


def _path_of(url: str) -> str:
    try:
        return unquote(urlsplit(url).path)
    except ValueError:
        return ""
