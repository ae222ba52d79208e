"""The index of running pods by labels: 5,000 nodes, 50,000 pods in 500 workloads.

A question is asked in every cycle of a pod that looks at other pods, a pod comes with every decision, and every running pod's status
changes now and then.
"""

import statistics
import time
import tracemalloc
from collections.abc import Callable

from bench.steady import Clock
from bench.wiring import scheduler_of
from bench.workloads import Shape, fill
from scheduler.framework.catalog import Catalog
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pod_index import PodIndex
from scheduler.framework.pods import PodInfo
from scheduler.plugins.helper.pod_labels import LabelGroup, label_group

Result = tuple[str, float, str]

SHAPE = Shape(pods=50_000, workloads=500)
ROUNDS = 2_000


def run() -> list[Result]:
    """(what, value, unit)."""
    return measured()


def measured(clock: Clock = time.perf_counter) -> list[Result]:
    """See ``run``."""
    catalog = Catalog()
    scheduler = scheduler_of(catalog)
    fill(scheduler, catalog, SHAPE)
    nodes = scheduler.cluster.nodes
    start = clock()
    index = nodes.pods_by(label_group)
    built = clock() - start
    everything = list(index.keys())
    pod = nodes.pods(0)[0]
    changed = pod.with_pod(pod.pod)
    steps: dict[str, Callable[[], object]] = {
        "a pod comes and goes": lambda: _there_and_back(index, pod),
        "a pod's status changes": lambda: index.replace(0, pod, changed),
        "pods of one workload by row": lambda: index.counts(everything[:1], SHAPE.nodes),
        "pods of all workloads by row": lambda: index.counts(everything, SHAPE.nodes),
    }
    return [
        ("build", built * 1e3, "ms"),
        ("memory", _megabytes(nodes), "MB"),
        *((what, _median(step, clock), "µs") for what, step in steps.items()),
    ]


def _there_and_back(index: PodIndex[LabelGroup], pod: PodInfo) -> None:
    index.add(0, pod)
    index.remove(0, pod)


def _megabytes(nodes: NodeTable) -> float:
    """What another index of the same pods allocates."""
    tracemalloc.start()
    another = PodIndex(label_group)
    for row in range(len(nodes)):
        for pod in nodes.pods(row):
            another.add(row, pod)
    allocated, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return allocated / 1e6


def _median(step: Callable[[], object], clock: Clock) -> float:
    """The median time of a step in microseconds."""
    times = []
    for _ in range(ROUNDS):
        start = clock()
        step()
        times.append(clock() - start)
    return statistics.median(times) * 1e6
