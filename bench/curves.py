"""What a cycle's cost grows with: nodes and distinct sets of labels, not pods.

The same kinds of pods as in ``plugins_cycle``, over clusters of which one size is another: first the number of nodes; then the number
of running pods of the same workloads; then the number of workloads among the same number of pods. What a workload's first pod
finds out, its next pods need not: so it is the first ones that the number of workloads matters to.
"""

from dataclasses import replace
from typing import Any

from bench.plugins_cycle import KINDS, measured
from scheduler.plugins import IN_TREE

Result = tuple[str, float, str]

SIZES: dict[str, dict[str, Any]] = {
    **{f"{nodes:,} nodes": {"nodes": nodes} for nodes in (1_000, 5_000, 20_000, 100_000)},
    **{f"{pods:,} pods of 200 workloads": {"pods": pods} for pods in (10_000, 50_000, 200_000)},
    **{
        f"50,000 pods of {workloads:,} workloads": {"pods": 50_000, "workloads": workloads}
        for workloads in (200, 2_000, 10_000)
    },
}
CURVES = {
    "plain pod": "plain pod",
    "topology spread on zone": "topology spread on zone",
    "required affinity on zone": "required affinity on zone",
    "first pod of a workload": "first pod of a workload among 200 with anti-affinity",
}
SAMPLE = 60


def run() -> list[Result]:
    """The medians in milliseconds."""
    return [
        (f"{name}: {size}", measured(kind, replace(kind.shape, **sizes), SAMPLE), "ms")
        for name, kind in ((name, KINDS[full]) for name, full in CURVES.items())
        if kind.plugin in IN_TREE
        for size, sizes in SIZES.items()
    ]
