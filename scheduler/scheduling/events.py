"""What each watched change does to cluster and queue (upstream: ``eventhandlers.go``).

::

    pod     assigned?     responsible?   -> cluster state            -> queue
    add     yes                             add                         move: AssignedPodAdd
    add     no            yes                                           add
    update  no -> yes     yes               add                         delete, then move: AssignedPodAdd
    update  no            yes               (assumed: nothing)          update
    delete  yes                             delete                      move: AssignedPodDelete
    delete  no            yes               (assumed: forget)           delete

An update from one uid to another is a delete and an add: the pod was recreated while the watch was away.

A reload may add a profile: its pods are adopted from what the watch has seen. The event about one of them may still be under way, so that an
added pod that is known already is passed over. A reload may remove one: its pods that are assumed are cared for until they are bound.

Called by the scheduling thread, under the lock, with events in the order in which the API server sent them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from scheduler.apis.objects import Node, Pod
from scheduler.apis.quantity import QuantityError
from scheduler.backend import changes
from scheduler.framework.catalog import Object
from scheduler.framework.events import ClusterEvent
from scheduler.framework.pods import PodInfo
from scheduler.scheduling.parts import Parts
from scheduler.scheduling.promises import Promises

logger = logging.getLogger(__name__)

_DELETED = "removed"


class ClusterEvents:
    """Applies changes.

    Args:
        promises: told of the nominations of the pods that others schedule.
    """

    def __init__(self, parts: Parts, promises: Promises) -> None:
        self._cluster = parts.cluster
        self._queue = parts.queue
        self._waiting = parts.waiting
        self._decisions = parts.decisions
        self._profiles = parts.frameworks.keys()
        self._promises = promises
        self._metrics = parts.metrics
        self._now = parts.clocks.now

    def apply(self, change: Callable[..., None], *objects: Object) -> None:
        """Apply one change; an object that cannot be understood is named in the log and leaves everything as it was."""
        try:
            change(*objects)
        except QuantityError as error:
            meta = objects[-1].metadata
            name = f"{meta.namespace}/{meta.name}".lstrip("/")
            logger.error("%s %s is ignored: %s", type(objects[-1]).__name__, name, error)

    def adopt(self, pods: Iterable[Pod]) -> None:
        """These pods exist, and we became responsible for those without a node."""
        for pod in pods:
            if not pod.spec.node_name:
                self.apply(self.pod_added, pod)

    # Nodes

    def node_added(self, node: Node) -> None:
        """A node came."""
        start = self._now()
        self._cluster.add_node(node)
        self._move(changes.NODE_ADD, None, node, start)

    def node_updated(self, old: Node, new: Node) -> None:
        """A node changed; only changes that may help a waiting pod wake the queue."""
        start = self._now()
        self._cluster.update_node(old, new)
        for event in changes.node_changes(old, new):
            self._move(event, old, new, start)

    def node_deleted(self, node: Node) -> None:
        """A node went."""
        start = self._now()
        self._move(changes.NODE_DELETE, node, None, start)
        self._cluster.delete_node(node)

    # Pods

    def pod_added(self, pod: Pod) -> None:
        """A pod came: it runs somewhere, or it is to be scheduled."""
        if pod.spec.node_name:
            self._assigned_added(pod)
        elif not self._responsible(pod):
            self._promises.note(pod)
        elif not self._known(pod):
            start = self._now()
            self._promises.forget(pod.metadata.uid)
            self._queue.add(PodInfo(pod))
            self._observe(changes.UNSCHEDULED_POD_ADD, start)

    def pod_updated(self, old: Pod, new: Pod) -> None:
        """A pod changed; being bound is a change too."""
        if old.metadata.uid != new.metadata.uid:
            self.pod_deleted(old)
            self.pod_added(new)
        elif old.spec.node_name:
            self._assigned_updated(old, new)
        elif new.spec.node_name:
            self._promises.forget(old.metadata.uid)
            if self._responsible(old):
                self._queue.delete(old)
            self._assigned_added(new)
        elif self._responsible(old):
            self._pending_updated(old, new)
        else:
            self._promises.note(new)

    def pod_deleted(self, pod: Pod) -> None:
        """A pod went."""
        self._decisions.forget(pod.metadata.uid)
        self._promises.forget(pod.metadata.uid)
        if pod.spec.node_name:
            start = self._now()
            self._queue.delete(pod)  # it is not there, unless its binding was never told
            self._cluster.delete_pod(pod)
            self._move(changes.ASSIGNED_POD_DELETE, pod, None, start)
        elif self._responsible(pod):
            self._pending_deleted(pod)

    def _assigned_added(self, pod: Pod) -> None:
        start = self._now()
        self._cluster.add_pod(pod)
        self._move(changes.ASSIGNED_POD_ADD, None, pod, start)

    def _assigned_updated(self, old: Pod, new: Pod) -> None:
        start = self._now()
        self._cluster.update_pod(old, new)
        events = changes.pod_changes(old, new)
        for event in events:
            self._move(event, old, new, start)
        if changes.ASSIGNED_POD_UPDATE not in events:
            self._observe(changes.ASSIGNED_POD_UPDATE, start)

    def _pending_updated(self, old: Pod, new: Pod) -> None:
        if old.metadata.resource_version == new.metadata.resource_version:
            return
        start = self._now()
        if self._cluster.is_assumed(new.metadata.uid):
            if new.metadata.deletion_timestamp and not old.metadata.deletion_timestamp:
                self._assumed_deleted(new)
        else:
            self._queue.update(old, new)
            if old.status.nominated_node_name not in ("", new.status.nominated_node_name):
                self._nomination_ended(old)
        for event in dict.fromkeys((changes.UNSCHEDULED_POD_UPDATE, *changes.pod_changes(old, new))):
            self._observe(event, start)

    def _pending_deleted(self, pod: Pod) -> None:
        start = self._now()
        self._queue.delete(pod)
        self._observe(changes.UNSCHEDULED_POD_DELETE, start)
        if self._cluster.is_assumed(pod.metadata.uid):
            self._assumed_deleted(pod)
        elif pod.status.nominated_node_name:
            self._nomination_ended(pod)

    def _assumed_deleted(self, pod: Pod) -> None:
        """The pod vanished between the decision and the binding: give back what it was assumed to hold.

        A pod held by Permit is refused, and its binding cycle cleans up; one that is being bound already will fail.
        """
        uid = pod.metadata.uid
        assumed = self._cluster.get_pod(uid) or pod
        if not self._waiting.reject(uid, "", _DELETED):
            self._cluster.forget_pod(uid)
        self._move(changes.ASSIGNED_POD_DELETE, assumed, None, self._now())

    def _nomination_ended(self, pod: Pod) -> None:
        """Pods of the same or lower priority counted it as placed; they may fit now."""
        self._queue.move_all(
            changes.ASSIGNED_POD_DELETE, pod, None, precheck=lambda other: other.priority <= pod.priority
        )

    def _responsible(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self._profiles or self._cluster.is_assumed(pod.metadata.uid)

    def _known(self, pod: Pod) -> bool:
        uid, waiting = pod.metadata.uid, self._queue.get(pod)
        if waiting is not None and waiting.pod_info.uid == uid:
            return True
        return self._queue.is_in_flight(uid) or self._cluster.is_assumed(uid)

    def _move(
        self, event: ClusterEvent, old: Node | Pod | None, new: Node | Pod | None, start: float
    ) -> None:
        self._queue.move_all(event, old, new)
        self._observe(event, start)

    def _observe(self, event: ClusterEvent, start: float) -> None:
        self._metrics.event_handled(event.label, self._now() - start)
