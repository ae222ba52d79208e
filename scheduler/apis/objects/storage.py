"""Volumes, claims, classes, and what CSI drivers say of nodes and capacity: what a scheduler reads of them."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Int32, LabelSelector, NodeSelector, ObjectMeta
from scheduler.apis.objects.resources import QuantityText, ResourceList
from scheduler.apis.objects.volumes import (
    CSIVolume,
    InTreeSources,
    PersistentVolumeClaimSpec,
    TypedReference,
)


class PersistentVolumeClaimStatus(Base, frozen=True):
    """``status``: ``Pending``, ``Bound`` or ``Lost``."""

    phase: str = ""


class PersistentVolumeClaim(Base, frozen=True):
    """A claim for storage."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeClaimSpec = msgspec.field(default_factory=PersistentVolumeClaimSpec)
    status: PersistentVolumeClaimStatus = msgspec.field(default_factory=PersistentVolumeClaimStatus)


class VolumeNodeAffinity(Base, frozen=True):
    """From which nodes a volume can be reached."""

    required: NodeSelector | None = None


class PersistentVolumeSpec(InTreeSources, frozen=True):
    """What a volume is, and who claims it."""

    capacity: ResourceList = {}
    access_modes: tuple[str, ...] = ()
    claim_ref: TypedReference | None = None
    storage_class_name: str = ""
    volume_attributes_class_name: str | None = None
    volume_mode: str | None = None
    node_affinity: VolumeNodeAffinity | None = None
    csi: CSIVolume | None = None


class PersistentVolumeStatus(Base, frozen=True):
    """``status``: ``Available``, ``Bound``, ``Released``, …"""

    phase: str = ""


class PersistentVolume(Base, frozen=True):
    """A piece of storage."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PersistentVolumeSpec = msgspec.field(default_factory=PersistentVolumeSpec)
    status: PersistentVolumeStatus = msgspec.field(default_factory=PersistentVolumeStatus)


class TopologySelectorLabelRequirement(Base, frozen=True):
    """A label with one of these values."""

    key: str = ""
    values: tuple[str, ...] = ()


class TopologySelectorTerm(Base, frozen=True):
    """All requirements must hold; terms are alternatives."""

    match_label_expressions: tuple[TopologySelectorLabelRequirement, ...] = ()


class StorageClass(Base, frozen=True):
    """How volumes are provisioned; ``volume_binding_mode`` None means Immediate."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    provisioner: str = ""
    volume_binding_mode: str | None = None
    allowed_topologies: tuple[TopologySelectorTerm, ...] = ()


class VolumeNodeResources(Base, frozen=True):
    """How many volumes of a driver the node can hold; None: no limit."""

    count: Int32 | None = None


class CSINodeDriver(Base, frozen=True):
    """A CSI driver that runs on a node."""

    name: str = ""
    node_id: str = msgspec.field(default="", name="nodeID")
    topology_keys: tuple[str, ...] = ()
    allocatable: VolumeNodeResources | None = None


class CSINodeSpec(Base, frozen=True):
    """The drivers of the node."""

    drivers: tuple[CSINodeDriver, ...] = ()


class CSINode(Base, frozen=True):
    """What CSI drivers say of the node of the same name."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: CSINodeSpec = msgspec.field(default_factory=CSINodeSpec)


class CSIDriverSpec(Base, frozen=True):
    """What the driver wants of Kubernetes; None where it does not say."""

    attach_required: bool | None = None
    storage_capacity: bool | None = None
    prevent_pod_scheduling_if_missing: bool | None = None


class CSIDriver(Base, frozen=True):
    """A CSI driver of the cluster."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: CSIDriverSpec = msgspec.field(default_factory=CSIDriverSpec)


class CSIStorageCapacity(Base, frozen=True):
    """How much storage of a class there is for the nodes that ``node_topology`` selects."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    storage_class_name: str = ""
    node_topology: LabelSelector | None = None
    capacity: QuantityText | None = None
    maximum_volume_size: QuantityText | None = None


class VolumeAttachmentSource(Base, frozen=True):
    """The attached volume: by the name of its PersistentVolume, or spelled out."""

    persistent_volume_name: str | None = None
    inline_volume_spec: PersistentVolumeSpec | None = None


class VolumeAttachmentSpec(Base, frozen=True):
    """Which volume is attached where, and by which driver."""

    attacher: str = ""
    node_name: str = ""
    source: VolumeAttachmentSource = msgspec.field(default_factory=VolumeAttachmentSource)


class VolumeAttachmentStatus(Base, frozen=True):
    """Whether it is attached by now."""

    attached: bool = False


class VolumeAttachment(Base, frozen=True):
    """A volume attached to a node, or about to be."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: VolumeAttachmentSpec = msgspec.field(default_factory=VolumeAttachmentSpec)
    status: VolumeAttachmentStatus = msgspec.field(default_factory=VolumeAttachmentStatus)
