"""The claims of a pod, sorted by what the scheduler has to do about them.

::

    claim ── bound (volume named, and marked as complete) ────────────> bound: its volume decides where the pod may run
      │
      ├── class waits for the first consumer, no volume named yet ────> delayed: find or have made a volume near the node
      │
      └── anything else ─────────────────────────────────────────────> immediate: the volume controller's business; the pod waits

Upstream: ``podHasPVCs``, ``GetPodVolumeClaims``, ``IsDelayBindingMode``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from scheduler.apis.objects import PersistentVolumeClaim, Pod, StorageClass
from scheduler.framework.catalog import Catalog
from scheduler.plugins.helper.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    ClaimReference,
    claim_not_found,
    claims_of,
    class_of,
    ownership_fault,
)

BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
"""The annotation of a claim whose binding the volume controller has finished."""

LookUp = Callable[[str, str], PersistentVolumeClaim | None]
"""(name, namespace) -> the claim"""


class ClassError(ValueError):
    """A storage class that does not say when to bind; the message is upstream's."""


class DelayedClaim(NamedTuple):
    """A claim that waits for a node, and its class."""

    claim: PersistentVolumeClaim
    storage_class: StorageClass


class PodClaims(NamedTuple):
    """A pod's claims, in the order of its volumes; a claim that two volumes name is there twice."""

    bound: tuple[PersistentVolumeClaim, ...] = ()
    delayed: tuple[DelayedClaim, ...] = ()
    immediate: tuple[PersistentVolumeClaim, ...] = ()


NO_CLAIMS: Final = PodClaims()


def claims_fault(pod: Pod, catalog: Catalog) -> str | None:
    """Why no node can help the pod, as long as its claims are what they are: upstream's words for the first one found."""
    for reference in claims_of(pod):
        claim = catalog.persistent_volume_claims.get(reference.name, pod.metadata.namespace)
        fault = _missing(reference) if claim is None else _fault(pod, reference, claim)
        if fault is not None:
            return fault
    return None


def _missing(reference: ClaimReference) -> str:
    if not reference.ephemeral:
        return claim_not_found(reference.name)
    return f'waiting for ephemeral volume controller to create the persistentvolumeclaim "{reference.name}"'


def _fault(pod: Pod, reference: ClaimReference, claim: PersistentVolumeClaim) -> str | None:
    name = claim.metadata.name
    if claim.status.phase == "Lost":
        return f'persistentvolumeclaim "{name}" bound to non-existent persistentvolume "{claim.spec.volume_name}"'
    if claim.metadata.deletion_timestamp:
        return f'persistentvolumeclaim "{name}" is being deleted'
    return ownership_fault(pod, claim) if reference.ephemeral else None


def fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether claim and volume have found each other for good."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations


def sorted_claims(pod: Pod, look_up: LookUp, catalog: Catalog) -> PodClaims:
    """The pod's claims; one that is not there is left out, since ``claims_fault`` has told of it.

    Raises:
        ClassError: the class of a claim does not say when to bind.
    """
    found = [look_up(reference.name, pod.metadata.namespace) for reference in claims_of(pod)]
    claims = [claim for claim in found if claim is not None]
    unbound = [claim for claim in claims if not fully_bound(claim)]
    delayed: list[DelayedClaim] = []
    immediate: list[PersistentVolumeClaim] = []
    for claim in unbound:
        storage_class = _delaying_class(claim, catalog)
        if storage_class is None or claim.spec.volume_name:
            immediate.append(claim)
        else:
            delayed.append(DelayedClaim(claim, storage_class))
    return PodClaims(tuple(filter(fully_bound, claims)), tuple(delayed), tuple(immediate))


def all_bound(pod: Pod, look_up: LookUp) -> bool:
    """Whether nothing is left to do (upstream: ``arePodVolumesBound``)."""
    claims: Sequence[PersistentVolumeClaim | None] = [
        look_up(reference.name, pod.metadata.namespace) for reference in claims_of(pod)
    ]
    return all(claim is not None and fully_bound(claim) for claim in claims)


def _delaying_class(claim: PersistentVolumeClaim, catalog: Catalog) -> StorageClass | None:
    """The claim's class if it waits for the first consumer; a class that does not exist does not wait."""
    name = class_of(claim)
    found = catalog.storage_classes.get(name) if name else None
    if found is None:
        return None
    if found.volume_binding_mode is None:
        raise ClassError(f'VolumeBindingMode not set for StorageClass "{name}"')
    return found if found.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER else None
