"""One scheduling cycle over plain nodes that are all scored, the cluster empty at first."""

from typing import Any

from bench.steady import median_cycle
from bench.wiring import scheduler_of
from scheduler.apis.objects import Node, Pod, convert

Result = tuple[str, float, str]

SIZES = ((5_000, 1_000), (100_000, 200))


def run() -> list[Result]:
    """The medians in milliseconds."""
    return [
        (f"scheduling cycle, {nodes} nodes, all scored: median", _median(nodes, pods), "ms")
        for nodes, pods in SIZES
    ]


def _median(nodes: int, pods: int) -> float:
    scheduler = scheduler_of()
    for number in range(nodes):
        scheduler.node_handler.on_add(_node(number), initial=True)
    return median_cycle(scheduler, map(_pod, range(pods)))


def _node(number: int) -> Node:
    labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 3}"}
    allocatable = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return convert(
        Node, {"metadata": {"name": f"n{number}", "labels": labels}, "status": {"allocatable": allocatable}}
    )


def _pod(number: int) -> Pod:
    resources = {"cpu": "100m", "memory": "500Mi"}
    container: dict[str, Any] = {
        "name": "c",
        "image": "pause",
        "ports": [{"containerPort": 80}],
        "resources": {"requests": resources, "limits": resources},
    }
    metadata = {"name": f"p{number}", "namespace": "default", "uid": f"u{number}"}
    return convert(
        Pod, {"metadata": metadata, "spec": {"schedulerName": "default-scheduler", "containers": [container]}}
    )
