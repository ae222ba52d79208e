"""Defaults of a pod (upstream: `pkg/apis/core/v1/defaults.go`, `pkg/apis/core/v1/helper/qos`). Pure: inputs are not changed.

What matters most to a scheduler: requests come from limits where only limits are given, for containers, init containers and the pod as a
whole; host-network pods claim their container ports on the node; the quality-of-service class.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.apis.quantity import QuantityError, milli_value
from scheduler.sandbox.rules.pod_level import complete

Object = dict[str, Any]
_QOS_RESOURCES = ("cpu", "memory")


def template_spec_defaults(given: Object) -> Object:
    """The completed spec of a pod template: what every PodSpec gets."""
    spec: Object = dict(given)
    for part in ("initContainers", "containers"):
        if spec.get(part):
            spec[part] = [_container(container) for container in spec[part]]
    for field, value in _SPEC:
        spec.setdefault(field, value)
    spec.setdefault("securityContext", {})
    if spec.get("volumes"):
        spec["volumes"] = [_volume(volume) for volume in spec["volumes"]]
    return spec


def pod_spec_defaults(given: Object) -> Object:
    """The completed spec of a pod: additionally requests from limits, host ports, pod-level resources."""
    spec = template_spec_defaults(given)
    for part in ("initContainers", "containers"):
        if spec.get(part):
            spec[part] = [_requests_from_limits(container) for container in spec[part]]
            if spec.get("hostNetwork"):
                spec[part] = [_host_ports(container) for container in spec[part]]
    if spec.get("resources"):
        spec["resources"] = complete(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    return spec


_SPEC = (
    ("restartPolicy", "Always"),
    ("terminationGracePeriodSeconds", 30),
    ("dnsPolicy", "ClusterFirst"),
    ("schedulerName", "default-scheduler"),
)


def _container(given: Object) -> Object:
    container: Object = dict(given)
    container.setdefault("resources", {})
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = (
            "Always" if _is_latest(container.get("image") or "") else "IfNotPresent"
        )
    if container.get("ports"):
        container["ports"] = [
            {**port, "protocol": port.get("protocol") or "TCP"} for port in container["ports"]
        ]
    for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
        if container.get(probe):
            container[probe] = {**dict(_PROBE), **container[probe]}
    return container


_PROBE = (("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3))


def _is_latest(image: str) -> bool:
    if "@" in image:
        return False
    _, colon, tag = image.rpartition("/")[2].partition(":")
    return not colon or tag == "latest"


def _host_ports(container: Object) -> Object:
    if not container.get("ports"):
        return container
    ports = [
        {**port, "hostPort": port.get("hostPort") or port.get("containerPort")} for port in container["ports"]
    ]
    return {**container, "ports": ports}


def _requests_from_limits(container: Object) -> Object:
    resources = container["resources"]
    limits = resources.get("limits")
    if not limits:
        return container
    return {
        **container,
        "resources": {**resources, "requests": {**limits, **(resources.get("requests") or {})}},
    }


def _volume(volume: Object) -> Object:
    completed = dict(volume)
    if set(completed) == {"name"}:
        completed["emptyDir"] = {}
    for source in ("secret", "configMap", "downwardAPI", "projected"):
        if isinstance(completed.get(source), dict):
            completed[source] = {"defaultMode": 420, **completed[source]}
    return completed


def pod_status_defaults(spec: Object, given: Object) -> Object:
    """The completed status: phase Pending and the QoS class."""
    status: Object = {"phase": "Pending", **given}
    status.setdefault("qosClass", qos_class(spec))
    return status


def qos_class(spec: Object) -> str:
    """`Guaranteed`, `Burstable` or `BestEffort`."""
    pod_level = spec.get("resources") or {}
    if pod_level.get("requests") or pod_level.get("limits"):
        return _qos([pod_level])
    return _qos(
        [c.get("resources") or {} for c in (*spec.get("containers", ()), *spec.get("initContainers", ()))]
    )


def _qos(parts: list[Object]) -> str:
    requested = any(_positive(part.get(which)) for part in parts for which in ("requests", "limits"))
    if not requested:
        return "BestEffort"
    for part in parts:
        limits, requests = _positive(part.get("limits")), _positive(part.get("requests"))
        if set(limits) != set(_QOS_RESOURCES) or (requests and requests != limits):
            return "Burstable"
    return "Guaranteed"


def _positive(quantities: Mapping[str, str] | None) -> dict[str, int]:
    found = {}
    for name in _QOS_RESOURCES:
        try:
            amount = milli_value((quantities or {}).get(name, "0"))
        except QuantityError:
            continue
        if amount > 0:
            found[name] = amount
    return found
