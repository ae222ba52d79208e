"""``/metrics/resources``: what every pod requests and may use, as scheduler and kubelet count it.

Pods that have ended are left out. A series has no value of zero. The sums follow the rule of ``framework.resources``, for limits too:
containers and sidecars together, or the largest init container with the sidecars before it; what the pod as a whole asks for comes first;
the overhead on top (for limits only where there is one). Upstream: ``metrics/resources``, ``component-helpers/resource``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from scheduler.apis import quantity
from scheduler.apis.objects import Pod, ResourceList, ResourceRequirements
from scheduler.apis.quantity import Quantity
from scheduler.framework.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_pod_level
from scheduler.framework.resources import is_sidecar

_LABELS = ("namespace", "pod", "node", "scheduler", "priority", "resource", "unit")
_TEXT = (
    "This shows the resource usage the scheduler and kubelet expect per pod for resources along with the unit "
    "for the resource if any."
)
_UNITS = {CPU: "cores", MEMORY: "bytes", "storage": "bytes", EPHEMERAL_STORAGE: "bytes"}
_Amounts = dict[str, Quantity]
Reader = Callable[[ResourceRequirements], ResourceList]
"""Picks requests or limits."""


class PodResources(Collector):
    """The two families, made anew by every scrape.

    Args:
        pods: answers the pods that are known.
    """

    def __init__(self, pods: Callable[[], Iterable[Pod]]) -> None:
        self._pods = pods

    def collect(self) -> Iterable[Metric]:
        """Requests and limits of all pods that have not ended."""
        requests = _family("kube_pod_resource_request", "Resources requested by workloads on the cluster")
        limits = _family("kube_pod_resource_limit", "Resources limit for workloads on the cluster")
        for pod in self._pods():
            if pod.spec.node_name and pod.status.phase in ("Succeeded", "Failed"):
                continue
            for family, amounts in ((requests, total_requests(pod)), (limits, total_limits(pod))):
                for labels, value in _series(pod, amounts):
                    family.add_metric(labels, value)
        return requests, limits

    def describe(self) -> Iterable[Metric]:
        """Nothing up front: registering must not look at pods."""
        return ()


def total_requests(pod: Pod) -> _Amounts:
    """What the pod requests, exactly, by resource name."""
    total = _of_containers(pod, lambda resources: resources.requests)
    if pod.spec.resources is not None:
        total |= _pod_level(pod.spec.resources.requests)
    _add(total, _read(pod.spec.overhead))
    return total


def total_limits(pod: Pod) -> _Amounts:
    """What the pod may use, exactly, by resource name; resources without a limit are absent."""
    total = _of_containers(pod, lambda resources: resources.limits)
    if pod.spec.resources is not None:
        total |= _pod_level(pod.spec.resources.limits)
    _add(total, {name: more for name, more in _read(pod.spec.overhead).items() if total.get(name)})
    return total


def _of_containers(pod: Pod, read: Reader) -> _Amounts:
    total: _Amounts = {}
    for container in pod.spec.containers:
        _add(total, _read(read(container.resources)))
    sidecars: _Amounts = {}
    largest: _Amounts = {}
    for container in pod.spec.init_containers:
        needed = _read(read(container.resources))
        if is_sidecar(container):
            _add(total, needed)
            _add(sidecars, needed)
            needed = dict(sidecars)
        else:
            _add(needed, sidecars)
        _raise_to(largest, needed)
    _raise_to(total, largest)
    return total


def _pod_level(resources: ResourceList) -> _Amounts:
    return {name: amount for name, amount in _read(resources).items() if is_pod_level(name)}


def _series(pod: Pod, amounts: Mapping[str, Quantity]) -> Iterator[tuple[tuple[str, ...], float]]:
    spec = pod.spec
    priority = "" if spec.priority is None else str(spec.priority)
    place = (pod.metadata.namespace, pod.metadata.name, spec.node_name, spec.scheduler_name, priority)
    for name, amount in amounts.items():
        if amount:
            yield (*place, name, _unit(name)), float(f"{amount.unscaled}e{amount.exponent}")


def _unit(resource: str) -> str:
    if resource.startswith("hugepages-"):
        return "bytes"
    if resource.startswith("attachable-volumes-"):
        return "integer"
    return _UNITS.get(resource, "")


def _family(name: str, what: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, f"[STABLE] {what}, broken down by pod. {_TEXT}", labels=_LABELS)


def _read(resources: ResourceList) -> _Amounts:
    return {name: quantity.from_json(text) for name, text in resources.items()}


def _add(total: _Amounts, more: Mapping[str, Quantity]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount


def _raise_to(largest: _Amounts, other: Mapping[str, Quantity]) -> None:
    for name, amount in other.items():
        if name not in largest or amount > largest[name]:
            largest[name] = amount
