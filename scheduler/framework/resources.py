"""What a pod requests: one amount per resource, out of its containers, init containers, sidecars and status.

A pod starts its init containers one after another and then runs its containers together. A *sidecar* is an init container
with ``restartPolicy: Always``: it starts in its turn and keeps running. So a pod needs, of each resource, the larger of

* all containers and all sidecars together;
* each init container in turn, together with the sidecars that were started before it,

and its overhead on top. What the pod requests as a whole (``spec.resources``) replaces what its containers add up to. While
a pod is being resized in place, the largest of what it asks for, what it was allocated and what it has is what counts; a
resize that the node has refused as infeasible asks for nothing.

Amounts are added up exactly and rounded at the end: two containers with ``100u`` of cpu each need one millicore, not two.

Upstream: ``component-helpers/resource.PodRequests``, ``PodInfo.CalculateResource``, ``framework.Resource``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from scheduler.apis import quantity
from scheduler.apis.objects import Container, ContainerStatus, Pod, ResourceList, ResourceRequirements
from scheduler.apis.quantity import ZERO, Quantity
from scheduler.framework.resource_names import CPU, MEMORY, amount, is_counted, is_pod_level, read_amount

DEFAULT_MILLI_CPU_REQUEST: Final = 100
DEFAULT_MEMORY_REQUEST: Final = 200 * 1024 * 1024
"""What a container without a request is taken to need where scores are computed, so that idle-looking nodes do not fill up."""

_Amounts = dict[str, Quantity]
_DEFAULTS: Final[Mapping[str, Quantity]] = {
    CPU: Quantity(DEFAULT_MILLI_CPU_REQUEST, -3),
    MEMORY: Quantity(DEFAULT_MEMORY_REQUEST),
}
_NO_DEFAULTS: Final[Mapping[str, Quantity]] = {}
_exact = lru_cache(maxsize=65536, typed=True)(quantity.from_json)


def pod_requests(
    pod: Pod, *, use_status: bool, pod_level: bool = True, with_defaults: bool = False
) -> dict[str, int]:
    """The pod's requests by resource name, in scheduling units: cpu in millicores, everything else in bytes or units.

    Args:
        pod: the pod.
        use_status: whether its status counts, as it does for pods on nodes; a pod that waits for a node has none.
        pod_level: whether ``spec.resources`` counts.
        with_defaults: whether containers without requests count as 100m of cpu and 200 MB of memory.

    Raises:
        scheduler.apis.quantity.QuantityError: a quantity cannot be read.
    """
    if _is_plain(pod):
        only = pod.spec.containers[0].resources.requests
        found = {name: read_amount(name, text) for name, text in only.items() if is_counted(name)}
        if with_defaults:
            found.setdefault(CPU, DEFAULT_MILLI_CPU_REQUEST)
            found.setdefault(MEMORY, DEFAULT_MEMORY_REQUEST)
        return found
    defaults = _DEFAULTS if with_defaults else _NO_DEFAULTS
    return _in_units(_total(pod, use_status, pod_level, defaults))


def nonzero_requests(pod: Pod, *, use_status: bool) -> tuple[int, int]:
    """(millicores, bytes) of cpu and memory for scoring, where absent requests count as 100m and 200 MB per container.

    What the pod requests as a whole is not defaulted: with ``spec.resources`` only what neither the pod nor any of its
    containers names is.

    Raises:
        scheduler.apis.quantity.QuantityError: a quantity cannot be read.
    """
    if _is_plain(pod) or not _sets_pod_level(pod):
        found = pod_requests(pod, use_status=use_status, with_defaults=True)
    else:
        total = _total(pod, use_status, True, _NO_DEFAULTS)
        missing = {name: least for name, least in _DEFAULTS.items() if name not in total}
        found = _in_units(_total(pod, use_status, True, missing) if missing else total)
    return found.get(CPU, 0), found.get(MEMORY, 0)


def is_sidecar(init_container: Container) -> bool:
    """Whether an init container keeps running beside the containers."""
    return init_container.restart_policy == "Always"


def has_resource_status(pod: Pod) -> bool:
    """Whether ``use_status`` could make a difference."""
    status = pod.status
    return bool(status.container_statuses or status.init_container_statuses or status.resources)


def _is_plain(pod: Pod) -> bool:
    spec = pod.spec
    return (
        len(spec.containers) == 1
        and not spec.init_containers
        and not spec.overhead
        and spec.resources is None
        and not has_resource_status(pod)
    )


def _in_units(total: _Amounts) -> dict[str, int]:
    return {name: amount(name, wanted) for name, wanted in total.items() if is_counted(name)}


def _total(pod: Pod, use_status: bool, pod_level: bool, defaults: Mapping[str, Quantity]) -> _Amounts:
    total = _of_containers(pod, use_status, defaults)
    if pod_level and _sets_pod_level(pod):
        total.update(_of_pod(pod, use_status))
    _add(total, _read(pod.spec.overhead))
    return total


def _sets_pod_level(pod: Pod) -> bool:
    resources = pod.spec.resources
    return resources is not None and any(map(is_pod_level, resources.requests))


def _of_pod(pod: Pod, use_status: bool) -> _Amounts:
    """The requests of the pod as a whole; a name that a resize knows nothing of is zero, as it is upstream."""
    wanted = _read(pod.spec.resources.requests) if pod.spec.resources else {}
    supported = [name for name in wanted if is_pod_level(name)]
    if use_status and pod.status.resources is not None:
        wanted = _in_force(pod, wanted, pod.status.resources, pod.status.allocated_resources)
    return {name: wanted.get(name, ZERO) for name in supported}


def _of_containers(pod: Pod, use_status: bool, defaults: Mapping[str, Quantity]) -> _Amounts:
    statuses = _statuses(pod) if use_status else {}
    running: _Amounts = {}
    for container in pod.spec.containers:
        _add(running, _with_defaults(_of_container(pod, container, statuses), defaults))
    sidecars: _Amounts = {}
    starting: _Amounts = {}
    for container in pod.spec.init_containers:
        if is_sidecar(container):
            wanted = _with_defaults(_of_container(pod, container, statuses), defaults)
            _add(running, wanted)
            _add(sidecars, wanted)
        else:
            needed = dict(_with_defaults(_read(container.resources.requests), defaults))
            _add(needed, sidecars)
            _raise_to(starting, needed)
    _raise_to(running, starting)
    return running


def _statuses(pod: Pod) -> dict[str, ContainerStatus]:
    """By container name; an init container's status hides a container's of the same name."""
    return {
        status.name: status
        for status in (*pod.status.container_statuses, *pod.status.init_container_statuses)
    }


def _of_container(pod: Pod, container: Container, statuses: Mapping[str, ContainerStatus]) -> _Amounts:
    wanted = _read(container.resources.requests)
    status = statuses.get(container.name)
    if status is None or status.resources is None:
        return wanted
    return _in_force(pod, wanted, status.resources, status.allocated_resources)


def _in_force(pod: Pod, wanted: _Amounts, actual: ResourceRequirements, allocated: ResourceList) -> _Amounts:
    """The largest of what is wanted, what is there and what was allocated, by name (``determineEffectiveRequests``)."""
    largest = {} if _resize_infeasible(pod) else dict(wanted)
    _raise_to(largest, _read(actual.requests))
    _raise_to(largest, _read(allocated))
    return largest


def _resize_infeasible(pod: Pod) -> bool:
    for condition in pod.status.conditions:
        if condition.type == "PodResizePending":
            return condition.reason == "Infeasible"
    return False


def _read(resources: ResourceList) -> _Amounts:
    return {name: _exact(text) for name, text in resources.items()}


def _with_defaults(wanted: _Amounts, defaults: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    return {**defaults, **wanted} if defaults else wanted


def _add(total: _Amounts, more: Mapping[str, Quantity]) -> None:
    for name, wanted in more.items():
        known = total.get(name)
        total[name] = wanted if known is None else known + wanted


def _raise_to(largest: _Amounts, other: Mapping[str, Quantity]) -> None:
    for name, wanted in other.items():
        known = largest.get(name)
        if known is None or wanted > known:
            largest[name] = wanted
