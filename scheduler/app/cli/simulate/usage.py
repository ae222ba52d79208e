"""How full the nodes are: what their pods request of what they have to give, per resource.

Millicores of cpu, bytes of memory and storage, units of everything else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from scheduler.framework.nodes import Nodes
from scheduler.framework.resource_names import CPU, MEMORY, PODS

_FIRST = (CPU, MEMORY, PODS)


@dataclass(frozen=True, slots=True)
class Usage:
    """One resource of one node."""

    allocatable: int
    requested: int


Usages = Mapping[str, Mapping[str, Usage]]
"""By node, then by resource; cpu, memory and pods come first."""


def measure(nodes: Nodes) -> Usages:
    """The state of every node now."""
    offered = {name for node in nodes.objects for name in node.status.allocatable}
    names = [*_FIRST, *sorted(offered - set(_FIRST))]
    columns = {
        name: (nodes.allocatable(name), nodes.pod_count if name == PODS else nodes.requested(name))
        for name in names
    }
    return {
        node: {
            name: Usage(int(allocatable[row]), int(requested[row]))
            for name, (allocatable, requested) in columns.items()
            if allocatable[row] or requested[row]
        }
        for row, node in enumerate(nodes.names)
    }


def total(usages: Usages) -> dict[str, Usage]:
    """All nodes together, by resource."""
    found: dict[str, Usage] = {}
    for of_node in usages.values():
        for name, usage in of_node.items():
            known = found.get(name, Usage(0, 0))
            found[name] = Usage(known.allocatable + usage.allocatable, known.requested + usage.requested)
    return found


def shown(resource: str, amount: int) -> str:
    """An amount as people read it: ``3.9`` cores, ``7.5Gi``, ``110``."""
    if resource == CPU:
        return f"{amount / 1000:.4g}"
    if resource in (MEMORY, "ephemeral-storage") or resource.startswith("hugepages-"):
        for unit, size in (("Ti", 2**40), ("Gi", 2**30), ("Mi", 2**20), ("Ki", 2**10)):
            if amount >= size:
                return f"{amount / size:.4g}{unit}"
    return str(amount)
