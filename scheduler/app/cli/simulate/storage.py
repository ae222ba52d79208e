"""What volume controllers would do about what the scheduler writes, at once: bind a volume to its claim, provision one near a node.

Pure functions over the typed objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from scheduler.apis.objects import (
    CSINode,
    CSIVolume,
    LabelSelectorRequirement,
    Node,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    StorageClass,
    TypedReference,
    VolumeNodeAffinity,
    convert,
)

_BIND_COMPLETED = "pv.kubernetes.io/bind-completed"
T = TypeVar("T", bound=msgspec.Struct)


def merged(obj: T, patch: Mapping[str, Any]) -> T:
    """The object after a JSON merge patch."""
    return convert(type(obj), _merge(msgspec.to_builtins(obj), patch))


def _merge(target: Any, patch: Any) -> Any:
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value)
    return result


def bound(claim: PersistentVolumeClaim, volume: PersistentVolume) -> PersistentVolumeClaim:
    """The claim, bound to the volume."""
    annotations = {**claim.metadata.annotations, _BIND_COMPLETED: "yes"}
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=volume.metadata.name),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )


def provisioned(
    claim: PersistentVolumeClaim, storage: StorageClass, node: Node, csi_node: CSINode | None
) -> PersistentVolume:
    """The volume that a provisioner would make for the claim, in reach of the node: bound to the claim, as large as it asks for."""
    meta = claim.metadata
    name = f"pvc-{meta.uid or f'{meta.namespace}-{meta.name}'}"
    requests = claim.spec.resources.requests
    return PersistentVolume(
        metadata=ObjectMeta(name=name, uid=f"PersistentVolume//{name}"),
        spec=PersistentVolumeSpec(
            capacity={"storage": requests.get("storage", 0)},
            access_modes=claim.spec.access_modes,
            claim_ref=TypedReference(
                kind="PersistentVolumeClaim", namespace=meta.namespace, name=meta.name, uid=meta.uid
            ),
            storage_class_name=claim.spec.storage_class_name or "",
            volume_mode=claim.spec.volume_mode,
            node_affinity=_reach(storage.provisioner, node, csi_node),
            csi=CSIVolume(driver=storage.provisioner, volume_handle=name),
        ),
        status=PersistentVolumeStatus(phase="Bound"),
    )


def _reach(provisioner: str, node: Node, csi_node: CSINode | None) -> VolumeNodeAffinity | None:
    """Nodes that are like this one in the driver's topology; None: every node."""
    drivers = csi_node.spec.drivers if csi_node else ()
    keys = next((one.topology_keys for one in drivers if one.name == provisioner), ())
    labels = node.metadata.labels
    expressions = tuple(
        LabelSelectorRequirement(key=key, operator="In", values=(labels[key],))
        for key in keys
        if key in labels
    )
    if not expressions:
        return None
    return VolumeNodeAffinity(required=NodeSelector((NodeSelectorTerm(match_expressions=expressions),)))
