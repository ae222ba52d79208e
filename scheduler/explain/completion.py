"""What an API server would have filled in, as far as scheduling reads it, for objects that people write by hand.

An object with a uid or a ``resourceVersion`` comes from a server, is complete, and stays as it is. The others get:

=====================  ==================================================================================================
every namespaced kind  a namespace
Pod                    ``schedulerName``; requests from limits; host ports from container ports under ``hostNetwork``;
                       priority and preemption policy from its PriorityClass, or from the default one; overhead, node
                       selector and tolerations from its RuntimeClass
Node                   ``allocatable`` from ``capacity``
Namespace              the label ``kubernetes.io/metadata.name``
StorageClass           ``volumeBindingMode: Immediate``
PersistentVolumeClaim  the default StorageClass
=====================  ==================================================================================================

Classes that are not among the objects are named in ``notes``, and the pod goes on without them: a server would refuse it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from scheduler.apis.objects import (
    Container,
    Namespace,
    Node,
    PersistentVolumeClaim,
    Pod,
    PodSpec,
    PriorityClass,
    ResourceRequirements,
    RuntimeClass,
    StorageClass,
)

_SYSTEM: Final[Mapping[str, int]] = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
"""Every cluster has these classes."""
_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_NAME_LABEL: Final = "kubernetes.io/metadata.name"


class Completion:
    """Completes objects.

    Args:
        objects: the classes among them are used.

    Attributes:
        notes: what could not be completed, a line each, in order.
    """

    def __init__(self, objects: Iterable[Any]) -> None:
        known = list(objects)
        self._priorities = {one.metadata.name: one for one in known if isinstance(one, PriorityClass)}
        self._runtimes = {one.metadata.name: one for one in known if isinstance(one, RuntimeClass)}
        self._storage = [one for one in known if isinstance(one, StorageClass)]
        self.notes: list[str] = []

    def complete(self, obj: Any) -> Any:
        """The completed object, or the object itself when nothing is missing."""
        if obj.metadata.uid or obj.metadata.resource_version:
            return obj
        if isinstance(obj, Pod):
            return replace(obj, spec=self.pod_spec(obj.spec, obj.full_name))
        if isinstance(obj, PersistentVolumeClaim):
            return self._claim(obj)
        return _plain(obj)

    def pod_spec(self, spec: PodSpec, name: str) -> PodSpec:
        """A completed pod's spec; ``name`` is what notes call the pod."""
        spec = self._with_runtime(self._with_priority(spec, name), name)
        spec = replace(
            spec,
            containers=_containers(spec.containers, spec.host_network),
            init_containers=_containers(spec.init_containers, spec.host_network),
        )
        return spec if spec.resources is None else replace(spec, resources=_of_pod(spec, spec.resources))

    def _with_priority(self, spec: PodSpec, name: str) -> PodSpec:
        if spec.priority is not None:
            return spec
        wanted = spec.priority_class_name
        if wanted in _SYSTEM:
            return replace(spec, priority=_SYSTEM[wanted])
        chosen = self._priorities.get(wanted) if wanted else self._default_priority()
        if chosen is None:
            if wanted:
                self.notes.append(
                    f"pod {name}: PriorityClass {wanted} is not in the input; its priority counts as 0"
                )
            return spec
        policy = spec.preemption_policy or chosen.preemption_policy
        return replace(spec, priority=chosen.value, preemption_policy=policy)

    def _default_priority(self) -> PriorityClass | None:
        defaults = [one for one in self._priorities.values() if one.global_default]
        return min(defaults, key=lambda one: one.value, default=None)

    def _with_runtime(self, spec: PodSpec, name: str) -> PodSpec:
        wanted = spec.runtime_class_name
        chosen = self._runtimes.get(wanted)
        if chosen is None:
            if wanted and self._runtimes:
                self.notes.append(
                    f"pod {name}: RuntimeClass {wanted} is not in the input; its overhead is not counted"
                )
            return spec
        overhead = chosen.overhead.pod_fixed if chosen.overhead else {}
        selector = chosen.scheduling.node_selector if chosen.scheduling else {}
        tolerations = chosen.scheduling.tolerations if chosen.scheduling else ()
        return replace(
            spec,
            overhead=spec.overhead or overhead,
            node_selector={**spec.node_selector, **selector},
            tolerations=(*spec.tolerations, *tolerations),
        )

    def _claim(self, claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
        if claim.spec.storage_class_name is not None or claim.spec.volume_name:
            return claim
        for one in self._storage:
            if one.metadata.annotations.get(_DEFAULT_CLASS) == "true":
                return replace(claim, spec=replace(claim.spec, storage_class_name=one.metadata.name))
        return claim


def _plain(obj: Any) -> Any:
    """An object that is completed out of itself alone."""
    if isinstance(obj, Node) and not obj.status.allocatable:
        return replace(obj, status=replace(obj.status, allocatable=obj.status.capacity))
    if isinstance(obj, Namespace):
        labels = {**obj.metadata.labels, _NAME_LABEL: obj.metadata.name}
        return replace(obj, metadata=replace(obj.metadata, labels=labels))
    if isinstance(obj, StorageClass) and not obj.volume_binding_mode:
        return replace(obj, volume_binding_mode="Immediate")
    return obj


def _containers(containers: Sequence[Container], host_network: bool) -> tuple[Container, ...]:
    return tuple(_container(one, host_network) for one in containers)


def _container(container: Container, host_network: bool) -> Container:
    ports = container.ports
    if host_network:
        ports = tuple(replace(port, host_port=port.host_port or port.container_port) for port in ports)
    return replace(container, ports=ports, resources=_requests_from_limits(container.resources))


def _of_pod(spec: PodSpec, resources: ResourceRequirements) -> ResourceRequirements:
    """Pod-level limits are requests too, where no container requests anything of the kind."""
    asked = {name for one in (*spec.containers, *spec.init_containers) for name in one.resources.requests}
    limits = {name: limit for name, limit in resources.limits.items() if name not in asked}
    return replace(resources, requests={**limits, **resources.requests})


def _requests_from_limits(resources: ResourceRequirements) -> ResourceRequirements:
    return replace(resources, requests={**resources.limits, **resources.requests})
