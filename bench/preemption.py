"""Preemption: what PostFilter takes to find whom to evict, for a pod that fits nowhere.

A fifth of 5,000 nodes would do for the pod if pods of lower priority went; by default a tenth of these, 100, are tried. Only the dry
run counts: nothing is evicted, so each pod meets the same cluster.
"""

import statistics
import time
from collections.abc import Iterator
from typing import Any

from bench.pending import WORKLOAD
from bench.steady import Clock, settled_heap
from bench.wiring import scheduler_of
from bench.workloads import ZONE, Shape, apart, fill, labels_of, pod_document, zone_of
from scheduler.apis.objects import Pod, convert
from scheduler.framework.algorithm import Rotation, find_feasible
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import Hypothesis
from scheduler.framework.pods import PodInfo
from scheduler.plugins import IN_TREE
from scheduler.scheduling.scheduler import Scheduler

Result = tuple[str, float, str]

FEW, MANY = Shape(), Shape(pods=50_000)
APART, MANY_APART = Shape(apart=True), Shape(pods=50_000, apart=True)
PODS = 20
_SPREAD = {
    "maxSkew": 1,
    "topologyKey": ZONE,
    "whenUnsatisfiable": "DoNotSchedule",
    "labelSelector": {"matchLabels": labels_of(WORKLOAD)},
}
_BOTH: dict[str, Any] = {"topologySpreadConstraints": [_SPREAD], "affinity": apart(WORKLOAD)}


def run() -> list[Result]:
    """The medians in milliseconds; nothing while there is no preemption."""
    if "DefaultPreemption" not in IN_TREE:
        return []
    name = "preemption: dry run over 100 candidates"
    return [
        (name, measured(FEW), "ms"),
        (f"{name} of 10 pods", measured(MANY), "ms"),
        (f"{name}, spread on zone", measured(FEW, topologySpreadConstraints=[_SPREAD]), "ms"),
        (f"{name}, anti-affinity on hostname", measured(APART, affinity=apart(WORKLOAD)), "ms"),
        (f"{name} of 10 pods, both", measured(MANY_APART, **_BOTH), "ms"),
    ]


def measured(shape: Shape, clock: Clock = time.perf_counter, **spec: Any) -> float:
    """The median dry run, for pods with these fields of ``spec``."""
    catalog = Catalog()
    scheduler = scheduler_of(catalog)
    fill(scheduler, catalog, shape)
    with settled_heap():
        return statistics.median(_dry_run(scheduler, pod, clock) for pod in _pods(shape, spec)) * 1000


def _pods(shape: Shape, spec: dict[str, Any]) -> Iterator[Pod]:
    """Pods for one zone that ask for a little more cpu than its nodes have left."""
    left = 32_000 - 100 * shape.pods // shape.nodes
    for number in range(PODS):
        document = pod_document(
            f"preemptor-{number}", WORKLOAD, priority=1_000, nodeSelector={ZONE: zone_of(0)}, **spec
        )
        document["spec"]["containers"][0]["resources"] = {"requests": {"cpu": f"{left + 50}m"}}
        yield convert(Pod, document)


def _dry_run(scheduler: Scheduler, pod: Pod, clock: Clock) -> float:
    framework = scheduler.frameworks[pod.spec.scheduler_name]
    nodes, nominated = scheduler.cluster.nodes, scheduler.queue.nominator
    cycle = Cycle(PodInfo(pod))
    outcome = find_feasible(framework, cycle, nodes, nominated, Rotation())
    start = clock()
    result = framework.post_filter(cycle, nodes, outcome, Hypothesis(framework, nominated))
    took = clock() - start
    if not result.nominated_node:
        raise RuntimeError(f"nobody was preempted: {result.status.message}")
    return took
