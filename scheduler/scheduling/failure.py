"""Every failure's way back: the pod returns to the queue, the user learns why.

Requeueing happens at once, under the lock. The event and the status patch are IO: others do it, and the pod's next attempt does not
wait for them (upstream: ``handleSchedulingFailure``).
"""

from __future__ import annotations

import logging

from scheduler.apis.objects import Pod
from scheduler.framework.outcome import FitError, NoNodesAvailableError
from scheduler.framework.pods import PodInfo
from scheduler.framework.port import reference
from scheduler.framework.status import Status
from scheduler.logkeys import keys, ref
from scheduler.scheduling.attempt import Attempt
from scheduler.scheduling.conditions import REASON_SCHEDULER_ERROR, REASON_UNSCHEDULABLE, status_patch
from scheduler.scheduling.parts import Parts
from scheduler.verbosity import V2

logger = logging.getLogger(__name__)


class FailureHandler:
    """Puts failed pods back and says why."""

    def __init__(self, parts: Parts) -> None:
        self._queue = parts.queue
        self._lookup = parts.lookup
        self._statuses = parts.statuses
        self._recorders = parts.recorders
        self._profiles = parts.frameworks.keys()
        self._decisions = parts.decisions
        self._metrics = parts.metrics
        self._now = parts.clocks.now
        self._wall = parts.clocks.wall

    def handle(self, attempt: Attempt, status: Status, nominated: str | None) -> None:
        """The attempt failed with ``status``; ``nominated`` is the nomination to write (see ``status_patch``)."""
        result = "unschedulable" if status.rejected else "error"
        self._metrics.attempt(result, attempt.framework.profile_name, self._now() - attempt.start)
        self._decisions.keep(attempt, result, status.message)
        self._log(attempt, status)
        queued = attempt.queued
        queued.clear_rejectors()
        if isinstance(status.error, FitError):
            queued.unschedulable_plugins = set(status.error.outcome.unschedulable_plugins)
            queued.pending_plugins = set(status.error.outcome.pending_plugins)
        current = self._requeue(attempt, nominated)
        if current is not None:
            self._tell(current, attempt.framework.profile_name, status, nominated)

    def _requeue(self, attempt: Attempt, nominated: str | None) -> Pod | None:
        """Put the pod, as it is now, back into the queue; None when it is not to be scheduled any more."""
        queued, meta = attempt.queued, attempt.queued.pod.metadata
        current = self._lookup(meta.namespace, meta.name)
        why_not = self._why_not(current, meta.uid)
        if current is None or why_not:
            logger.debug("pod %s is not queued again: %s", queued.name, why_not)
            self._queue.done(meta.uid)
            return None
        try:
            queued.pod_info = PodInfo(current)
            self._queue.add_unschedulable(queued)
        except ValueError as error:
            # It was updated while it was not tracked, and waits already; or it became something that cannot be understood.
            logger.warning("pod %s is not queued again: %s", queued.name, error)
            self._queue.done(meta.uid)
        if nominated is not None:
            self._queue.nominator.add(queued.pod_info, nominated)
        return current

    def _why_not(self, current: Pod | None, uid: str) -> str:
        """Why the pod is not to be scheduled any more; empty when it is."""
        if current is None or current.metadata.uid != uid:
            self._decisions.forget(uid)
            return "it is gone"
        if current.spec.node_name:
            return "it is bound by now"
        return "" if current.spec.scheduler_name in self._profiles else "its profile is no more"

    def _tell(self, pod: Pod, profile: str, status: Status, nominated: str | None) -> None:
        reason = REASON_UNSCHEDULABLE if status.rejected else REASON_SCHEDULER_ERROR
        self._recorders[profile].eventf(
            reference(pod), "Warning", "FailedScheduling", "Scheduling", status.message
        )
        patch = status_patch(pod, reason, status.message, nominated, self._wall())
        self._statuses.write(pod, patch)

    def _log(self, attempt: Attempt, status: Status) -> None:
        pod = ref(attempt.queued.name)
        if isinstance(status.error, NoNodesAvailableError):
            waits = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
            logger.log(V2, waits, extra=keys(pod=pod))
        elif status.rejected:
            waits = "Unable to schedule pod; no fit; waiting"
            logger.log(V2, waits, extra=keys(pod=pod, err=status.message))
        else:
            logger.error("Error scheduling pod; retrying", extra=keys(pod=pod, err=status.message))
