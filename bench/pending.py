"""The pods whose cycles are measured: a plain one, and one for each thing that a pod can ask of other pods, zones and volumes.

All replicas of one of the running workloads, so that there are pods to count from the start, and more with each that is placed.
"""

from collections.abc import Callable
from typing import Any

from bench.workloads import (
    PREFERRED,
    REQUIRED,
    ZONE,
    Document,
    add_volume,
    apart,
    claim_of,
    labels_of,
    namespace_of,
    pod_document,
    zone_of,
)
from scheduler.apis.objects import Pod, Service, convert
from scheduler.framework.catalog import Catalog

WORKLOAD = 7
FIRST_NEW_WORKLOAD = 1_000_000
MakePod = Callable[[Catalog, int], Pod]
"""(the catalog, to put into it what the pod refers to; its number) -> the pod"""


def plain(_: Catalog, number: int) -> Pod:
    """Asks for cpu and memory."""
    return _pod(number)


def anti_affinity(key: str) -> MakePod:
    """Refuses its kind within a topology."""
    return _asking(affinity={"podAntiAffinity": {REQUIRED: [_term(key)]}})


def affinity(key: str) -> MakePod:
    """Demands its kind within a topology."""
    return _asking(affinity={"podAffinity": {REQUIRED: [_term(key)]}})


def preferred_affinity(key: str) -> MakePod:
    """Likes its kind within a topology."""
    weighted = {"weight": 10, "podAffinityTerm": _term(key)}
    return _asking(affinity={"podAffinity": {PREFERRED: [weighted]}})


def spread(key: str) -> MakePod:
    """Is to be spread evenly over a topology."""
    constraint = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule"}
    return _asking(topologySpreadConstraints=[{**constraint, "labelSelector": _SELECTOR}])


def of_a_service(catalog: Catalog, number: int) -> Pod:
    """Is a plain pod of a service: it is to be spread by default, as far as it can be."""
    if not number:
        metadata = {"name": "app", "namespace": namespace_of(WORKLOAD)}
        catalog.services.put(
            convert(Service, {"metadata": metadata, "spec": {"selector": labels_of(WORKLOAD)}})
        )
    return _pod(number)


def of_a_new_workload(_: Catalog, number: int) -> Pod:
    """Is the first pod of a workload whose pods refuse each other's node: nothing about it is known from an earlier cycle."""
    workload = FIRST_NEW_WORKLOAD + number
    return convert(Pod, pod_document(_name(number), workload, affinity=apart(workload)))


def with_volume(catalog: Catalog, number: int) -> Pod:
    """Has a claim that is bound to a CSI volume in one zone."""
    name = _name(number)
    add_volume(catalog, name, namespace_of(WORKLOAD), zone_of(number))
    return _pod(number, volumes=[claim_of(name)])


def unschedulable(_: Catalog, number: int) -> Pod:
    """Has the wrong selector for three fifths of the nodes, and asks of the others for all the cpu and memory they have."""
    zones = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone_of(0), zone_of(1)]}]}
    document = pod_document(
        _name(number), WORKLOAD, affinity={"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [zones]}}}
    )
    document["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "32", "memory": "128Gi"}}
    return convert(Pod, document)


_SELECTOR: Document = {"matchLabels": labels_of(WORKLOAD)}


def _term(key: str) -> Document:
    return {"labelSelector": _SELECTOR, "topologyKey": key}


def _asking(**spec: Any) -> MakePod:
    return lambda _, number: _pod(number, **spec)


def _name(number: int) -> str:
    return f"pending-{number}"


def _pod(number: int, **spec: Any) -> Pod:
    return convert(Pod, pod_document(_name(number), WORKLOAD, **spec))
