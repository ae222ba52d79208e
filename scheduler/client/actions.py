"""The one port through which scheduling changes the cluster: bind a pod, patch its status, delete it, bind its volumes."""

import random
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from scheduler.apis.objects import DecodeError, PersistentVolume, PersistentVolumeClaim, decode
from scheduler.client.errors import (
    ClientError,
    ConflictError,
    MalformedAnswerError,
    ServerError,
    TransportError,
)
from scheduler.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, PODS
from scheduler.client.rest import MERGE_PATCH, STRATEGIC_MERGE_PATCH, Rest

T = TypeVar("T", PersistentVolume, PersistentVolumeClaim)

PATCH_TRIES = 4
PATCH_PAUSE = 0.01
"""Seconds before the second try; each further pause is PATCH_FACTOR times as long, stretched by up to PATCH_JITTER."""
PATCH_FACTOR = 5.0
PATCH_JITTER = 0.1


class _Metadata(msgspec.Struct):
    uid: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)


_pods = msgspec.json.Decoder(_Pod)


class Actions:
    """Changes the cluster through ``rest``. Thread-safe. Every method raises a ClientError when it fails.

    ``wait(seconds)`` pauses between attempts.
    """

    def __init__(
        self,
        rest: Rest,
        *,
        wait: Callable[[float], object] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._rest = rest
        self._wait = wait
        self._rng = rng or random.Random()

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Give the pod with that uid its node. Safe to repeat.

        When the answer is lost, or says that the pod is bound already, the pod is read: bound to this node is success.
        Raises ConflictError when the pod is bound to another node or is another pod by now, and whatever the server or the
        network said otherwise.
        """
        for last_try in (False, True):
            try:
                self._post_binding(namespace, name, uid, node)
            except (TransportError, ConflictError) as error:
                if not self._is_bound(namespace, name, uid, node, error):
                    if last_try or isinstance(error, ConflictError):
                        raise
                    continue
            return

    def patch_pod_status(self, namespace: str, name: str, patch: Mapping[str, Any]) -> None:
        """Apply a strategic merge patch (``{"status": {…}}``) to the pod's status; an empty patch is not sent.

        Tried up to four times on a conflict, a failing server or a refused connection, as kube-scheduler's
        ``PatchPodStatus`` does.
        """
        if not patch:
            return
        body = msgspec.json.encode(patch)
        path = PODS.object(namespace, name, "status")
        pause = PATCH_PAUSE
        for attempt in range(1, PATCH_TRIES + 1):
            try:
                self._rest.request("PATCH", path, body=body, content_type=STRATEGIC_MERGE_PATCH)
            except ClientError as error:
                if attempt == PATCH_TRIES or not _retriable(error):
                    raise
                self._wait(pause * (1 + self._rng.random() * PATCH_JITTER))
                pause *= PATCH_FACTOR
            else:
                return

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """Delete the pod, unless another one (another uid) took its name: then ConflictError."""
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}}
        self._rest.request("DELETE", PODS.object(namespace, name), body=options)

    def patch_volume(self, name: str, patch: Mapping[str, Any]) -> PersistentVolume:
        """Apply a merge patch to the PersistentVolume; the answer is what it is now. ConflictError when it changed meanwhile."""
        return self._patched(PersistentVolume, PERSISTENT_VOLUMES.object("", name), patch)

    def patch_claim(self, namespace: str, name: str, patch: Mapping[str, Any]) -> PersistentVolumeClaim:
        """The same for a PersistentVolumeClaim."""
        return self._patched(PersistentVolumeClaim, PERSISTENT_VOLUME_CLAIMS.object(namespace, name), patch)

    def _patched(self, kind: type[T], path: str, patch: Mapping[str, Any]) -> T:
        answer = self._rest.request("PATCH", path, body=msgspec.json.encode(patch), content_type=MERGE_PATCH)
        try:
            return decode(kind, answer.body)
        except DecodeError as error:
            raise MalformedAnswerError(f"{path}: the answer does not parse: {error}") from None

    def _post_binding(self, namespace: str, name: str, uid: str, node: str) -> None:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name, "namespace": namespace, "uid": uid},
            "target": {"kind": "Node", "name": node},
        }
        self._rest.request("POST", PODS.object(namespace, name, "binding"), body=binding)

    def _is_bound(self, namespace: str, name: str, uid: str, node: str, cause: ClientError) -> bool:
        """Whether the pod is bound to ``node`` after all; False when it is unbound.

        Raises ``cause`` when nothing can have happened or the name belongs to another pod by now, ConflictError when the pod
        is bound to another node.
        """
        if isinstance(cause, TransportError) and cause.refused:
            raise cause
        try:
            pod = _pods.decode(self._rest.request("GET", PODS.object(namespace, name)).body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswerError(
                f"pod {namespace}/{name}: the answer does not parse: {error}"
            ) from None
        if uid and pod.metadata.uid != uid:
            raise cause
        bound_to = pod.spec.node_name
        if bound_to and bound_to != node:
            raise ConflictError(
                409, "Conflict", f"pod {namespace}/{name} is bound to node {bound_to}"
            ) from cause
        return bound_to == node


def _retriable(error: ClientError) -> bool:
    """Upstream ``Retriable``: internal error, service unavailable, conflict, connection refused."""
    if isinstance(error, ServerError):
        return error.status in (500, 503)
    return isinstance(error, ConflictError) or (isinstance(error, TransportError) and error.refused)
