"""The scheduling cycle: one pod, from the queue to a permitted node. Runs under the lock and does no IO.

Where other extenders are configured, the lock is released while they are asked; when the cluster changed meanwhile, the decision is made
again, over what it is then (``extenders.consultation``).

::

    skip? ──> decide ──> assume ──> Reserve ──> Permit ──> (held) ──> binding cycle
                │                     │           │          │
                └──no fit, error──────┴───refused─┴──────────┴──> failure handler

(upstream: ``scheduleOnePod``, ``schedulingCycle``, ``prepareForBindingCycle``)
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from random import Random

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.backend.cluster import ClusterState
from scheduler.backend.queued import QueuedPodInfo
from scheduler.framework.algorithm import Rotation, decide
from scheduler.framework.cycle import Cycle
from scheduler.framework.extenders import Away, Extenders, Overtaken
from scheduler.framework.outcome import Decision, FilterOutcome, FitError
from scheduler.framework.port import reference
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.scheduling.attempt import Attempt
from scheduler.scheduling.binding import BindingCycle
from scheduler.scheduling.failure import FailureHandler
from scheduler.scheduling.parts import Parts

logger = logging.getLogger(__name__)

_PLUGIN_METRICS_SHARE = 0.1


class SchedulingCycle:
    """Schedules one pod at a time.

    Args:
        rng: breaks ties among equal nodes and picks the attempts whose plugins are timed.
        away: releases the lock while extenders are asked.
        leading: whether to go on after that.
    """

    def __init__(
        self,
        parts: Parts,
        binding: BindingCycle,
        failures: FailureHandler,
        rng: Random,
        away: Away,
        leading: Callable[[], bool],
    ) -> None:
        self._frameworks = parts.frameworks
        self._cluster = parts.cluster
        self._queue = parts.queue
        self._waiting = parts.waiting
        self._recorders = parts.recorders
        self._metrics = parts.metrics
        self._report = parts.report
        self._now = parts.clocks.now
        self._binding = binding
        self._failures = failures
        self._rng = rng
        self._away = away
        self._leading = leading
        self._rotation = Rotation()

    def run(self, queued: QueuedPodInfo) -> None:
        """Try to place the pod that was popped."""
        framework = self._frameworks[queued.pod.spec.scheduler_name]
        if self._skip(queued, framework):
            self._queue.done(queued.pod_info.uid)
            return
        attempt = Attempt(
            queued, framework, self._new_cycle(queued), self._now(), Decision(SUCCESS), queued.pod
        )
        extenders = None if framework.extenders is None else framework.extenders.consult(self._away)
        try:
            while not self._decided(attempt, extenders):
                if self._in_vain(queued):
                    self._queue.done(queued.pod_info.uid)
                    return
                attempt.cycle = self._new_cycle(queued)
            self._follow(attempt)
        except Exception as error:
            # The bug is ours, then: plugins' are statuses. This pod pays for it; all others go on.
            logger.exception("a bug ended the attempt to schedule pod %s", queued.name)
            self._fail(attempt, Status.failure(error))

    def _new_cycle(self, queued: QueuedPodInfo) -> Cycle:
        timed = self._rng.random() < _PLUGIN_METRICS_SHARE
        return Cycle(queued.pod_info, record_plugin_metrics=timed)

    def _decided(self, attempt: Attempt, extenders: Extenders | None) -> bool:
        """Decide; False when it was overtaken. Ends, since a question that was answered is not asked again."""
        nodes, nominated = self._cluster.nodes, self._queue.nominator
        try:
            attempt.decision = decide(
                attempt.framework, attempt.cycle, nodes, nominated, self._rng, self._rotation, extenders
            )
        except Overtaken:
            return False
        return True

    def _in_vain(self, queued: QueuedPodInfo) -> bool:
        """While extenders were asked, the pod got a node from somebody else, or somebody else began to lead."""
        return not self._leading() or self._cluster.get_pod(queued.pod_info.uid) is not None

    def _follow(self, attempt: Attempt) -> None:
        """Do what follows from the decision."""
        self._metrics.algorithm(self._now() - attempt.start)
        decision = attempt.decision
        if decision.status.ok:
            self._assume(attempt)
        else:
            self._failures.handle(attempt, decision.status, decision.nominated)

    def _skip(self, queued: QueuedPodInfo, framework: Framework) -> bool:
        """Pods being deleted are not worth a node; assumed ones have theirs."""
        pod = queued.pod
        if pod.metadata.deletion_timestamp:
            self._recorders[framework.profile_name].eventf(
                reference(pod), "Warning", "FailedScheduling", "Scheduling", deletion_note(pod)
            )
            return True
        return self._cluster.is_assumed(pod.metadata.uid)

    def _assume(self, attempt: Attempt) -> None:
        """Take the node in memory, so that the next pod can be decided while this one is being bound."""
        attempt.decision.drop_columns()
        attempt.assumed = self._cluster.assume_pod(attempt.queued.pod_info, attempt.node)
        self._queue.nominator.delete(attempt.queued.pod_info.uid)
        status = attempt.framework.reserve(attempt.cycle, attempt.node)
        if not status.ok:
            self._fail(attempt, status)
            return
        status, waits = attempt.framework.permit(attempt.cycle, attempt.node)
        if status.code is Code.WAIT:
            self._hold(attempt, waits)
        elif status.ok:
            self._binding.start(attempt)
        else:
            self._fail(attempt, status)

    def _fail(self, attempt: Attempt, status: Status) -> None:
        """The attempt ends where it began: nobody has seen the pod on its node, so nobody is told that it left."""
        self._binding.take_back(attempt)
        self._failures.handle(attempt, _as_fit_error(attempt, status, self._cluster), "")

    def _hold(self, attempt: Attempt, waits: Mapping[str, float]) -> None:
        held = self._now()

        def settled(verdict: Status) -> None:
            self._report(lambda: self._released(attempt, verdict, held))

        self._waiting.hold(attempt.assumed, waits, settled)
        self._binding.announce(attempt)

    def _released(self, attempt: Attempt, verdict: Status, held: float) -> None:
        self._metrics.permit_waited(verdict.code.label, self._now() - held)
        if verdict.ok:
            self._binding.start(attempt)
        else:
            if not verdict.rejected:
                verdict = Status.failure(PluginError(f"waiting on permit for pod: {verdict.message}"))
            self._binding.fail(attempt, _as_fit_error(attempt, verdict, self._cluster))


def deletion_note(pod: Pod) -> str:
    """The text of the event with which a pod that is being deleted is passed over."""
    return f"skip schedule deleting pod: {pod.full_name}"


def _as_fit_error(attempt: Attempt, status: Status, cluster: ClusterState) -> Status:
    """A refusal after the choice counts as one node that did not fit; errors stay what they are."""
    if not status.rejected:
        return status
    nodes = cluster.nodes.take(np.empty(0, np.intp))
    outcome = FilterOutcome(nodes, 1, np.zeros(0, np.bool_))
    outcome.reject_node(attempt.node, status)
    error = FitError(outcome)
    return Status(status.code, (str(error),), error=error)
