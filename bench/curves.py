"""What a cycle's cost grows with: nodes and distinct sets of labels, not pods.

The same kinds of pods as in ``plugins_cycle``, over clusters of which one size is another: first the number of nodes; then the number
of running pods of the same workloads; then the number of workloads among the same number of pods. What a workload's first pod
finds out, its next pods need not: so it is the first ones that the number of workloads matters to.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from bench.plugins_cycle import KINDS, measured
from scheduler.plugins import IN_TREE

Result = tuple[str, float, str]

SAMPLE = 60
PLAIN, SPREAD, AFFINITY = "plain pod", "topology spread on zone", "required affinity on zone"
FIRST = "first pod of a workload with anti-affinity"


class Curve(NamedTuple):
    """For each of these kinds of pods, clusters that differ in these sizes, by what the table calls them."""

    kinds: Sequence[str]
    sizes: dict[str, dict[str, Any]]


CURVES = (
    Curve(
        (PLAIN, SPREAD, AFFINITY),
        {f"{nodes:,} nodes": {"nodes": nodes} for nodes in (1_000, 5_000, 20_000, 100_000)},
    ),
    Curve(
        (SPREAD, FIRST),
        {f"{pods:,} pods of 200 workloads": {"pods": pods} for pods in (10_000, 50_000, 200_000)},
    ),
    Curve(
        (SPREAD, FIRST),
        {
            f"50,000 pods of {workloads:,} workloads": {"pods": 50_000, "workloads": workloads}
            for workloads in (2_000, 10_000)
        },
    ),
)


def run() -> list[Result]:
    """The medians in milliseconds."""
    return [result for curve in CURVES for result in _points(curve)]


def _points(curve: Curve) -> Iterator[Result]:
    for name in curve.kinds:
        kind = KINDS[name]
        if kind.plugin in IN_TREE:
            for size, sizes in curve.sizes.items():
                yield f"{name}: {size}", measured(kind, replace(kind.shape, **sizes), SAMPLE), "ms"
