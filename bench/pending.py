"""The pods whose cycles are measured: a plain one, and one for each thing that a pod can ask of other pods, zones and volumes.

All replicas of one of the running workloads, so that there are pods to count from the start, and more with each that is placed.
"""

from collections.abc import Callable
from typing import Any

from bench.workloads import (
    ZONE,
    Document,
    add_volume,
    claim_of,
    labels_of,
    namespace_of,
    pod_document,
    zone_of,
)
from scheduler.apis.objects import Pod, convert
from scheduler.framework.catalog import Catalog

WORKLOAD = 7
MakePod = Callable[[Catalog, int], Pod]
"""(the catalog, to put into it what the pod refers to; its number) -> the pod"""


def plain(_: Catalog, number: int) -> Pod:
    """Asks for cpu and memory."""
    return _pod(number)


def anti_affinity(key: str) -> MakePod:
    """Refuses its kind within a topology."""
    return _asking(affinity={"podAntiAffinity": {_REQUIRED: [_term(key)]}})


def affinity(key: str) -> MakePod:
    """Demands its kind within a topology."""
    return _asking(affinity={"podAffinity": {_REQUIRED: [_term(key)]}})


def preferred_affinity(key: str) -> MakePod:
    """Likes its kind within a topology."""
    weighted = {"weight": 10, "podAffinityTerm": _term(key)}
    return _asking(affinity={"podAffinity": {_PREFERRED: [weighted]}})


def spread(key: str) -> MakePod:
    """Is to be spread evenly over a topology."""
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return _asking(topologySpreadConstraints=[{**constraint, "labelSelector": _SELECTOR}])


def with_volume(catalog: Catalog, number: int) -> Pod:
    """Has a claim that is bound to a CSI volume in one zone."""
    name = _name(number)
    add_volume(catalog, name, namespace_of(WORKLOAD), zone_of(number))
    return _pod(number, volumes=[claim_of(name)])


def unschedulable(_: Catalog, number: int) -> Pod:
    """Has the wrong selector for three fifths of the nodes, and asks of the others for all the cpu and memory they have."""
    zones = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone_of(0), zone_of(1)]}]}
    document = pod_document(
        _name(number), WORKLOAD, affinity={"nodeAffinity": {_REQUIRED: {"nodeSelectorTerms": [zones]}}}
    )
    document["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "32", "memory": "128Gi"}}
    return convert(Pod, document)


_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_SELECTOR: Document = {"matchLabels": labels_of(WORKLOAD)}


def _term(key: str) -> Document:
    return {"labelSelector": _SELECTOR, "topologyKey": key}


def _asking(**spec: Any) -> MakePod:
    return lambda _, number: _pod(number, **spec)


def _name(number: int) -> str:
    return f"pending-{number}"


def _pod(number: int, **spec: Any) -> Pod:
    return convert(Pod, pod_document(_name(number), WORKLOAD, **spec))
