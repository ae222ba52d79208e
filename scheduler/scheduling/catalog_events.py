"""What a change of an object beside nodes and pods does: the catalog follows, then pods that waited for it move.

::

    kind                                            -> catalog      -> queue
    PersistentVolume, PersistentVolumeClaim,           put          move: PersistentVolumeAdd, PersistentVolumeUpdate, ...
    StorageClass, CSINode, CSIDriver,                  or remove
    CSIStorageCapacity, VolumeAttachment
    Namespace, Service, ReplicationController,         put          nothing: no plugin of kube-scheduler waits for them
    ReplicaSet, StatefulSet, PodDisruptionBudget       or remove

An update of these kinds does not say which part changed; a plugin's hint compares old and new. Events that no plugin registered
for are neither moved nor measured (upstream: ``addAllEventHandlers``, ``unionedGVKs``).

Called by the scheduling thread, under the lock, with each kind's events in the order in which the API server sent them. Between two
kinds there is no order: a pod may come before its claim, and the claim's event brings the pod back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.backend.queue import SchedulingQueue
from scheduler.framework.catalog import Catalog, Object
from scheduler.framework.events import ActionType, ClusterEvent, EventResource
from scheduler.metrics import Metrics

EVENT_RESOURCES: Final[Mapping[type[Any], EventResource]] = MappingProxyType(
    {
        PersistentVolume: EventResource.PERSISTENT_VOLUME,
        PersistentVolumeClaim: EventResource.PERSISTENT_VOLUME_CLAIM,
        StorageClass: EventResource.STORAGE_CLASS,
        CSINode: EventResource.CSI_NODE,
        CSIDriver: EventResource.CSI_DRIVER,
        CSIStorageCapacity: EventResource.CSI_STORAGE_CAPACITY,
        VolumeAttachment: EventResource.VOLUME_ATTACHMENT,
    }
)
"""The kinds whose changes plugins may wait for, under the names that they register."""


def kinds_awaited(events: Iterable[ClusterEvent]) -> frozenset[type[Any]]:
    """The kinds of the catalog that registered events are about."""
    resources = {event.resource for event in events}
    return frozenset(kind for kind, resource in EVENT_RESOURCES.items() if resource in resources)


class CatalogEvents:
    """Applies changes.

    Args:
        now: the clock, in seconds.
    """

    def __init__(
        self, catalog: Catalog, queue: SchedulingQueue, metrics: Metrics, now: Callable[[], float]
    ) -> None:
        self._catalog = catalog
        self._queue = queue
        self._metrics = metrics
        self._now = now

    def added(self, obj: Object) -> None:
        """An object came."""
        start = self._now()
        self._catalog.of(type(obj)).put(obj)
        self._move(ActionType.ADD, None, obj, start)

    def updated(self, old: Object, new: Object) -> None:
        """An object changed."""
        start = self._now()
        self._catalog.of(type(new)).put(new)
        self._move(ActionType.UPDATE, old, new, start)

    def deleted(self, obj: Object) -> None:
        """An object went."""
        start = self._now()
        self._catalog.of(type(obj)).remove(obj)
        self._move(ActionType.DELETE, obj, None, start)

    def _move(self, action: ActionType, old: Object | None, new: Object | None, start: float) -> None:
        resource = EVENT_RESOURCES.get(type(new if old is None else old))
        if resource is None:
            return
        event = ClusterEvent(resource, action)
        if self._queue.of_interest(event):
            self._queue.move_all(event, old, new)
            self._metrics.event_handled(event.label, self._now() - start)
