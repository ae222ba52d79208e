"""Nodes by zone, pods on them, and pods that want to be spread."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.apis.config.args import PodTopologySpreadArgs
from scheduler.framework.node_table import NodeTable
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.plugins.harness import Handle, make_plugin, rejections, table

ZONE, HOSTNAME = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
SKEWED = "node(s) didn't match pod topology spread constraints"
UNLABELLED = f"{SKEWED} (missing required label)"
WEB = {"matchLabels": {"app": "web"}}
NO_DEFAULTS = PodTopologySpreadArgs(defaulting_type="List")


def make_spread(args: PodTopologySpreadArgs = NO_DEFAULTS, handle: Handle | None = None) -> Any:
    """The plugin."""
    return make_plugin("PodTopologySpread", args, handle)


def host(name: str, zone: str | None = None) -> NodeBuilder:
    """A node with its hostname, and a zone unless None."""
    node = make_node(name).label(HOSTNAME, name)
    return node if zone is None else node.label(ZONE, zone)


def web(name: str = "web", namespace: str = "default") -> PodBuilder:
    """A pod that the usual selector matches."""
    return make_pod(name, namespace).label("app", "web")


def hard(key: str = ZONE, skew: int = 1, selector: Any = WEB, **fields: Any) -> dict[str, Any]:
    """A constraint with ``DoNotSchedule``."""
    return {
        "topologyKey": key,
        "maxSkew": skew,
        "labelSelector": selector,
        "whenUnsatisfiable": "DoNotSchedule",
        **fields,
    }


def soft(key: str = ZONE, skew: int = 1, selector: Any = WEB, **fields: Any) -> dict[str, Any]:
    """A constraint with ``ScheduleAnyway``."""
    return {**hard(key, skew, selector, **fields), "whenUnsatisfiable": "ScheduleAnyway"}


def spread(*constraints: dict[str, Any], pod: PodBuilder | None = None) -> PodBuilder:
    """A web pod with these constraints."""
    return (pod or web("incoming")).spec(topologySpreadConstraints=list(constraints))


def cluster(zones: Mapping[str, str], counts: Mapping[str, int]) -> NodeTable:
    """Nodes by name with their zone, and so many web pods on each."""
    nodes = table(*(host(name, zone) for name, zone in zones.items()))
    for name, count in counts.items():
        for number in range(count):
            put(nodes, name, web(f"{name}-{number}"))
    return nodes


def put(nodes: NodeTable, name: str, *pods: PodBuilder) -> None:
    """Place pods on a node."""
    row = nodes.row_of(name)
    assert row is not None
    for pod in pods:
        nodes.add_pod(row, pod.node(name).info())


def fitting(pod: PodBuilder, nodes: NodeTable, plugin: Any = None) -> str:
    """The names of the nodes that are not rejected, joined by blanks."""
    rejected = rejections(plugin or make_spread(), pod, nodes)
    return " ".join(name for name in nodes.names if name not in rejected)
