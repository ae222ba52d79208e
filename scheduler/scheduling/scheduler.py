"""Scheduler: the parts, wired; and the loop that owns them.

One thread owns cluster state and queue. Others leave what they saw or did in the inbox::

    informers ────────events───┐
    binding workers ──outcomes─┼──> inbox ──> loop: apply all, pop one pod, decide, assume; again
    Permit plugins ───verdicts─┘                        │
                                                        └──> workers: PreBind, Bind, status patches

Whoever else wants to decide over the same state (the webhook, explanations) takes the lock through ``current``; the lock is
fair, so a busy loop cannot starve them, and what has arrived is applied first.
"""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

from scheduler.apis.objects import Node, Pod
from scheduler.backend.cluster import ClusterState
from scheduler.backend.inbox import Inbox
from scheduler.backend.queue import SchedulingQueue
from scheduler.backend.rules import QueueRules
from scheduler.framework.catalog import Catalog
from scheduler.framework.evictions import Evictions
from scheduler.framework.extenders import Overtaken
from scheduler.framework.port import Recorder
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.logkeys import about, ref
from scheduler.metrics import Metrics
from scheduler.scheduling.binding import BindingCycle
from scheduler.scheduling.catalog_events import CatalogEvents
from scheduler.scheduling.cycle import SchedulingCycle
from scheduler.scheduling.decisions import Decisions
from scheduler.scheduling.events import ClusterEvents
from scheduler.scheduling.eviction import BackgroundEvictor
from scheduler.scheduling.failure import FailureHandler
from scheduler.scheduling.handlers import InboxHandler
from scheduler.scheduling.parts import Clocks, Crews, Outside, Parts
from scheduler.scheduling.prebinding import PreBindings
from scheduler.scheduling.promises import Promises
from scheduler.scheduling.status_writer import StatusWriter
from scheduler.scheduling.turns import Turns
from scheduler.scheduling.workers import Crew, Workers
from scheduler.scheduling.world import State
from scheduler.verbosity import V3

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Policy:
    """What a configuration says of decisions, and another one may say otherwise.

    Attributes:
        frameworks: the profiles by ``schedulerName``, in the order of the configuration.
        rules: what they say about waiting pods.
        recorders: one per profile.
        changed: the profiles that decide otherwise than those of the same name before, new ones included.
    """

    frameworks: Mapping[str, Framework]
    rules: QueueRules
    recorders: Mapping[str, Recorder]
    changed: frozenset[str]


class Scheduler:
    """A scheduler, ready to run.

    Args:
        frameworks: the profiles by ``schedulerName``.
        queue: the scheduling queue, built for these profiles.
        waiting: the pods that Permit holds; the same object that the plugins' handle has.
        catalog: the other objects; the same again. None when somebody else keeps it up to date.
        evictions: what plugins ask for; the same again. None: nothing that they ask for is done.
        crew: makes whoever does what blocks, by name and number of threads.
    """

    def __init__(
        self,
        frameworks: Mapping[str, Framework],
        queue: SchedulingQueue,
        waiting: WaitingPods,
        outside: Outside,
        metrics: Metrics,
        clocks: Clocks,
        rng: Random,
        catalog: Catalog | None = None,
        evictions: Evictions | None = None,
        crew: Callable[[str, int], Crew] = Workers,
    ) -> None:
        self.frameworks = dict(frameworks)
        self.cluster = ClusterState()
        self.queue = queue
        self.decisions = Decisions()
        self._waiting = waiting
        self._clocks = clocks
        self._turns = Turns()
        self._deciding = threading.Lock()
        self._changes = 0
        self._inbox: Inbox[Callable[[], None]] = Inbox()
        self._leading = False
        self._recorders = dict(outside.recorders)
        self._crews = Crews(crew)
        self._live = outside.live
        self._promises = Promises(queue.nominator)
        parts = self._parts(outside, metrics)
        self._live.called_back = parts.pre_bindings.why
        failures = FailureHandler(parts)
        binding = BindingCycle(parts, failures)
        self._cycle = SchedulingCycle(parts, binding, failures, rng, self._away, lambda: self._leading)
        if evictions is not None:
            evictions.connect(BackgroundEvictor(parts))
        self._events = ClusterEvents(parts, self._promises)
        self._make_handlers(CatalogEvents(catalog or Catalog(), queue, metrics, clocks.now))
        _expose(metrics, self.cluster, queue)

    def _parts(self, outside: Outside, metrics: Metrics) -> Parts:
        return Parts(
            frameworks=self.frameworks,
            cluster=self.cluster,
            queue=self.queue,
            waiting=self._waiting,
            decisions=self.decisions,
            recorders=self._recorders,
            port=outside.port,
            lookup=outside.lookup,
            statuses=StatusWriter(outside.port, self._crews.writers.submit),
            crews=self._crews,
            pre_bindings=PreBindings(),
            metrics=metrics,
            clocks=self._clocks,
            report=self._inbox.put,
        )

    def _make_handlers(self, others: CatalogEvents) -> None:
        """What informers tell: it goes through the inbox."""
        events, inbox = self._events, self._inbox
        self.node_handler: InboxHandler[Node] = InboxHandler(
            inbox, events.apply, events.node_added, events.node_updated, events.node_deleted
        )
        self.pod_handler: InboxHandler[Pod] = InboxHandler(
            inbox, events.apply, events.pod_added, events.pod_updated, events.pod_deleted
        )
        self.catalog_handler: InboxHandler[Any] = InboxHandler(
            inbox, events.apply, others.added, others.updated, others.deleted
        )

    @contextmanager
    def current(self) -> Iterator[State]:
        """The state, up to date, for as long as the block runs (see ``World``)."""
        with self._turns.hold():
            self._apply_arrivals()
            cluster = self.cluster
            yield State(
                cluster.nodes,
                self._promises,
                self.frameworks,
                cluster.get_pod,
                cluster.assume_pod,
                cluster.forget_pod,
            )

    def run(self) -> None:
        """Keep the state up to date, and schedule while ``leading``, until ``close``."""
        while not self._inbox.closed:
            pause = self.step()
            if pause is not None:
                self._inbox.wait(None if pause == math.inf else pause)

    def reconfigure(self, policy: Policy, pods: Iterable[Pod]) -> None:
        """Decide by another policy from the next decision on; attempts under way end by the policy that they began with.

        Args:
            pods: those that the API server has; the pods of new profiles are found among them. Gone through under the lock.
        """
        with self._turns.hold():
            self._apply_arrivals()
            self._changes += 1
            appeared = policy.frameworks.keys() - self.frameworks.keys()
            self._recorders.update(
                policy.recorders
            )  # none is dropped: attempts under way may still need theirs
            self.frameworks.clear()
            self.frameworks.update(policy.frameworks)
            self.queue.follow(policy.rules, policy.changed)
            if appeared:
                self._events.adopt(pod for pod in pods if pod.spec.scheduler_name in appeared)
        self._inbox.wake()

    def lead(self) -> None:
        """Schedule from now on."""
        self._leading = True
        self._inbox.wake()

    def retire(self, patience: float | None = None) -> None:
        """Schedule no more: when this returns, no decision is being made and every binding that was begun has ended.

        What is decided but not begun is left to the next leader.

        Args:
            patience: for how many seconds to wait for bindings that a server does not answer; None: until they end.
        """
        self._leading = False
        self._crews.stop(0)  # what the decision under way would have bound is left, too
        # A decision that is being made ends, be it one that waits for extenders.
        if self._deciding.acquire(timeout=-1 if patience is None else patience):
            self._deciding.release()
        self._live.retire()
        left = self._crews.stop(patience)
        if left:
            logger.warning("%d requests to the API server have not been answered; they are given up", left)
        with self._turns.hold():
            self._apply_arrivals()

    def close(self) -> None:
        """Have ``run`` return."""
        self._inbox.close()

    def step(self) -> float | None:
        """Apply what has arrived and, while leading, try one pod.

        Returns:
            None when a pod was tried; otherwise for how many seconds there is nothing to do unless
            something arrives; infinity: for ever.
        """
        with self._deciding, self._turns.hold():
            self._waiting.expire()
            self._apply_arrivals()
            if not self._leading:
                return math.inf
            self.queue.flush()
            queued = self.queue.pop()
            if queued is None:
                return self._pause()
            with about(pod=ref(queued.name)):
                logger.log(V3, "Attempting to schedule pod")
                self._cycle.run(queued)
            return None

    def _pause(self) -> float:
        wakeups = [at for at in (self.queue.next_wakeup(), self._waiting.next_deadline()) if at is not None]
        return max(0.0, min(wakeups, default=math.inf) - self._clocks.now())

    @contextmanager
    def _away(self) -> Iterator[None]:
        """Release the lock in the middle of a decision. Whoever takes it meanwhile sees the state up to date, and may so change it.

        Raises:
            Overtaken: it was changed, or we lead no more: the decision must not go on.
        """
        before = self._changes, self.cluster.moves
        with self._turns.released():
            yield
        if (self._changes, self.cluster.moves) != before or not self._leading:
            raise Overtaken

    def _apply_arrivals(self) -> None:
        for arrival in self._inbox.drain():
            self._changes += 1
            try:
                arrival()
            except Exception:
                # A bug in one arrival must not take the scheduler down, nor the arrivals after it.
                logger.exception("an event could not be applied")


def _expose(metrics: Metrics, cluster: ClusterState, queue: SchedulingQueue) -> None:
    """Gauges are read when they are scraped."""
    metrics.read_pending_pods(queue.pending_counts)
    metrics.read_cache_size(cluster.counts)
    metrics.read_inflight_events(queue.in_flight_counts)
