"""What a choice changes: the volume gets its claim, the claim gets its node. Each as the object to come, and as the patch that makes it so.

A patch carries the resource version of the object that was looked at: the API server refuses it when somebody was faster.

Upstream: ``GetBindVolumeToClaim``, ``AssumePodVolumes``.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from scheduler.apis.objects import ObjectMeta, PersistentVolume, PersistentVolumeClaim, TypedReference
from scheduler.plugins.volume_binding.placement import SELECTED_NODE, StaticBinding
from scheduler.plugins.volume_binding.static import reserved_for

BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
"""The annotation of a volume whose claim was chosen by a program, not by a person."""

Patch = dict[str, Any]


def bound_volume(pair: StaticBinding) -> PersistentVolume:
    """The volume with its claim; the very same object when it has it already."""
    volume, claim = pair
    annotations = volume.metadata.annotations
    if not reserved_for(volume, claim) and BOUND_BY_CONTROLLER not in annotations:
        annotations = {**annotations, BOUND_BY_CONTROLLER: "yes"}
    elif _refers_to(volume.spec.claim_ref, claim):
        return volume
    return msgspec.structs.replace(
        volume,
        metadata=msgspec.structs.replace(volume.metadata, annotations=annotations),
        spec=msgspec.structs.replace(volume.spec, claim_ref=_reference(claim)),
    )


def volume_patch(pair: StaticBinding) -> Patch:
    """The merge patch that makes the volume what ``bound_volume`` says; with the version alone when that changes nothing."""
    before, after = pair.volume, bound_volume(pair)
    patch = _patch(before.metadata)
    if after is before:
        return patch
    if after.metadata.annotations != before.metadata.annotations:
        patch["metadata"]["annotations"] = {BOUND_BY_CONTROLLER: "yes"}
    meta = pair.claim.metadata
    patch["spec"] = {
        "claimRef": {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "namespace": meta.namespace,
            "name": meta.name,
            "uid": meta.uid,
            "resourceVersion": meta.resource_version,
            "fieldPath": None,
        }
    }
    return patch


def claim_with_node(claim: PersistentVolumeClaim, node: str) -> PersistentVolumeClaim:
    """The claim, to be provisioned near the node."""
    annotations = {**claim.metadata.annotations, SELECTED_NODE: node}
    return msgspec.structs.replace(
        claim, metadata=msgspec.structs.replace(claim.metadata, annotations=annotations)
    )


def claim_patch(claim: PersistentVolumeClaim, node: str) -> Patch:
    """The merge patch that makes the claim what ``claim_with_node`` says."""
    patch = _patch(claim.metadata)
    patch["metadata"]["annotations"] = {SELECTED_NODE: node}
    return patch


def _patch(meta: ObjectMeta) -> Patch:
    return {"metadata": {"resourceVersion": meta.resource_version}}


def _refers_to(reference: TypedReference | None, claim: PersistentVolumeClaim) -> bool:
    meta = claim.metadata
    return reference is not None and (reference.namespace, reference.name, reference.uid) == (
        meta.namespace,
        meta.name,
        meta.uid,
    )


def _reference(claim: PersistentVolumeClaim) -> TypedReference:
    meta = claim.metadata
    return TypedReference(
        kind="PersistentVolumeClaim", namespace=meta.namespace, name=meta.name, uid=meta.uid
    )
