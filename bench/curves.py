"""What a cycle's cost grows with: nodes and distinct sets of labels, not pods.

The same kinds of pods as in ``plugins_cycle``, over clusters of which one size is another: first the number of nodes; then the number
of running pods of the same workloads; then the number of workloads among the same number of pods.
"""

from bench.plugins_cycle import KINDS, measured
from bench.workloads import Shape
from scheduler.plugins import IN_TREE

Result = tuple[str, float, str]

NODES = (1_000, 5_000, 20_000, 100_000)
PODS = (10_000, 50_000, 200_000)
WORKLOADS = (200, 2_000, 10_000)
CURVES = ("plain pod", "topology spread on zone", "required affinity on zone")
SAMPLE = 60


def run() -> list[Result]:
    """The medians in milliseconds."""
    shapes = {f"{nodes:,} nodes": Shape(nodes=nodes) for nodes in NODES}
    shapes |= {f"{pods:,} pods of 200 workloads": Shape(pods=pods) for pods in PODS}
    shapes |= {
        f"50,000 pods of {workloads:,} workloads": Shape(pods=50_000, workloads=workloads)
        for workloads in WORKLOADS
    }
    return [
        (f"{name}: {size}", measured(KINDS[name], shape, SAMPLE), "ms")
        for name in CURVES
        if KINDS[name].plugin in IN_TREE
        for size, shape in shapes.items()
    ]
