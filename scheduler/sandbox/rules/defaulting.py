"""Defaults that a real API server fills in, where the scheduler or kubectl depends on them (upstream: `pkg/apis/*/v1/defaults.go`).

Two things a controller would do are done here, as there is none: a new PersistentVolume is `Available`, a namespace `Active`.

`apply_defaults` works in place on an object that the caller owns; one function per resource, found in `_DEFAULTS`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable
from typing import Any

from scheduler.sandbox.resources import Resource
from scheduler.sandbox.rules.pod_defaults import (
    pod_spec_defaults,
    pod_status_defaults,
    template_spec_defaults,
)

Object = dict[str, Any]


def apply_defaults(resource: Resource, obj: Object) -> None:
    """Fill in what the client left out."""
    function = _DEFAULTS.get(resource.key)
    if function is not None:
        function(obj)


def _pod(obj: Object) -> None:
    obj["spec"] = pod_spec_defaults(obj.get("spec") or {})
    obj["status"] = pod_status_defaults(obj["spec"], obj.get("status") or {})


def _node(obj: Object) -> None:
    obj.setdefault("spec", {})
    status = obj["status"] = {**(obj.get("status") or {})}
    if status.get("capacity") and not status.get("allocatable"):
        status["allocatable"] = dict(status["capacity"])


def _namespace(obj: Object) -> None:
    obj["spec"] = {**(obj.get("spec") or {})}
    obj["spec"].setdefault("finalizers", ["kubernetes"])
    obj["status"] = {"phase": "Active", **(obj.get("status") or {})}
    name = obj["metadata"].get("name")
    if name:
        labels = {**(obj["metadata"].get("labels") or {}), "kubernetes.io/metadata.name": name}
        obj["metadata"] = {**obj["metadata"], "labels": labels}


def _template(spec: Object) -> None:
    template = spec.get("template")
    if isinstance(template, dict):
        spec["template"] = {**template, "spec": template_spec_defaults(template.get("spec") or {})}
        spec["template"].setdefault("metadata", {})


def _deployment(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("replicas", 1)
    spec.setdefault("revisionHistoryLimit", 10)
    spec.setdefault("progressDeadlineSeconds", 600)
    strategy = spec["strategy"] = {"type": "RollingUpdate", **(spec.get("strategy") or {})}
    if strategy["type"] == "RollingUpdate":
        strategy["rollingUpdate"] = {
            "maxUnavailable": "25%",
            "maxSurge": "25%",
            **(strategy.get("rollingUpdate") or {}),
        }
    _template(spec)
    obj.setdefault("status", {})


def _replicas(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("replicas", 1)
    _template(spec)
    if obj["kind"] == "ReplicationController" and not spec.get("selector"):
        spec["selector"] = dict(((spec.get("template") or {}).get("metadata") or {}).get("labels") or {})
    obj["status"] = {"replicas": 0, **(obj.get("status") or {})}


def _stateful_set(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("replicas", 1)
    spec.setdefault("podManagementPolicy", "OrderedReady")
    spec.setdefault("revisionHistoryLimit", 10)
    spec["updateStrategy"] = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    _template(spec)
    obj["status"] = {"replicas": 0, "availableReplicas": 0, **(obj.get("status") or {})}


def _daemon_set(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("revisionHistoryLimit", 10)
    spec["updateStrategy"] = {"type": "RollingUpdate", **(spec.get("updateStrategy") or {})}
    _template(spec)
    zero = dict.fromkeys(
        ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"), 0
    )
    obj["status"] = {**zero, **(obj.get("status") or {})}


def _job(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    if "completions" not in spec and "parallelism" not in spec:
        spec["completions"] = 1
    spec.setdefault("parallelism", 1)
    spec.setdefault("backoffLimit", 6)
    spec.setdefault("completionMode", "NonIndexed")
    spec.setdefault("suspend", False)
    uid = obj["metadata"].get("uid", "")
    spec.setdefault("selector", {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}})
    _template(spec)
    template = spec.get("template")
    if isinstance(template, dict) and uid:
        labels = {
            "batch.kubernetes.io/controller-uid": uid,
            "batch.kubernetes.io/job-name": obj["metadata"].get("name", ""),
        }
        template["metadata"] = {
            **template["metadata"],
            "labels": {**(template["metadata"].get("labels") or {}), **labels},
        }
    obj.setdefault("status", {})


def _service(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("type", "ClusterIP")
    spec.setdefault("sessionAffinity", "None")
    ports = [
        {
            **port,
            "protocol": port.get("protocol", "TCP"),
            "targetPort": port.get("targetPort", port.get("port")),
        }
        for port in spec.get("ports") or ()
    ]
    if ports:
        spec["ports"] = ports
    obj["status"] = {"loadBalancer": {}, **(obj.get("status") or {})}


def _claim(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("volumeMode", "Filesystem")
    obj["status"] = {"phase": "Pending", **(obj.get("status") or {})}


def _volume(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    spec.setdefault("volumeMode", "Filesystem")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    obj["status"] = {"phase": "Available", **(obj.get("status") or {})}


def _secret(obj: Object) -> None:
    """`stringData` is write-only: its texts become `data` (upstream: `Convert_v1_Secret_To_core_Secret`)."""
    obj.setdefault("type", "Opaque")
    texts = obj.pop("stringData", None)
    if texts:
        encoded = {name: b64encode(text.encode()).decode() for name, text in texts.items()}
        obj["data"] = {**(obj.get("data") or {}), **encoded}


def _priority_class(obj: Object) -> None:
    obj.setdefault("preemptionPolicy", "PreemptLowerPriority")


def _storage_class(obj: Object) -> None:
    obj.setdefault("reclaimPolicy", "Delete")
    obj.setdefault("volumeBindingMode", "Immediate")


def _csi_driver(obj: Object) -> None:
    spec = obj["spec"] = {**(obj.get("spec") or {})}
    for field, value in (
        ("attachRequired", True),
        ("podInfoOnMount", False),
        ("storageCapacity", False),
        ("requiresRepublish", False),
    ):
        spec.setdefault(field, value)
    spec.setdefault("fsGroupPolicy", "ReadWriteOnceWithFSType")
    spec.setdefault("volumeLifecycleModes", ["Persistent"])


def _budget(obj: Object) -> None:
    obj["status"] = {
        "disruptionsAllowed": 0,
        "currentHealthy": 0,
        "desiredHealthy": 0,
        "expectedPods": 0,
        **(obj.get("status") or {}),
    }


def _resource_claim(obj: Object) -> None:
    obj["spec"] = _device_requests(obj.get("spec") or {})
    obj.setdefault("status", {})


def _resource_claim_template(obj: Object) -> None:
    outer = obj.get("spec") or {}
    obj["spec"] = {**outer, "spec": _device_requests(outer.get("spec") or {})}


def _device_requests(spec: Object) -> Object:
    devices = spec.get("devices") or {}
    requests = []
    for request in devices.get("requests") or ():
        exactly = request.get("exactly")
        if exactly is not None:
            exactly = {**exactly, "allocationMode": exactly.get("allocationMode", "ExactCount")}
            if exactly["allocationMode"] == "ExactCount":
                exactly.setdefault("count", 1)
            request = {**request, "exactly": exactly}  # noqa: PLW2901 - the completed copy takes the request's place
        requests.append(request)
    return {**spec, "devices": {**devices, "requests": requests}} if requests else spec


_DEFAULTS: dict[str, Callable[[Object], None]] = {
    "pods": _pod,
    "nodes": _node,
    "namespaces": _namespace,
    "services": _service,
    "secrets": _secret,
    "persistentvolumes": _volume,
    "persistentvolumeclaims": _claim,
    "replicationcontrollers": _replicas,
    "replicasets.apps": _replicas,
    "deployments.apps": _deployment,
    "statefulsets.apps": _stateful_set,
    "daemonsets.apps": _daemon_set,
    "jobs.batch": _job,
    "poddisruptionbudgets.policy": _budget,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "storageclasses.storage.k8s.io": _storage_class,
    "csidrivers.storage.k8s.io": _csi_driver,
    "resourceclaims.resource.k8s.io": _resource_claim,
    "resourceclaimtemplates.resource.k8s.io": _resource_claim_template,
}
