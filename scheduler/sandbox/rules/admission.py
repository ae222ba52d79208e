"""Admission: what the default plugins of a real API server do to objects that the scheduler reads.

NamespaceLifecycle (404, 403), Priority, DefaultTolerationSeconds, ServiceAccount (the name only; no token volume is mounted, no kubelet would
use it), RuntimeClass, PodTopologyLabels, DefaultStorageClass, LimitRanger's container defaults; and the address of a Service.
"""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

from scheduler.sandbox import errors
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.resources import NAMESPACES, Resource

Object = dict[str, Any]
_UNREACHABLE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_TOLERATION_SECONDS = 300
_TOPOLOGY = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")
_SERVICE_NETWORK = ip_network("10.96.0.0/12")
_DEFAULT_CLASS = "storageclass.kubernetes.io/is-default-class"


def admit(cluster: Cluster, resource: Resource, obj: Object) -> None:
    """Change or refuse a new object. Raises `StatusError`."""
    if resource.namespaced:
        _namespace_lifecycle(cluster, resource, obj)
    match resource.key:
        case "pods":
            _service_account(obj["spec"])
            _limit_range(cluster, obj)
            _priority(cluster, obj)
            _default_tolerations(obj["spec"])
            _runtime_class(cluster, obj)
            _topology_labels(cluster, obj)
        case "services":
            _cluster_ip(cluster, obj["spec"])
        case "persistentvolumeclaims":
            _default_storage_class(cluster, obj.setdefault("spec", {}))


def admit_update(resource: Resource, old: Object, new: Object) -> None:
    """Fill in what admission put into a pod and a client that replaces it need not repeat."""
    if resource.key != "pods":
        return
    for field in ("priority", "preemptionPolicy"):
        if field in old["spec"]:
            new["spec"].setdefault(field, old["spec"][field])
    if new["spec"].get("serviceAccountName"):
        _service_account(new["spec"])
    _default_tolerations(new["spec"])


def _namespace_lifecycle(cluster: Cluster, resource: Resource, obj: Object) -> None:
    name = obj["metadata"]["namespace"]
    namespace = cluster.store.get(NAMESPACES.key, "", name)
    if namespace is None:
        raise errors.not_found("namespaces", "", name)
    if namespace["metadata"].get("deletionTimestamp"):
        detail = f"unable to create new content in namespace {name} because it is being terminated"
        raise errors.forbidden(resource.plural, resource.group, obj["metadata"].get("name", ""), detail)


def _service_account(spec: Object) -> None:
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec.get("serviceAccount") or "default"
    spec["serviceAccount"] = spec["serviceAccountName"]


def _priority(cluster: Cluster, pod: Object) -> None:
    spec, name = pod["spec"], pod["spec"].get("priorityClassName")
    found = _priority_class(cluster, pod, name) if name else _default_priority_class(cluster)
    if found is not None and not name:
        spec["priorityClassName"] = found["metadata"]["name"]
    priority = found.get("value", 0) if found else 0
    policy = (found.get("preemptionPolicy") if found else None) or "PreemptLowerPriority"
    for field, right in (("priority", priority), ("preemptionPolicy", policy)):
        if spec.setdefault(field, right) != right:
            shown = {
                "priority": "integer value of priority",
                "preemptionPolicy": "string value of preemptionPolicy",
            }[field]
            detail = f"the {shown} ({spec[field]}) must not be provided in pod spec; priority admission controller computed {right} from the given PriorityClass name"
            raise _refused(pod, detail)


def _priority_class(cluster: Cluster, pod: Object, name: str) -> Object:
    found = cluster.store.get("priorityclasses.scheduling.k8s.io", "", name)
    if found is None:
        raise _refused(pod, f"no PriorityClass with name {name} was found")
    return found


def _default_priority_class(cluster: Cluster) -> Object | None:
    classes = [
        found
        for found in cluster.store.objects("priorityclasses.scheduling.k8s.io")
        if found.get("globalDefault")
    ]
    return min(classes, key=lambda found: found.get("value", 0), default=None)


def _runtime_class(cluster: Cluster, pod: Object) -> None:
    spec, name = pod["spec"], pod["spec"].get("runtimeClassName")
    found = cluster.store.get("runtimeclasses.node.k8s.io", "", name) if name else {}
    if found is None:
        raise _refused(pod, f'pod rejected: RuntimeClass "{name}" not found')
    overhead = (found.get("overhead") or {}).get("podFixed") or {}
    if not overhead and spec.get("overhead"):
        raise _refused(
            pod, "pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead"
        )
    if overhead and spec.setdefault("overhead", dict(overhead)) != overhead:
        raise _refused(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead")
    _runtime_class_scheduling(pod, found.get("scheduling") or {})


def _runtime_class_scheduling(pod: Object, scheduling: Object) -> None:
    spec, selector = pod["spec"], scheduling.get("nodeSelector") or {}
    for key, value in selector.items():
        own = (spec.get("nodeSelector") or {}).get(key, value)
        if own != value:
            detail = f"conflict: runtimeClass.scheduling.nodeSelector[{key}] = {value}; pod.spec.nodeSelector[{key}] = {own}"
            raise _refused(pod, detail)
    if selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **selector}
    for toleration in scheduling.get("tolerations") or ():
        tolerations = spec.setdefault("tolerations", [])
        if toleration not in tolerations:
            tolerations.append(toleration)


def _refused(pod: Object, detail: str) -> errors.StatusError:
    return errors.forbidden("pods", "", pod["metadata"].get("name", ""), detail)


def _default_tolerations(spec: Object) -> None:
    tolerations = spec.setdefault("tolerations", [])
    for key in _UNREACHABLE:
        if not any(_covers(toleration, key) for toleration in tolerations):
            tolerations.append(
                {
                    "key": key,
                    "operator": "Exists",
                    "effect": "NoExecute",
                    "tolerationSeconds": _TOLERATION_SECONDS,
                }
            )


def _covers(toleration: Object, key: str) -> bool:
    return toleration.get("key", "") in ("", key) and toleration.get("effect", "") in ("", "NoExecute")


def _topology_labels(cluster: Cluster, pod: Object) -> None:
    copied = topology_labels(cluster, pod["spec"].get("nodeName", ""))
    if copied:
        pod["metadata"]["labels"] = {**(pod["metadata"].get("labels") or {}), **copied}


def topology_labels(cluster: Cluster, node: str) -> dict[str, str]:
    """Zone and region of a node, which a pod gets as labels of its own along with the node."""
    found = cluster.store.get("nodes", "", node) or {}
    labels = (found.get("metadata") or {}).get("labels") or {}
    return {key: labels[key] for key in _TOPOLOGY if key in labels}


def _cluster_ip(cluster: Cluster, spec: Object) -> None:
    if spec["type"] == "ExternalName":
        return
    if not spec.get("clusterIP"):
        spec["clusterIP"] = str(
            _SERVICE_NETWORK[cluster.rng.randrange(10, _SERVICE_NETWORK.num_addresses - 1)]
        )
    spec.setdefault("clusterIPs", [spec["clusterIP"]])
    spec.setdefault("ipFamilies", ["IPv4"])
    spec.setdefault("ipFamilyPolicy", "SingleStack")
    spec.setdefault("internalTrafficPolicy", "Cluster")


def _default_storage_class(cluster: Cluster, spec: Object) -> None:
    if "storageClassName" in spec or spec.get("volumeName"):
        return
    for found in cluster.store.objects("storageclasses.storage.k8s.io"):
        if (found["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true":
            spec["storageClassName"] = found["metadata"]["name"]
            return


def _limit_range(cluster: Cluster, pod: Object) -> None:
    for found in cluster.store.objects("limitranges", pod["metadata"]["namespace"]):
        for item in (found.get("spec") or {}).get("limits") or ():
            if item.get("type") == "Container":
                for container in (*pod["spec"].get("containers", ()), *pod["spec"].get("initContainers", ())):
                    _fill(container, "limits", item.get("default"))
                    _fill(container, "requests", item.get("defaultRequest") or item.get("default"))


def _fill(container: Object, part: str, values: dict[str, str] | None) -> None:
    if values:
        resources = container.setdefault("resources", {})
        resources[part] = {**values, **(resources.get(part) or {})}
