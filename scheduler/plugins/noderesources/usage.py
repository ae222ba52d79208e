"""How much of each scored resource would be in use on each node, with the pod and without it.

Two things leave a resource out of a node's score: the node has none of it (``allocatable`` is zero), or it is a scalar
resource that the pod does not ask for.

Upstream: ``resourceAllocationScorer.calculateNodeAllocatableRequest``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from scheduler.apis.config.args import ResourceSpec
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column
from scheduler.framework.resource_names import CPU, MEMORY, is_counted, is_scalar


class Usage(NamedTuple):
    """One resource over all rows; columns are int64[rows] in the resource's unit.

    Attributes:
        weight: its share in the score.
        allocatable: what the node has to give; where it is zero, the resource does not count for this row.
        allocated: what its pods request.
        requested: the same with the pod in question.
    """

    weight: int
    allocatable: Column
    allocated: Column
    requested: Column


def usages(
    nodes: Nodes, resources: Sequence[ResourceSpec], wanted: Mapping[str, int], *, with_defaults: bool
) -> Iterator[Usage]:
    """The resources that count for this pod.

    Args:
        nodes: the rows to score.
        resources: the scored resources, in the order of the configuration.
        wanted: what the pod requests.
        with_defaults: whether pods without requests for cpu and memory count as if they had some.
    """
    for resource in resources:
        name = resource.name
        amount = wanted.get(name, 0)
        if not is_counted(name) or (amount == 0 and is_scalar(name)):
            continue
        defaulted = with_defaults and name in (CPU, MEMORY)
        allocated = nodes.nonzero_requested(name) if defaulted else nodes.requested(name)
        yield Usage(resource.weight, nodes.allocatable(name), allocated, allocated + amount)
