"""The cluster state at full size: 5,000 nodes with 50,000 pods, from the API server's bytes to columns.

Each measurement runs in a process of its own, so that memory is what a scheduler would need and nothing else.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from scheduler.apis.objects import Node, Pod, decode
from scheduler.backend.cluster import ClusterState
from scheduler.backend.hints import Registration
from scheduler.backend.queue import SchedulingQueue
from scheduler.framework.events import ActionType, ClusterEvent, EventResource
from scheduler.framework.pods import PodInfo

NODES = 5_000
PODS = 50_000
ROUNDS = 20_000
_ROOT = Path(__file__).resolve().parent.parent

Result = tuple[str, float, str]


def run() -> list[Result]:
    """(name, value, unit) for each measurement."""
    command = [sys.executable, "-m", "bench.cluster_state"]
    done = subprocess.run(command, cwd=_ROOT, check=True, capture_output=True, text=True)
    return [(name, value, unit) for name, value, unit in json.loads(done.stdout)]


def measure() -> None:
    """Print the results as JSON; for a process of its own."""
    cluster, seconds = _loaded()
    results: list[Result] = [
        (f"{NODES} nodes and {PODS} pods: decode and apply", seconds, "s"),
        (f"{NODES} nodes and {PODS} pods: resident", _resident_megabytes(), "MB"),
        ("assume and forget", _assume_and_forget(cluster), "µs"),
        ("assume and confirm", _assume_and_confirm(cluster), "µs"),
        ("status update of a bound pod", _status_update(cluster), "µs"),
        ("queue: add, pop and done", _queue_round_trip(), "µs"),
        ("queue: event past 10000 refused pods of no interest", _event_past_refused(), "µs"),
    ]
    print(json.dumps(results))


def _loaded() -> tuple[ClusterState, float]:
    """A cluster as the scheduler gets it: pages of 500 raw items."""
    cluster = ClusterState()
    spent = 0.0
    for kind, total, document, apply in (
        (Node, NODES, _node, cluster.add_node),
        (Pod, PODS, _pod, cluster.add_pod),
    ):
        for first in range(0, total, 500):
            page = msgspec.json.encode([document(number) for number in range(first, first + 500)])
            start = time.perf_counter()
            for raw in msgspec.json.decode(page, type=list[msgspec.Raw]):
                apply(decode(kind, raw))  # type: ignore[arg-type]
            spent += time.perf_counter() - start
    gc.collect()
    return cluster, spent


def _node(number: int) -> dict[str, Any]:
    name = f"node-{number}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{number % 3}"}
    labels |= {f"example.com/label-{place}": f"value-{number % (place + 2)}" for place in range(10)}
    resources = {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "100Gi", "pods": "110"}
    images = [
        {
            "names": [
                f"registry.example/app-{image}@sha256:{image:064x}",
                f"registry.example/app-{image}:v1",
            ],
            "sizeBytes": image,
        }
        for image in range(number % 10, number % 10 + 20)
    ]
    conditions = [
        {
            "type": kind,
            "status": "False",
            "lastHeartbeatTime": "2026-01-01T00:00:00Z",
            "message": "kubelet is fine",
        }
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]
    return {
        "metadata": _metadata(name, labels),
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"cloud://{name}"},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "images": images,
            "conditions": conditions,
        },
    }


def _pod(number: int) -> dict[str, Any]:
    container = {
        "name": "app",
        "image": f"registry.example/app-{number % 30}:v1",
        "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
        "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}],
        "terminationMessagePath": "/dev/termination-log",
    }
    tolerations = [
        {
            "key": f"node.kubernetes.io/{key}",
            "operator": "Exists",
            "effect": "NoExecute",
            "tolerationSeconds": 300,
        }
        for key in ("not-ready", "unreachable")
    ]
    spec = {
        "nodeName": f"node-{number % NODES}",
        "schedulerName": "default-scheduler",
        "containers": [container],
        "tolerations": tolerations,
        "priority": 0,
        "serviceAccountName": "default",
    }
    status = {
        "phase": "Running",
        "startTime": "2026-01-01T00:00:00Z",
        "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}],
        "containerStatuses": [{"name": "app", "ready": True, "restartCount": 0, "imageID": "sha256:0"}],
    }
    labels = {"app": f"app-{number % 500}", "pod-template-hash": f"{number % 500:08x}"}
    return {
        "metadata": _metadata(f"app-{number % 500}-{number}", labels, "default"),
        "spec": spec,
        "status": status,
    }


def _metadata(name: str, labels: dict[str, str], namespace: str = "") -> dict[str, Any]:
    return {
        "name": name,
        "namespace": namespace,
        "uid": f"00000000-0000-0000-0000-{name}",
        "resourceVersion": "1234567",
        "creationTimestamp": "2026-01-01T00:00:00Z",
        "labels": labels,
        "annotations": {"example.com/checksum": "0" * 64},
        "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {"f:conditions": {}}}}],
    }


def _resident_megabytes() -> float:
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def _microseconds(step: Callable[[int], object], rounds: int = ROUNDS) -> float:
    """The median time of a step, over batches, so that the clock's own cost does not count."""
    batch = max(1, rounds // 100)
    times = []
    for first in range(0, rounds, batch):
        start = time.perf_counter()
        for number in range(first, first + batch):
            step(number)
        times.append((time.perf_counter() - start) / batch)
    return statistics.median(times) * 1e6


def _new_pods(count: int, **spec: Any) -> list[PodInfo]:
    documents = (_pod(PODS + number) for number in range(count))
    pods = [
        msgspec.convert({**one, "spec": {**one["spec"], "nodeName": "", **spec}, "status": {}}, Pod)
        for one in documents
    ]
    return [PodInfo(pod) for pod in pods]


def _assume_and_forget(cluster: ClusterState) -> float:
    pods = _new_pods(1000)

    def step(number: int) -> None:
        info = pods[number % 1000]
        cluster.assume_pod(info, f"node-{number * 7 % NODES}")
        cluster.forget_pod(info.uid)

    return _microseconds(step)


def _assume_and_confirm(cluster: ClusterState) -> float:
    pods = _new_pods(ROUNDS)
    confirmed = []
    for number, info in enumerate(pods):
        spec = msgspec.structs.replace(info.pod.spec, node_name=f"node-{number * 7 % NODES}")
        confirmed.append(msgspec.structs.replace(info.pod, spec=spec))

    def step(number: int) -> None:
        cluster.assume_pod(pods[number], confirmed[number].spec.node_name)
        cluster.add_pod(confirmed[number])

    took = _microseconds(step)
    for pod in confirmed:
        cluster.delete_pod(pod)
    return took


def _status_update(cluster: ClusterState) -> float:
    pods = [info.pod for info in list(cluster.pods())[:ROUNDS]]
    newer = [
        msgspec.structs.replace(pod, status=msgspec.structs.replace(pod.status, phase="Pending"))
        for pod in pods
    ]
    return _microseconds(lambda number: cluster.update_pod(pods[number], newer[number]))


def _queue(*registrations: Registration) -> SchedulingQueue:
    return SchedulingQueue(
        lambda queued: (-queued.pod_info.priority, queued.timestamp),
        time.monotonic,
        pre_enqueue={},
        hints={"default-scheduler": registrations},
    )


def _queue_round_trip() -> float:
    queue = _queue()
    pods = _new_pods(ROUNDS)
    for info in pods[: ROUNDS // 2]:
        queue.add(info)

    def step(number: int) -> None:
        queue.add(pods[ROUNDS // 2 + number])
        queued = queue.pop()
        if queued is not None:
            queue.done(queued.pod_info.uid)

    return _microseconds(step, ROUNDS // 2)


def _event_past_refused() -> float:
    added = ClusterEvent(EventResource.NODE, ActionType.ADD)
    bound = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
    queue = _queue(Registration(added, "NodeResourcesFit"), Registration(bound, "InterPodAffinity"))
    for info in _new_pods(10_000):
        queue.add(info)
    while (queued := queue.pop()) is not None:
        queued.unschedulable_plugins = {"NodeResourcesFit"}
        queue.add_unschedulable(queued)
    return _microseconds(lambda _: queue.move_all(bound, None, None), 1000)


if __name__ == "__main__":
    measure()
