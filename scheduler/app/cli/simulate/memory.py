"""Memory: the API server of a simulation. It holds pods, nodes and the catalog's objects, does what the scheduler asks, and tells the
scheduler what has changed, as informers would.

Nothing takes time: a bound pod is on its node, an evicted one is gone, a claim is bound. Nobody makes new pods for evicted ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from scheduler.apis.objects import (
    Condition,
    CSINode,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    convert,
)
from scheduler.app.cli.simulate.storage import bound, merged, provisioned
from scheduler.client.errors import ConflictError, NotFoundError
from scheduler.client.references import ObjectReference
from scheduler.explain.objects import Objects
from scheduler.framework.catalog import Catalog
from scheduler.scheduling.scheduler import Scheduler

_SELECTED_NODE = "volume.kubernetes.io/selected-node"


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod, by its full name, and its node."""

    pod: str
    node: str


class Memory:
    """The port, the recorder and the informers of a scheduler that is alone in the world.

    Attributes:
        pods: every pod, by full name.
        nodes: every node, by name.
        placements: the pods that were bound, in order.
        evictions: the pods that had to go, in order, each with the node that it was on.
        messages: by full name: why the pod's last attempt failed.
    """

    def __init__(self) -> None:
        self.pods: dict[str, Pod] = {}
        self.nodes: dict[str, Node] = {}
        self.placements: list[Placement] = []
        self.evictions: list[Placement] = []
        self.messages: dict[str, str] = {}
        self._catalog = Catalog()
        self._scheduler: Scheduler | None = None
        self._version = 0

    # What happens

    def fill(self, objects: Objects, scheduler: Scheduler, pods: list[Pod]) -> None:
        """Begin with these objects and pods, and tell the scheduler of everything from now on."""
        self._scheduler = scheduler
        for other in objects.others:
            self._put(other)
        for node in objects.nodes:
            self.nodes[node.metadata.name] = node
            scheduler.node_handler.on_add(node, True)
        for pod in pods:
            self.add(pod)

    def provide(self, claims: Iterable[PersistentVolumeClaim]) -> None:
        """Claims are created, those that are not there already."""
        for claim in claims:
            if not self._catalog.persistent_volume_claims.get(claim.metadata.name, claim.metadata.namespace):
                self._put(claim)

    def add(self, pod: Pod) -> None:
        """A pod is created."""
        fresh = self._renewed(pod)
        self.pods[pod.full_name] = fresh
        self._told.pod_handler.on_add(fresh, True)

    def lookup(self, namespace: str, name: str) -> Pod | None:
        """The pod, None when it is gone."""
        return self.pods.get(f"{namespace}/{name}")

    # What the scheduler asks for (see ``framework.port.Port``)

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """The pod is on the node."""
        pod = self._pod(namespace, name, uid)
        self._update(pod, replace(pod, spec=replace(pod.spec, node_name=node)))
        self.placements.append(Placement(pod.full_name, node))
        self.messages.pop(pod.full_name, None)

    def patch_pod_status(self, namespace: str, name: str, patch: Mapping[str, Any]) -> None:
        """Nomination and conditions are written; nothing else is, by a scheduler."""
        pod = self._pod(namespace, name)
        status, changed = pod.status, patch["status"]
        if "nominatedNodeName" in changed:
            status = replace(status, nominated_node_name=changed["nominatedNodeName"] or "")
        written = [convert(Condition, each) for each in changed.get("conditions", ())]
        kinds = {each.type for each in written}
        kept = [each for each in status.conditions if each.type not in kinds]
        self._update(pod, replace(pod, status=replace(status, conditions=(*kept, *written))))

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """The pod is gone at once."""
        pod = self._pod(namespace, name, uid)
        del self.pods[pod.full_name]
        self.evictions.append(Placement(pod.full_name, pod.spec.node_name))
        self._told.pod_handler.on_delete(pod)

    def patch_volume(self, name: str, patch: Mapping[str, Any]) -> PersistentVolume:
        """The volume is written; when it has a claim by then, the claim is bound."""
        known = self._catalog.persistent_volumes.get(name)
        volume: PersistentVolume = self._put(merged(self._checked(known, name, patch), patch))
        reference = volume.spec.claim_ref
        claim = reference and self._catalog.persistent_volume_claims.get(reference.name, reference.namespace)
        if claim:
            self._put(bound(claim, volume))
        return volume

    def patch_claim(self, namespace: str, name: str, patch: Mapping[str, Any]) -> PersistentVolumeClaim:
        """The claim is written; when a node is selected by then, a volume is made."""
        known = self._catalog.persistent_volume_claims.get(name, namespace)
        claim: PersistentVolumeClaim = self._put(merged(self._checked(known, name, patch), patch))
        node = self.nodes.get(claim.metadata.annotations.get(_SELECTED_NODE, ""))
        storage = self._catalog.of(StorageClass).get(claim.spec.storage_class_name or "")
        if node and storage and not claim.spec.volume_name:
            csi_node = self._catalog.of(CSINode).get(node.metadata.name)
            self._put(bound(claim, self._put(provisioned(claim, storage, node, csi_node))))
        return claim

    def eventf(
        self,
        regarding: ObjectReference,
        type: str,  # noqa: A002  # the API's word
        reason: str,
        action: str,  # noqa: ARG002  # the protocol's
        note: str,
        *,
        related: ObjectReference | None = None,  # noqa: ARG002
    ) -> None:
        """Keep why a pod could not be placed."""
        if type == "Warning" and reason == "FailedScheduling":
            self.messages[f"{regarding.namespace}/{regarding.name}"] = note

    # Within

    @property
    def _told(self) -> Scheduler:
        if self._scheduler is None:
            raise RuntimeError("nobody is told yet: fill comes first")
        return self._scheduler

    def _pod(self, namespace: str, name: str, uid: str = "") -> Pod:
        pod = self.lookup(namespace, name)
        if pod is None or (uid and pod.metadata.uid != uid):
            raise NotFoundError(404, "NotFound", f'pods "{name}" not found')
        return pod

    def _checked(self, known: Any, name: str, patch: Mapping[str, Any]) -> Any:
        if known is None:
            raise NotFoundError(404, "NotFound", f'"{name}" not found')
        version = patch.get("metadata", {}).get("resourceVersion", "")
        if version not in ("", known.metadata.resource_version):
            raise ConflictError(409, "Conflict", f'"{name}" has been modified')
        return known

    def _update(self, old: Pod, new: Pod) -> None:
        fresh = self._renewed(new)
        self.pods[new.full_name] = fresh
        self._told.pod_handler.on_update(old, fresh)

    def _put(self, obj: Any) -> Any:
        collection = self._catalog.of(type(obj))
        known = collection.get(obj.metadata.name, obj.metadata.namespace)
        fresh = self._renewed(obj)
        collection.put(fresh)
        if known is None:
            self._told.catalog_handler.on_add(fresh, True)
        else:
            self._told.catalog_handler.on_update(known, fresh)
        return fresh

    def _renewed(self, obj: Any) -> Any:
        self._version += 1
        return replace(obj, metadata=replace(obj.metadata, resource_version=str(self._version)))
