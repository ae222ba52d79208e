"""Volume sources and claims: what a pod's volume and a PersistentVolume have in common."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Int32, LabelSelector, ObjectMeta
from scheduler.apis.objects.resources import ResourceRequirements


class TypedReference(Base, frozen=True):
    """Another object, by kind and name; ``uid`` tells it from an earlier one of that name."""

    api_group: str = ""
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""


class PersistentVolumeClaimSpec(Base, frozen=True):
    """What is claimed; a class of None means the default class, ``""`` none at all."""

    access_modes: tuple[str, ...] = ()
    resources: ResourceRequirements = msgspec.field(default_factory=ResourceRequirements)
    selector: LabelSelector | None = None
    storage_class_name: str | None = None
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    volume_name: str = ""
    data_source: TypedReference | None = None
    data_source_ref: TypedReference | None = None


class CSIVolume(Base, frozen=True):
    """A volume of a CSI driver: driver and handle are its identity."""

    driver: str = ""
    volume_handle: str = ""
    read_only: bool = False


class GCEPersistentDisk(Base, frozen=True):
    """An in-tree volume of Google's cloud."""

    pd_name: str = ""
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AWSElasticBlockStore(Base, frozen=True):
    """An in-tree volume of Amazon's cloud."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    fs_type: str = ""
    partition: Int32 = 0
    read_only: bool = False


class AzureDisk(Base, frozen=True):
    """An in-tree disk of Microsoft's cloud."""

    disk_name: str = ""
    disk_uri: str = msgspec.field(default="", name="diskURI")
    kind: str | None = None


class AzureFile(Base, frozen=True):
    """An in-tree file share of Microsoft's cloud."""

    share_name: str = ""
    secret_name: str = ""
    secret_namespace: str | None = None
    read_only: bool = False


class Cinder(Base, frozen=True):
    """An in-tree volume of OpenStack."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class VsphereVolume(Base, frozen=True):
    """An in-tree volume of vSphere."""

    volume_path: str = ""


class PortworxVolume(Base, frozen=True):
    """An in-tree volume of Portworx."""

    volume_id: str = msgspec.field(default="", name="volumeID")
    read_only: bool = False


class RBDVolume(Base, frozen=True):
    """An in-tree Ceph block device. In a PersistentVolume the monitors have the same spelling."""

    monitors: tuple[str, ...] = ()
    image: str = ""
    pool: str = ""
    read_only: bool = False


class ISCSIVolume(Base, frozen=True):
    """An in-tree iSCSI disk."""

    target_portal: str = ""
    iqn: str = ""
    lun: Int32 = 0
    read_only: bool = False


class ClaimSource(Base, frozen=True):
    """A volume that is whatever the claim of that name is bound to."""

    claim_name: str = ""
    read_only: bool = False


class ClaimTemplate(Base, frozen=True):
    """The claim that is made for an ephemeral volume."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)


class EphemeralVolume(Base, frozen=True):
    """A volume whose claim is made with the pod, is named after it and goes with it."""

    volume_claim_template: ClaimTemplate | None = None


class ImageVolume(Base, frozen=True):
    """A volume made of an image; ``reference`` names the image as a container does."""

    reference: str = ""


class InlineCSIVolume(Base, frozen=True):
    """A volume that a CSI driver makes for the pod alone."""

    driver: str = ""


class InTreeSources(Base, frozen=True):
    """The kinds of storage that Kubernetes itself knew before CSI; a pod's volume and a PersistentVolume name at most one."""

    gce_persistent_disk: GCEPersistentDisk | None = None
    aws_elastic_block_store: AWSElasticBlockStore | None = None
    azure_disk: AzureDisk | None = None
    azure_file: AzureFile | None = None
    cinder: Cinder | None = None
    vsphere_volume: VsphereVolume | None = None
    portworx_volume: PortworxVolume | None = None
    rbd: RBDVolume | None = None
    iscsi: ISCSIVolume | None = None


class Volume(InTreeSources, frozen=True):
    """A volume of the pod; the sources that scheduling does not read are left out."""

    name: str = ""
    persistent_volume_claim: ClaimSource | None = None
    ephemeral: EphemeralVolume | None = None
    image: ImageVolume | None = None
    csi: InlineCSIVolume | None = None
