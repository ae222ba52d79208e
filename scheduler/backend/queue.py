"""SchedulingQueue: pods that wait for a decision.

::

                              PreEnqueue refuses
        add ──► gate ───────────────────────────────────────► unschedulable pods (gated)
                 │ passes                                                │
                 ▼                                                       │ an event for the gating plugin
            active queue ◄──────────────────────────────────────── gate ◄┘
                 │ ▲  ▲
             pop │ │  └── back-off ends ── back-off queue ◄── gate ◄──┐ a hint says Queue,
                 ▼ │                       │                          │ or 5 minutes have passed
            in flight  ◄─── pop early ─────┘                          │
                 │  ▲ (active queue empty)                            │
                 │  └ events meanwhile are kept                       │
                 ├── refused, nothing happened meanwhile ──► unschedulable pods
                 ├── refused, a hint says Queue to something that happened meanwhile ──► back-off queue
                 ├── error ──► back-off queue (never popped early)
                 └── done: bound, deleted or taken elsewhere

A pod that is no longer backing off skips the back-off queue; so does one whose pending plugin says Queue.

A plain data structure of one owner: no lock, no threads, no waiting in ``pop``. The owner calls ``flush`` when ``next_wakeup``
says so. Rules and event labels are those of upstream's ``backend/queue`` with ``SchedulerQueueingHints`` (locked on in 1.36).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from scheduler.apis.objects import Pod
from scheduler.backend import changes
from scheduler.backend.backoff import BackoffQueue
from scheduler.backend.gates import Gates
from scheduler.backend.heap import KeyedHeap
from scheduler.backend.hints import Hints, Registration, Strategy
from scheduler.backend.inflight import InFlight
from scheduler.backend.nominator import Nominator
from scheduler.backend.places import ACTIVE, BACKOFF, UNSCHEDULABLE, Places
from scheduler.backend.queued import NoMetrics, QueuedPodInfo, QueueMetrics, QueueTimes
from scheduler.backend.rules import QueueRules
from scheduler.backend.sorting import SortKey, last_if_it_fails
from scheduler.backend.unschedulable import Group, UnschedulablePods
from scheduler.framework.events import ClusterEvent
from scheduler.framework.interface import PreEnqueuePlugin
from scheduler.framework.pods import PodInfo

logger = logging.getLogger(__name__)

IN_FLIGHT = "in flight"
LEFTOVER_CHECK_SECONDS = 30.0

PreCheck = Callable[[Pod], bool]


class SchedulingQueue:
    """The queue.

    Args:
        sort_key: the queue-sort plugin's key; ties are popped in the order in which they came, pods for which it raises last.
        now: the clock, in seconds.
        pre_enqueue: the PreEnqueue plugins in order, by profile (``schedulerName``).
        hints: who wants to hear of which events, by profile; see ``registrations``.
        times: back-off and timeout.
        pop_from_backoff: whether ``pop`` turns to the back-off queue when the active one is empty (``SchedulerPopFromBackoffQ``).
        metrics: where arrivals and durations are counted.
        nominator: where nominations are kept up to date.
    """

    def __init__(
        self,
        sort_key: SortKey,
        now: Callable[[], float],
        *,
        pre_enqueue: Mapping[str, Sequence[PreEnqueuePlugin]],
        hints: Mapping[str, Sequence[Registration]],
        times: QueueTimes = QueueTimes(),  # noqa: B008  # an immutable value
        pop_from_backoff: bool = True,
        metrics: QueueMetrics | None = None,
        nominator: Nominator | None = None,
    ) -> None:
        self.nominator = nominator or Nominator()
        sort_key = self._sort_key = last_if_it_fails(sort_key)
        self._now = now
        self._max_in_unschedulable = times.max_in_unschedulable
        self._pop_from_backoff = pop_from_backoff
        self._metrics: QueueMetrics = metrics or NoMetrics()
        self._gates = Gates(pre_enqueue, self._metrics, now)
        self._hints = Hints(hints, self._metrics, now)
        self._active = KeyedHeap()
        self._backoff = BackoffQueue(
            sort_key, now, initial=times.initial_backoff, maximum=times.max_backoff, windows=pop_from_backoff
        )
        self._unschedulable = UnschedulablePods()
        self._places = Places(self._active, self._backoff, self._unschedulable)
        self._in_flight = InFlight()
        self._next_leftover_check = now() + LEFTOVER_CHECK_SECONDS

    # What the cluster tells

    def add(self, pod_info: PodInfo) -> None:
        """A new pod without a node: into the active queue, unless it is gated."""
        self._to_active(QueuedPodInfo(pod_info, self._now()), changes.UNSCHEDULED_POD_ADD.label)

    def update(self, old: Pod, new: Pod) -> None:
        """A pod without a node has changed. Wherever it waits, it waits on as the new one; if refused, that may be over.

        Raises:
            scheduler.apis.quantity.QuantityError: a request of it cannot be read; nothing was changed.
        """
        events = changes.pod_changes(old, new)
        if new.metadata.uid in self._in_flight:
            for event in events:
                self._in_flight.record(event, old, new)
            return
        info = PodInfo(new)
        if (queued := self._active.get(old.full_name)) is not None:
            self._replace(queued, old, info)
            self._active.push(queued, self._sort_key(queued))
        elif (queued := self._backoff.get(old.full_name)) is not None:
            self._replace(queued, old, info)
            self._backoff.update(queued)
        elif (queued := self._unschedulable.get(new.full_name)) is not None:
            self._replace(queued, old, info)
            self._requeue_updated(queued, events, old)
        else:
            self._to_active(QueuedPodInfo(info, self._now()), changes.UNSCHEDULED_POD_UPDATE.label)

    def delete(self, pod: Pod) -> None:
        """The pod is gone, or has a node; unknown ones are ignored. One in flight stays so until ``done``."""
        self.nominator.delete(pod.metadata.uid)
        queued = self._places.remove(pod.full_name)
        if queued is not None:
            self._count_rejectors(queued, -1)

    def move_all(self, event: ClusterEvent, old: Any, new: Any, precheck: PreCheck | None = None) -> int:
        """Something happened: move the pods that a hint deems worth it, and keep the event for those in flight.

        Returns the number of pods moved.

        Args:
            old: the object before; None when it was added.
            new: the object after; None when it was deleted. With a wildcard event: the only pod that it concerns.
            precheck: only pods for which it says True are considered.
        """
        if not self.of_interest(event):
            return 0
        moved = 0
        for group in self._unschedulable.groups():
            if not self._hints.may_move(event, group):
                continue
            pods = self._unschedulable.members(group)
            candidates = pods if precheck is None else [one for one in pods if precheck(one.pod)]
            moved += sum(self._move(queued, event, old, new) for queued in candidates)
        self._in_flight.record(event, old, new)
        return moved

    def of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin of any profile wants to hear of such an event."""
        return self._hints.of_interest(event)

    def activate(self, pods: Iterable[Pod]) -> None:
        """Move pods to the active queue, back-off or not; those in flight are tried again when they come back refused."""
        for pod in pods:
            queued = self._unschedulable.get(pod.full_name)
            if queued is not None:
                self._to_active(queued, changes.FORCE_ACTIVATE.label)
            elif (queued := self._backoff.remove(pod.full_name)) is not None:
                self._from_backoff(queued, changes.FORCE_ACTIVATE.label)
            elif pod.metadata.uid in self._in_flight:
                self._in_flight.record(changes.FORCE_ACTIVATE, None, pod)

    # What the scheduling loop does

    def follow(self, rules: QueueRules, changed: Collection[str]) -> None:
        """Go on by other rules: the configuration was reloaded.

        Pods of profiles that are no more are dropped. Those of ``changed`` profiles are judged anew: by the gates at once, by the plugins
        when their back-off ends; pods in flight too, once they come back refused.
        """
        for queued in [one for _, one in self._places if one.profile not in rules.pre_enqueue]:
            self.delete(queued.pod)
        self._sort_key = last_if_it_fails(rules.sort_key)
        self._max_in_unschedulable = rules.times.max_in_unschedulable
        self._gates = Gates(rules.pre_enqueue, self._metrics, self._now)
        self._hints = Hints(rules.hints, self._metrics, self._now)
        self._places.rank(self._sort_key, rules.times)
        for place, queued in [(place, one) for place, one in self._places if one.profile in changed]:
            self._judge_anew(place, queued)
        self._in_flight.record(changes.CONFIGURATION_RELOAD, None, None)

    def pop(self) -> QueuedPodInfo | None:
        """The next pod to decide, which is in flight until ``done`` or ``add_unschedulable``; None when there is none."""
        while (queued := self._next()) is not None:
            queued.attempts += 1
            if queued.pod_info.uid in self._in_flight:
                logger.error("pod %s was popped while it is in flight: discarded", queued.name)
                continue
            self._in_flight.start(queued)
            self._count_rejectors(queued, -1)
            return queued
        return None

    def done(self, uid: str) -> None:
        """The pod that was popped is bound or gone. Idempotent."""
        self._in_flight.done(uid)

    def add_unschedulable(self, queued: QueuedPodInfo) -> str:
        """The pod's attempt has failed: take it back, to where what happened meanwhile sends it; it is then ``done``.

        The caller has noted the rejecting plugins in it: none means that an error ended the attempt; and has given it the
        newest state of the pod.

        Returns:
            The queue that it went to: ``active``, ``backoff`` or ``unschedulable``.

        Raises:
            ValueError: a pod of that name already waits.
        """
        try:
            if place := self._places.place_of(queued.name):
                raise ValueError(f"pod {queued.name} is already present in the {place} queue")
            if queued.rejectors:
                queued.unschedulable_count += 1
                queued.consecutive_errors = 0
            else:
                queued.consecutive_errors += 1
            queued.timestamp = self._now()
            queued.backoff_expiration = None
            queued.was_flushed_from_unschedulable = False
            self._count_rejectors(queued, 1)
            happenings = self._in_flight.events_since(queued.pod_info.uid)
            return self._requeue(
                queued, self._hints.worth_since(queued, happenings), changes.SCHEDULE_ATTEMPT_FAILURE
            )
        finally:
            self._in_flight.done(queued.pod_info.uid)

    def flush(self) -> int:
        """Move pods whose back-off has ended to the active queue, and now and then those that waited too long for an event.

        Returns:
            The number of pods moved.
        """
        completed = self._backoff.pop_completed()
        for queued in completed:
            self._from_backoff(queued, changes.BACKOFF_COMPLETE)
        return len(completed) + self._flush_leftovers()

    def next_wakeup(self) -> float | None:
        """The time at which ``flush`` will have something to do; None when nothing waits for time to pass."""
        completion = self._backoff.next_completion()
        if not self._unschedulable:
            return completion
        return min(self._next_leftover_check, math.inf if completion is None else completion)

    # What observers see

    def __len__(self) -> int:
        """The number of pods that wait; those in flight do not."""
        return len(self._places)

    def get(self, pod: Pod) -> QueuedPodInfo | None:
        """The waiting pod of that name."""
        return self._places.get(pod.full_name)

    def is_in_flight(self, uid: str) -> bool:
        """Whether the pod was popped and is not done."""
        return uid in self._in_flight

    def pending(self) -> Iterator[tuple[str, QueuedPodInfo]]:
        """Every pod without a node with the queue that it is in; the pod itself says why."""
        yield from self._places
        yield from ((IN_FLIGHT, queued) for queued in self._in_flight)

    def pending_counts(self) -> dict[str, int]:
        """Waiting pods by queue: ``active``, ``backoff``, ``unschedulable``, ``gated``. May be read from any thread."""
        return self._places.counts()

    def in_flight_counts(self) -> dict[str, int]:
        """What is kept for pods in flight, by event label; ``PodPopped`` for the pods themselves. May be read from any thread."""
        return self._in_flight.counts()

    # From one place to the next

    def _next(self) -> QueuedPodInfo | None:
        queued = self._active.pop()
        if queued is None and self._pop_from_backoff:
            queued = self._backoff.pop_early()
            if queued is not None:
                self._metrics.queue_incoming(ACTIVE, changes.POP_FROM_BACKOFF_Q)
        return queued

    def _to_active(self, queued: QueuedPodInfo, event: str) -> bool:
        self._gates.check(queued)
        if not queued.gated:
            self._enter_active(queued, event)
            return True
        if queued.name not in self._active and queued.name not in self._backoff:
            self._set_aside(queued, event)
        return False

    def _from_backoff(self, queued: QueuedPodInfo, event: str) -> None:
        # Its plugins were asked when it came into the back-off queue, if it could have been popped from there.
        if self._pop_from_backoff:
            self._enter_active(queued, event)
        else:
            self._to_active(queued, event)

    def _enter_active(self, queued: QueuedPodInfo, event: str) -> None:
        if queued.initial_attempt_timestamp is None:
            queued.initial_attempt_timestamp = self._now()
        self._unschedulable.remove(queued.name)
        self._backoff.remove(queued.name)
        self._active.push(queued, self._sort_key(queued))
        self._metrics.queue_incoming(ACTIVE, event)
        logger.debug("pod %s to the active queue: %s", queued.name, event)
        if event in (changes.UNSCHEDULED_POD_ADD.label, changes.UNSCHEDULED_POD_UPDATE.label):
            self.nominator.add(queued.pod_info)

    def _to_backoff(self, queued: QueuedPodInfo, event: str) -> bool:
        if self._pop_from_backoff:
            self._gates.check(queued)
            if queued.gated:
                self._set_aside(queued, event)
                return False
        self._unschedulable.remove(queued.name)
        self._backoff.add(queued)
        self._metrics.queue_incoming(BACKOFF, event)
        logger.debug("pod %s to the back-off queue: %s", queued.name, event)
        return True

    def _judge_anew(self, place: str, queued: QueuedPodInfo) -> None:
        if place in (ACTIVE, BACKOFF):
            self._gates.check(queued)
            if queued.gated:
                self._places.remove(queued.name)
                self._set_aside(queued, changes.CONFIGURATION_RELOAD.label)
        else:
            self._move(queued, changes.CONFIGURATION_RELOAD, None, None)

    def _set_aside(self, queued: QueuedPodInfo, event: str) -> None:
        if self._unschedulable.put(queued):
            self._metrics.queue_incoming(UNSCHEDULABLE, event)
            logger.debug("pod %s to the unschedulable pods: %s", queued.name, event)

    def _requeue(self, queued: QueuedPodInfo, strategy: Strategy, event: str) -> str:
        if strategy is Strategy.SKIP:
            self._set_aside(queued, event)
            return UNSCHEDULABLE
        if strategy is Strategy.AFTER_BACKOFF and self._backoff.is_backing_off(queued):
            return BACKOFF if self._to_backoff(queued, event) else UNSCHEDULABLE
        return ACTIVE if self._to_active(queued, event) else UNSCHEDULABLE

    def _requeue_updated(self, queued: QueuedPodInfo, events: Sequence[ClusterEvent], old: Pod) -> None:
        for event in events:
            strategy = self._hints.worth_requeuing(queued, event, old, queued.pod)
            if self._requeue(queued, strategy, event.label) != UNSCHEDULABLE:
                return

    def _replace(self, queued: QueuedPodInfo, old: Pod, info: PodInfo) -> None:
        queued.pod_info = info
        self.nominator.update(old, info)

    def _move(self, queued: QueuedPodInfo, event: ClusterEvent, old: Any, new: Any) -> bool:
        strategy = self._hints.worth_requeuing(queued, event, old, new)
        if strategy is Strategy.SKIP:
            return False
        self._unschedulable.remove(queued.name)
        return self._requeue(queued, strategy, event.label) != UNSCHEDULABLE

    def _flush_leftovers(self) -> int:
        now = self._now()
        if now < self._next_leftover_check:
            return 0
        self._next_leftover_check = now + LEFTOVER_CHECK_SECONDS
        late = [one for one in self._unschedulable if now - one.timestamp > self._max_in_unschedulable]
        if not late:
            return 0
        moved = 0
        for queued in late:
            queued.was_flushed_from_unschedulable = True
            if self._hints.may_move(changes.UNSCHEDULABLE_TIMEOUT, Group.of(queued)):
                moved += self._move(queued, changes.UNSCHEDULABLE_TIMEOUT, None, None)
        self._in_flight.record(changes.UNSCHEDULABLE_TIMEOUT, None, None)
        return moved

    def _count_rejectors(self, queued: QueuedPodInfo, change: int) -> None:
        for plugin in queued.rejectors:
            self._metrics.unschedulable(plugin, queued.pod.spec.scheduler_name, change)
