"""A small world for affinity: three zones' worth of nodes, terms in one line, namespaces with labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.apis.config.args import InterPodAffinityArgs
from scheduler.apis.objects import Namespace, convert
from scheduler.framework.node_table import NodeTable
from tests.builders import Document, PodBuilder, make_node, make_pod
from tests.plugins import harness

ZONE = "zone"
HOST = "host"
INVALID: Document = {"matchExpressions": [{"key": "app", "operator": "Odd"}]}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"

AFFINITY = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY = "node(s) didn't match pod anti-affinity rules"
EXISTING = "node(s) didn't satisfy existing pods anti-affinity rules"


def app(name: str) -> Document:
    """The selector of an app."""
    return {"matchLabels": {"app": name}}


def where(key: str, operator: str, *values: str) -> Document:
    """A selector of one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def term(selector: Document | None, key: str = ZONE, **fields: Any) -> Document:
    """An affinity term, with more fields as the API spells them."""
    return {"labelSelector": selector, "topologyKey": key, **fields}


def pod(
    name: str = "pod",
    *labels: str,
    namespace: str = "default",
    near: Iterable[Document] = (),
    apart: Iterable[Document] = (),
    likes: Iterable[tuple[int, Document]] = (),
    dislikes: Iterable[tuple[int, Document]] = (),
) -> PodBuilder:
    """A pod with labels like ``app=web`` that requires and prefers company, or none."""
    made = make_pod(name, namespace).labels(dict(label.split("=") for label in labels))
    sides = {"podAffinity": (near, likes), "podAntiAffinity": (apart, dislikes)}
    affinity = {
        side: {REQUIRED: list(required), PREFERRED: [_weighted(*each) for each in preferred]}
        for side, (required, preferred) in sides.items()
        if required or preferred
    }
    return made.spec(affinity=affinity) if affinity else made


def nodes(**running: PodBuilder | Iterable[PodBuilder]) -> NodeTable:
    """a1 and a2 in zone a, b1 in zone b, and x in none, each its own host; with these pods on them."""
    table = harness.table(
        *(make_node(name).label(HOST, name).label(ZONE, name[0]) for name in ("a1", "a2", "b1")),
        make_node("x").label(HOST, "x"),
    )
    for name, pods in running.items():
        row = table.row_of(name)
        assert row is not None
        for each in (pods,) if isinstance(pods, PodBuilder) else pods:
            table.add_pod(row, each.node(name).info())
    return table


def plugin(
    namespaces: Mapping[str, Mapping[str, str]] | None = None,
    handle: harness.Handle | None = None,
    **arguments: Any,
) -> Any:
    """The plugin, in a cluster with these namespaces and their labels."""
    handle = handle or harness.Handle()
    for name, labels in (namespaces or {}).items():
        put_namespace(handle, name, labels)
    return harness.make_plugin("InterPodAffinity", InterPodAffinityArgs(**arguments), handle)


def put_namespace(handle: harness.Handle, name: str, labels: Mapping[str, str]) -> None:
    """Add a namespace, or change its labels."""
    document = {"metadata": {"name": name, "labels": dict(labels)}}
    handle.catalog.namespaces.put(convert(Namespace, document))


def reasons(made: Any, waiting: PodBuilder, table: NodeTable) -> dict[str, str]:
    """Why each rejected node is rejected."""
    found = harness.rejections(made, waiting, table)
    return {name: status.message for name, status in found.items()}


def _weighted(weight: int, each: Document) -> Document:
    return {"weight": weight, "podAffinityTerm": each}
