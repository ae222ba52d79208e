"""Which kinds a process watches: nodes and pods always, the others when a plugin of some profile needs them.

A plugin needs a kind that it names in ``reads``, and every kind whose events it registers. What nobody needs is not watched: it would
cost the API server a watch, the process memory, and its account a permission (upstream: an informer exists once a plugin asks the
factory for it, or registers its events).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    Namespace,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
    decode,
)
from scheduler.backend.hints import registrations
from scheduler.client import resources
from scheduler.client.informers import Informer
from scheduler.client.resources import Resource
from scheduler.client.rest import Rest
from scheduler.client.store import Handler
from scheduler.framework.runtime import Framework
from scheduler.scheduling.catalog_events import kinds_awaited

RESOURCES: Final[Mapping[type[Any], Resource]] = MappingProxyType(
    {
        Namespace: resources.NAMESPACES,
        PersistentVolume: resources.PERSISTENT_VOLUMES,
        PersistentVolumeClaim: resources.PERSISTENT_VOLUME_CLAIMS,
        StorageClass: resources.STORAGE_CLASSES,
        CSINode: resources.CSI_NODES,
        CSIDriver: resources.CSI_DRIVERS,
        CSIStorageCapacity: resources.CSI_STORAGE_CAPACITIES,
        VolumeAttachment: resources.VOLUME_ATTACHMENTS,
        Service: resources.SERVICES,
        ReplicationController: resources.REPLICATION_CONTROLLERS,
        ReplicaSet: resources.REPLICA_SETS,
        StatefulSet: resources.STATEFUL_SETS,
        PodDisruptionBudget: resources.POD_DISRUPTION_BUDGETS,
    }
)
"""Where the API server has the kinds of the catalog."""


def kinds_needed(frameworks: Iterable[Framework]) -> frozenset[type[Any]]:
    """The kinds that the profiles' plugins need besides nodes and pods."""
    needed: frozenset[type[Any]] = frozenset()
    for framework in frameworks:
        registered = registrations(framework.events_to_register())
        needed |= framework.reads | kinds_awaited(one.event for one in registered)
    return needed


def catalog_informers(
    kinds: Collection[type[Any]], rest: Rest, handler: Handler[Any]
) -> Iterator[Informer[Any]]:
    """An informer per kind that tells the handler, in the order of ``RESOURCES``."""
    for kind, resource in RESOURCES.items():
        if kind in kinds:
            informer: Informer[Any] = Informer(rest, resource, partial(decode, kind))
            informer.add_handler(handler)
            yield informer
