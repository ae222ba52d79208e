"""The selector of a pod that names none: what the services that choose it and the controller that owns it select.

Services add the labels that they want, a replication controller too (its value wins over a service's); a replica set or stateful
set adds its whole selector. An owner that does not exist, or whose selector cannot be read, adds nothing.

Upstream: ``plugins/helper/spread.go`` (``DefaultSelector``).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Final

from scheduler.apis.objects import (
    LabelSelector,
    OwnerReference,
    Pod,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
)
from scheduler.apis.selectors import (
    EVERYTHING,
    Selector,
    SelectorError,
    compile_label_selector,
    selector_from_set,
)
from scheduler.framework.catalog import Catalog

OWNERS: Final[tuple[type, ...]] = (Service, ReplicationController, ReplicaSet, StatefulSet)
"""The kinds in which a selector is looked for."""

_REPLICATION_CONTROLLER: Final = ("v1", "ReplicationController")
_REPLICA_SET: Final = ("apps/v1", "ReplicaSet")
_STATEFUL_SET: Final = ("apps/v1", "StatefulSet")


def default_selector(pod: Pod, catalog: Catalog) -> Selector:
    """The selector; the empty one when nothing selects the pod."""
    labels: dict[str, str] = {}
    for service in services_of(pod, catalog):
        labels |= service.spec.selector
    owner = _controller_of(pod)
    if owner is None:
        return selector_from_set(labels)
    kind, place = (owner.api_version, owner.kind), (owner.name, pod.metadata.namespace)
    if kind == _REPLICATION_CONTROLLER:
        controller = catalog.replication_controllers.get(*place)
        labels |= {} if controller is None else controller.spec.selector
    added = EVERYTHING
    if kind == _REPLICA_SET:
        replica_set = catalog.replica_sets.get(*place)
        added = EVERYTHING if replica_set is None else _lenient(replica_set.spec.selector)
    elif kind == _STATEFUL_SET:
        stateful_set = catalog.stateful_sets.get(*place)
        added = EVERYTHING if stateful_set is None else _lenient(stateful_set.spec.selector)
    return Selector((*selector_from_set(labels).requirements, *added.requirements))


def services_of(pod: Pod, catalog: Catalog) -> Iterable[Service]:
    """The services that select the pod and want any label; one that wants none adds none, so it does not matter here."""
    labels, namespace = pod.metadata.labels, pod.metadata.namespace
    for wanted in labels.items():
        for service in catalog.services.by(_least_label, (namespace, wanted)):
            if service.spec.selector.items() <= labels.items():
                yield service


def _least_label(service: Service) -> Iterable[Hashable]:
    """One label that the service's pods must have, so that a pod meets only the services that may select it."""
    selector = service.spec.selector
    return ((service.metadata.namespace, min(selector.items())),) if selector else ()


def _controller_of(pod: Pod) -> OwnerReference | None:
    return next((owner for owner in pod.metadata.owner_references if owner.controller), None)


def _lenient(selector: LabelSelector | None) -> Selector:
    try:
        return compile_label_selector(selector)
    except SelectorError:
        return EVERYTHING
