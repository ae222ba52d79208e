"""Evicting the victims of a preemption, off the scheduling thread (upstream: ``preemption/executor.go``, KEP 4832).

::

    begin ──> clear the nominations of less important pods on that node
                   │
              all victims but the last, side by side ──one failed──┐
                   │                                               ▼
              the last one ──────────────────────────failed──> the preemptor is activated: it tries again
                   │
              done: the deletions wake the preemptor up

Until then the preemptor stays out of the queue (``is_running``): it would find its victims still there, and preempt more. With one
exception: once nothing but the last victim is left, and the informer shows that its deletion has begun, the preemptor may go. Else it
could miss the very event that it waits for, which comes faster than the answer to the request.

A victim that Permit or PreBind holds has not reached its node: it is called back to the queue instead of deleted.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from scheduler.apis.objects import Condition, Pod
from scheduler.client.errors import ClientError, ConflictError, NotFoundError
from scheduler.framework.evictions import Preemption
from scheduler.framework.port import reference
from scheduler.framework.status import Code
from scheduler.scheduling.conditions import condition_patch, nomination_patch
from scheduler.scheduling.parts import Parts
from scheduler.verbosity import V2

logger = logging.getLogger(__name__)

DISRUPTION_TARGET = "DisruptionTarget"
REASON_PREEMPTION = "PreemptionByScheduler"

Report = Callable[[Callable[[], None]], None]
"""Has a function run by the scheduling thread, under the lock."""


@dataclass(slots=True)
class _Job:
    """One preemption.

    Attributes:
        victims: those that are not being deleted already.
        outranked: the pods that lose their nomination.
        start: when it began, in seconds of the clock.
        left: how many victims before the last are not dealt with.
        failed: something could not be done.
        stuck: a victim could not be evicted, so the others may stay.
    """

    preemption: Preemption
    victims: Sequence[Pod]
    outranked: Sequence[Pod]
    start: float
    left: int
    failed: bool = False
    stuck: bool = False


class BackgroundEvictor:
    """Evicts pods on worker threads (see ``framework.evictions.Evictor``).

    The queue's nominations are read, and it is told of failures, by the scheduling thread only.
    """

    def __init__(self, parts: Parts) -> None:
        self._port = parts.port
        self._queue = parts.queue
        self._waiting = parts.waiting
        self._pre_bindings = parts.pre_bindings
        self._lookup = parts.lookup
        self._recorders = parts.recorders
        self._metrics = parts.metrics
        self._submit = parts.crews.evictors.submit
        self._report = parts.report
        self._now = parts.clocks.now
        self._wall = parts.clocks.wall
        self._lock = threading.Lock()
        self._running: dict[str, Pod | None] = {}

    def attempted(self) -> None:
        """See ``Evictor``."""
        self._metrics.preemption_attempted()

    def begin(self, preemption: Preemption) -> None:
        """See ``Evictor``. Victims that are being deleted already are left alone."""
        victims = [pod for pod in preemption.victims if not pod.metadata.deletion_timestamp]
        if not victims:
            return
        self._metrics.preempted(len(preemption.victims))
        job = _Job(preemption, victims, self._outranked(preemption), self._now(), len(victims) - 1)
        with self._lock:
            self._running[preemption.preemptor.metadata.uid] = None
        self._submit(lambda: self._start(job))

    def is_running(self, uid: str) -> bool:
        """See ``Evictor``."""
        with self._lock:
            if uid not in self._running:
                return False
            last = self._running[uid]
        if last is None:
            return True
        current = self._lookup(last.metadata.namespace, last.metadata.name)
        gone = current is None or current.metadata.uid != last.metadata.uid
        return not gone and not (current and current.metadata.deletion_timestamp)

    def _outranked(self, preemption: Preemption) -> list[Pod]:
        """The pods of lower priority that are nominated to the node; they may not fit any more, so they look elsewhere."""
        nominated = (info.pod for info in self._queue.nominator.nominated_on(preemption.node))
        priority = preemption.preemptor.priority
        return [pod for pod in nominated if pod.priority < priority and pod.status.nominated_node_name]

    def _let_in(self, preemption: Preemption, *, failed: bool) -> None:
        """Activate the preemptor if nothing else might: after a failure, or when an event found it kept out.

        The last event may have come before the gate was opened; upstream leaves such a pod to the next timeout.
        """
        waiting = self._queue.get(preemption.preemptor)
        if failed or (waiting is not None and waiting.gating_plugin == preemption.plugin):
            self._queue.activate([preemption.preemptor])

    # On worker threads

    def _start(self, job: _Job) -> None:
        for pod in job.outranked:
            self._clear_nomination(job, pod)
        if not job.left:
            self._evict_last(job)
        for victim in job.victims[:-1]:
            self._submit(lambda victim=victim: self._evict_one(job, victim))  # type: ignore[misc]

    def _clear_nomination(self, job: _Job, pod: Pod) -> None:
        try:
            self._port.patch_pod_status(pod.metadata.namespace, pod.metadata.name, nomination_patch(pod, ""))
        except NotFoundError:
            logger.debug("pod %s is gone; its nomination is not cleared", pod.full_name)
        except ClientError as error:
            logger.warning("the nomination of pod %s could not be cleared: %s", pod.full_name, error)
            job.failed = True

    def _evict_one(self, job: _Job, victim: Pod) -> None:
        evicted = job.stuck or self._evicted(job.preemption, victim)
        with self._lock:
            job.stuck = job.stuck or not evicted
            job.left -= 1
            if job.left:
                return
        if job.stuck:
            self._end(job)
        else:
            self._evict_last(job)

    def _evict_last(self, job: _Job) -> None:
        last = job.victims[-1]
        with self._lock:
            self._running[job.preemption.preemptor.metadata.uid] = last
        job.stuck = not self._evicted(job.preemption, last)
        self._end(job)

    def _end(self, job: _Job) -> None:
        preemptor = job.preemption.preemptor
        with self._lock:
            self._running.pop(preemptor.metadata.uid, None)
        failed = job.failed or job.stuck
        self._metrics.evicted("error" if failed else "success", self._now() - job.start)
        self._report(lambda: self._let_in(job.preemption, failed=failed))

    def _evicted(self, preemption: Preemption, victim: Pod) -> bool:
        """Evict one pod; False when that failed."""
        try:
            if self._called_back(preemption, victim):
                self._tell(preemption, victim, " (in kube-scheduler memory).")
            elif self._deleted(preemption, victim):
                self._tell(preemption, victim, "")
        except ClientError as error:
            logger.error("pod %s could not be preempted: %s", victim.full_name, error)
            return False
        except Exception:
            # Whatever went wrong, the preemptor must not wait for ever.
            logger.exception("a bug ended the eviction of pod %s", victim.full_name)
            return False
        return True

    def _called_back(self, preemption: Preemption, victim: Pod) -> bool:
        """Whether the pod was held by Permit or PreBind, and returns to the queue."""
        uid = victim.metadata.uid
        held = self._waiting.get(uid)
        if held is not None:
            return held.reject(preemption.plugin, "preempted", Code.ERROR)
        return self._pre_bindings.cancel(uid, f"preempted by {preemption.plugin}")

    def _deleted(self, preemption: Preemption, victim: Pod) -> bool:
        """Whether the pod was there to be deleted."""
        meta = victim.metadata
        message = (
            f"{preemption.preemptor.spec.scheduler_name}: preempting to accommodate a higher priority pod"
        )
        condition = Condition(DISRUPTION_TARGET, "True", REASON_PREEMPTION, message)
        patch = condition_patch(victim, condition, self._wall())
        try:
            if patch:
                self._port.patch_pod_status(meta.namespace, meta.name, patch)
            with suppress(ConflictError):  # another pod has its name by now
                self._port.delete_pod(meta.namespace, meta.name, meta.uid)
                return True
        except NotFoundError:
            pass
        logger.log(V2, "victim %s is gone already", victim.full_name)
        return False

    def _tell(self, preemption: Preemption, victim: Pod, where: str) -> None:
        preemptor = preemption.preemptor
        note = f"Preempted by pod {preemptor.metadata.uid} on node {preemption.node}{where}"
        self._recorders[preemptor.spec.scheduler_name].eventf(
            reference(victim), "Normal", "Preempted", "Preempting", note, related=reference(preemptor)
        )
        logger.log(V2, "pod %s preempted pod %s", preemptor.full_name, victim.full_name)
