"""The port: all that scheduling does to the API server. The client implements it; nothing else here knows of one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, Pod
from scheduler.client.references import ObjectReference


class Binder(Protocol):
    """The narrowest part: what ``/bind`` needs. Each call blocks until the server has answered, and raises on failure."""

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Assign the pod to the node."""
        ...


class Port(Binder, Protocol):
    """Each call blocks until the server has answered, and raises a ``ClientError`` when it failed."""

    def patch_pod_status(self, namespace: str, name: str, patch: Mapping[str, Any]) -> None:
        """Apply a strategic merge patch to the pod's status."""
        ...

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """Evict the pod of that uid."""
        ...

    def patch_volume(self, name: str, patch: Mapping[str, Any]) -> PersistentVolume:
        """Apply a merge patch to the PersistentVolume, and return what it is now.

        A patch with ``metadata.resourceVersion`` is refused (ConflictError) when the volume has another one.
        """
        ...

    def patch_claim(self, namespace: str, name: str, patch: Mapping[str, Any]) -> PersistentVolumeClaim:
        """The same for a PersistentVolumeClaim."""
        ...


class Recorder(Protocol):
    """Records events about pods; never blocks."""

    def eventf(
        self,
        regarding: ObjectReference,
        type: str,  # noqa: A002  # the API's word
        reason: str,
        action: str,
        note: str,
        *,
        related: ObjectReference | None = None,
    ) -> None:
        """Record an event: ``type`` is Normal or Warning, ``related`` another object that it is about."""
        ...


def reference(pod: Pod) -> ObjectReference:
    """How an event points at a pod."""
    meta = pod.metadata
    return ObjectReference(
        kind="Pod",
        namespace=meta.namespace,
        name=meta.name,
        uid=meta.uid,
        api_version="v1",
        resource_version=meta.resource_version,
    )
