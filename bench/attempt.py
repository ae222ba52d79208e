"""One scheduling cycle, from the pop to the assumed pod, over plain nodes that are all scored."""

import random
import statistics
import time

from prometheus_client import CollectorRegistry

from bench.wiring import COMPONENT, FEATURES, Nowhere, default_frameworks
from scheduler.apis.objects import Node, Pod, convert
from scheduler.app.build import build_scheduler
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.scheduling.scheduler import Clocks, Outside, Scheduler

Result = tuple[str, float, str]

SIZES = ((5_000, 1_000), (100_000, 200))


def run() -> list[Result]:
    """The medians in milliseconds."""
    return [
        (f"scheduling cycle, {nodes} nodes, all scored: median", _median(nodes, pods), "ms")
        for nodes, pods in SIZES
    ]


def _median(nodes: int, pods: int) -> float:
    scheduler = _scheduler()
    for number in range(nodes):
        scheduler.node_handler.on_add(_node(number), initial=True)
    scheduler.step()
    scheduler.lead()
    times = []
    for number in range(pods):
        scheduler.pod_handler.on_add(_pod(number), initial=False)
        with scheduler.current():
            pass  # the event is applied here, so that only the cycle is timed below
        start = time.perf_counter()
        tried = scheduler.step() is None
        times.append(time.perf_counter() - start)
        if not tried:
            raise RuntimeError("the pod was not tried")
    scheduler.retire()
    return statistics.median(times) * 1000


def _scheduler() -> Scheduler:
    metrics, nowhere = Metrics(CollectorRegistry()), Nowhere()
    clocks = Clocks(time.monotonic, lambda: None)  # type: ignore[arg-type,return-value]  # nothing fails, so no condition is written
    waiting = WaitingPods(clocks.now)
    frameworks = default_frameworks(metrics, waiting)
    outside = Outside(nowhere, dict.fromkeys(frameworks, nowhere), lambda *_: None)
    return build_scheduler(
        COMPONENT,
        frameworks,
        waiting,
        outside,
        metrics,
        clocks,
        random.Random(1),
        features=FEATURES,
        max_in_unschedulable=300.0,
    )


def _node(number: int) -> Node:
    labels = {"kubernetes.io/hostname": f"n{number}", "topology.kubernetes.io/zone": f"z{number % 3}"}
    allocatable = {"cpu": "4", "memory": "32Gi", "pods": "110"}
    return convert(
        Node, {"metadata": {"name": f"n{number}", "labels": labels}, "status": {"allocatable": allocatable}}
    )


def _pod(number: int) -> Pod:
    resources = {"cpu": "100m", "memory": "500Mi"}
    container = {
        "name": "c",
        "image": "pause",
        "ports": [{"containerPort": 80}],
        "resources": {"requests": resources, "limits": resources},
    }
    metadata = {"name": f"p{number}", "namespace": "default", "uid": f"u{number}"}
    return convert(
        Pod, {"metadata": metadata, "spec": {"schedulerName": "default-scheduler", "containers": [container]}}
    )
