"""A scheduling cycle for pods of every kind: 5,000 nodes, 10,000 running pods in 200 workloads, all nodes scored.

A kind whose plugin is not there yet is left out: its cycle would be a plain pod's.
"""

import time
from typing import NamedTuple

from bench.pending import (
    MakePod,
    affinity,
    anti_affinity,
    of_a_new_workload,
    of_a_service,
    plain,
    preferred_affinity,
    spread,
    unschedulable,
    with_volume,
)
from bench.steady import Clock, median_cycle
from bench.wiring import scheduler_of
from bench.workloads import HOSTNAME, ZONE, Shape, fill
from scheduler.apis.objects import Pod
from scheduler.framework.catalog import Catalog
from scheduler.plugins import IN_TREE

Result = tuple[str, float, str]

SHAPE = Shape()
WITH_VOLUMES = Shape(volumes=5_000)
APART = Shape(apart=True)
PODS = 300
WARM_UP = 20


class Kind(NamedTuple):
    """Pods that ask for one thing: how to make them, in which cluster, and whose answer it is that is measured."""

    make: MakePod
    plugin: str = "NodeResourcesFit"
    shape: Shape = SHAPE


KINDS = {
    "plain pod": Kind(plain),
    "plain pod of a service, spread by default": Kind(of_a_service, "PodTopologySpread"),
    "plain pod among 200 workloads with anti-affinity": Kind(plain, "InterPodAffinity", APART),
    "first pod of a workload with anti-affinity": Kind(of_a_new_workload, "InterPodAffinity", APART),
    "required anti-affinity on hostname": Kind(anti_affinity(HOSTNAME), "InterPodAffinity"),
    "required affinity on zone": Kind(affinity(ZONE), "InterPodAffinity"),
    "preferred affinity on hostname": Kind(preferred_affinity(HOSTNAME), "InterPodAffinity"),
    "topology spread on zone": Kind(spread(ZONE), "PodTopologySpread"),
    "topology spread on hostname": Kind(spread(HOSTNAME), "PodTopologySpread"),
    "bound CSI volume": Kind(with_volume, "NodeVolumeLimits", WITH_VOLUMES),
    "unschedulable pod with its message": Kind(unschedulable),
}


def run() -> list[Result]:
    """The medians in milliseconds."""
    return [
        (f"cycle: {name}", measured(kind, kind.shape), "ms")
        for name, kind in KINDS.items()
        if kind.plugin in IN_TREE
    ]


def measured(kind: Kind, shape: Shape, pods: int = PODS, clock: Clock = time.perf_counter) -> float:
    """The median cycle in milliseconds over a new cluster of that shape."""
    catalog = Catalog()
    waiting = {pod.metadata.name: pod for pod in (kind.make(catalog, n) for n in range(WARM_UP + pods))}

    def lookup(_: str, name: str) -> Pod | None:
        return waiting.get(name)

    scheduler = scheduler_of(catalog, lookup)
    fill(scheduler, catalog, shape)
    return median_cycle(scheduler, waiting.values(), clock, warm_up=WARM_UP)
