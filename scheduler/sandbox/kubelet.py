"""A pretended kubelet, when asked for: a pod that got its node is reported running, so that `kubectl get pods` reads like a cluster's.

    bound, Pending ──► after `Cluster.start_delay` seconds ──► Running and Ready, with addresses and container statuses

No container ever runs. Without a `start_delay` a bound pod stays Pending, which is what tests of a scheduler want: only what the scheduler
wrote.
"""

from __future__ import annotations

from typing import Any

from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.conditions import with_condition
from scheduler.sandbox.resources import PODS
from scheduler.sandbox.store import Entry

Object = dict[str, Any]
_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")


def start(cluster: Cluster, pod: Entry) -> None:
    """Arrange that a pod with a node is reported running later; does nothing when no kubelet is pretended."""
    if cluster.start_delay is None or not pod.obj["spec"].get("nodeName"):
        return
    uid = pod.obj["metadata"]["uid"]

    def run() -> None:
        with cluster.store.lock:
            current = cluster.store.entry(PODS.key, *pod.key)
            if current is not None and current.obj["metadata"]["uid"] == uid and _startable(current.obj):
                cluster.store.put(PODS.key, {**current.obj, "status": _running(cluster, current.obj)})

    cluster.later(cluster.start_delay, run)


def _startable(pod: Object) -> bool:
    return pod["status"].get("phase") == "Pending" and not pod["metadata"].get("deletionTimestamp")


def _running(cluster: Cluster, pod: Object) -> Object:
    now, spec = cluster.stamp(), pod["spec"]
    conditions = pod["status"].get("conditions") or []
    for kind in _CONDITIONS:
        conditions = with_condition(conditions, {"type": kind, "status": "True"}, now)
    host = _host_address(cluster, spec["nodeName"])
    address = host if spec.get("hostNetwork") else _pod_address(cluster)
    status = {**pod["status"], "phase": "Running", "startTime": now, "conditions": conditions}
    status |= {"podIP": address, "podIPs": [{"ip": address}], "hostIP": host, "hostIPs": [{"ip": host}]}
    status["containerStatuses"] = [_started(container, now) for container in spec["containers"]]
    if spec.get("initContainers"):
        status["initContainerStatuses"] = [
            _initialized(container, now) for container in spec["initContainers"]
        ]
    return status


def _host_address(cluster: Cluster, node: str) -> str:
    found = cluster.store.get("nodes", "", node) or {}
    addresses = (found.get("status") or {}).get("addresses") or ()
    return next((a["address"] for a in addresses if a.get("type") == "InternalIP"), "192.0.2.1")


def _pod_address(cluster: Cluster) -> str:
    number = cluster.rng.randrange(1, 1 << 16)
    return f"10.244.{number >> 8}.{number & 255}"


def _started(container: Object, now: str) -> Object:
    state = {"running": {"startedAt": now}}
    return {**_status_of(container), "ready": True, "started": True, "state": state}


def _initialized(container: Object, now: str) -> Object:
    if container.get("restartPolicy") == "Always":
        return _started(container, now)
    state = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": now, "finishedAt": now}}
    return {**_status_of(container), "ready": True, "started": False, "state": state}


def _status_of(container: Object) -> Object:
    image = container.get("image", "")
    return {"name": container["name"], "image": image, "imageID": image, "restartCount": 0, "lastState": {}}
