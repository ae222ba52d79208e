"""Which claims a pod's volumes refer to, and what is asked of a claim by more than one plugin.

A volume refers to a claim by its name, or it is a generic ephemeral volume: then its claim is made for the pod, is called
``POD-VOLUME`` and is owned by the pod. A claim of that name that somebody else made does not count as the volume's.

::

    volumes:                                claims_of(pod)
    - name: data                            ClaimReference("data", "orders", ephemeral=False)
      persistentVolumeClaim: {claimName: orders}
    - name: tmp                             ClaimReference("tmp", "POD-tmp", ephemeral=True)
      ephemeral: {...}
    - name: config                          (no claim)
      configMap: {...}

Upstream: ``component-helpers/storage/ephemeral``, ``component-helpers/storage/volume``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from scheduler.apis.objects import ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod, Volume
from scheduler.framework.pods import PodInfo

CLASS_ANNOTATION: Final = "volume.beta.kubernetes.io/storage-class"
"""The annotation that named the class of a claim or volume before there was a field; it still wins over the field."""

WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
"""The volume binding mode of a class whose claims are bound only once a pod has a node."""


class ClaimReference(NamedTuple):
    """A volume of a pod, and the claim in the pod's namespace that it refers to; the claim's name may be empty."""

    volume: str
    name: str
    ephemeral: bool


def claim_of(pod: Pod, volume: Volume) -> ClaimReference | None:
    """The claim that one volume of the pod refers to; None for a volume of another kind."""
    if volume.persistent_volume_claim is not None:
        return ClaimReference(volume.name, volume.persistent_volume_claim.claim_name, False)
    if volume.ephemeral is not None:
        return ClaimReference(volume.name, f"{pod.metadata.name}-{volume.name}", True)
    return None


def claims_of(pod: Pod) -> tuple[ClaimReference, ...]:
    """The claims of the pod's volumes, in the order of the volumes; a claim that two volumes name is there twice."""
    claims = (claim_of(pod, volume) for volume in pod.spec.volumes)
    return tuple(claim for claim in claims if claim is not None)


def named_claims(pod: Pod) -> tuple[str, ...]:
    """The names of the claims that the volumes name themselves, ephemeral volumes left out, in the order of the volumes."""
    return tuple(claim.name for claim in claims_of(pod) if not claim.ephemeral)


def claims_in_use(pod: PodInfo) -> Iterable[tuple[str, str]]:
    """(namespace, name) of each claim that a volume names itself, for ``Nodes.pods_by`` (upstream: ``PVCRefCounts``)."""
    if not pod.pod.spec.volumes:
        return ()
    namespace = pod.pod.metadata.namespace
    return [(namespace, name) for name in pod.derived(named_claims)]


def class_of(claim: PersistentVolumeClaim) -> str:
    """The name of the claim's storage class, empty for none (upstream: ``GetPersistentVolumeClaimClass``)."""
    annotated = claim.metadata.annotations.get(CLASS_ANNOTATION)
    return (claim.spec.storage_class_name or "") if annotated is None else annotated


def class_of_volume(volume: PersistentVolume) -> str:
    """The name of the volume's storage class, empty for none (upstream: ``GetPersistentVolumeClass``)."""
    annotated = volume.metadata.annotations.get(CLASS_ANNOTATION)
    return volume.spec.storage_class_name if annotated is None else annotated


def ownership_fault(pod: Pod, claim: PersistentVolumeClaim) -> str | None:
    """What is wrong when the claim of an ephemeral volume was not made for the pod (upstream: ``VolumeIsForPod``)."""
    meta = claim.metadata
    if meta.namespace == pod.metadata.namespace and _controller_uid(meta) == pod.metadata.uid:
        return None
    return f"PVC {meta.namespace}/{meta.name} was not created for pod {pod.full_name} (pod is not owner)"


def claim_not_found(name: str) -> str:
    """The API machinery's words for a claim that does not exist."""
    return f'persistentvolumeclaim "{name}" not found'


def volume_not_found(name: str) -> str:
    """The API machinery's words for a PersistentVolume that does not exist."""
    return f'persistentvolume "{name}" not found'


def class_not_found(name: str) -> str:
    """The API machinery's words for a storage class that does not exist."""
    return f'storageclass.storage.k8s.io "{name}" not found'


def _controller_uid(meta: ObjectMeta) -> str | None:
    return next((owner.uid for owner in meta.owner_references if owner.controller), None)
