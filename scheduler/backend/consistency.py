"""Does the table say what the pods add up to? Recomputed from scratch, for tests and for whoever debugs a running scheduler."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from scheduler.framework.integers import wrapped
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import PodInfo
from scheduler.framework.resource_names import CPU, MEMORY

Homeless = Mapping[str, Mapping[str, PodInfo]]


def differences(nodes: NodeTable, pods: Mapping[str, PodInfo], homeless: Homeless) -> list[str]:
    """Every difference between the table and the pods, one line each.

    Args:
        nodes: the table.
        pods: every pod on a node, by uid.
        homeless: those whose node is unknown, by node and uid.
    """
    return [*_misplaced(nodes, pods, homeless), *_miscounted(nodes, pods)]


def _misplaced(nodes: NodeTable, pods: Mapping[str, PodInfo], homeless: Homeless) -> list[str]:
    found = []
    places = [(name, info) for row, name in enumerate(nodes.names) for info in nodes.pods(row)]
    for node, waiting in homeless.items():
        if nodes.row_of(node) is not None:
            found.append(f"node {node} is known, and yet pods wait for it")
        places += [(node, info) for info in waiting.values()]
    for node, info in places:
        if pods.get(info.uid) is not info:
            found.append(f"pod {info.pod.full_name} on node {node} is out of date or unknown")
        elif info.pod.spec.node_name != node:
            found.append(f"pod {info.pod.full_name} is on node {node} instead of {info.pod.spec.node_name}")
    if len(places) != len(pods):
        found.append(f"{len(places)} places for {len(pods)} pods")
    return found


def _miscounted(nodes: NodeTable, pods: Mapping[str, PodInfo]) -> list[str]:
    resources = {resource for info in pods.values() for resource in info.requests} | {CPU, MEMORY}
    found = []
    for row, name in enumerate(nodes.names):
        there = [PodInfo(info.pod) for info in nodes.pods(row)]
        wanted: Counter[str] = Counter()
        for info in there:
            wanted.update(info.requests)
        expected = {f"requested {resource}": wanted[resource] for resource in resources}
        actual = {f"requested {resource}": int(nodes.requested(resource)[row]) for resource in resources}
        for place, resource in enumerate((CPU, MEMORY)):
            expected[f"nonzero {resource}"] = sum(info.nonzero_requests[place] for info in there)
            actual[f"nonzero {resource}"] = int(nodes.nonzero_requested(resource)[row])
        expected["pods"] = len(there)
        actual["pods"] = int(nodes.pod_count[row])
        found += [
            f"node {name}: {what} is {actual[what]}, not {amount}"
            for what, amount in expected.items()
            if actual[what] != wrapped(amount)
        ]
        found += _wrong_ports(nodes, row, there)
    return found


def _wrong_ports(nodes: NodeTable, row: int, there: list[PodInfo]) -> list[str]:
    # When two pods hold one port, its first release frees it, as upstream has it: so fewer may be taken, never more.
    taken = nodes.port_sets[nodes.port_set_ids[row]]
    held = {port for info in there for port in info.host_ports}
    return [f"node {nodes.names[row]}: port {port.port} is taken by nobody" for port in taken - held]
