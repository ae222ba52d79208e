"""The binding cycle: what happens to a pod after the decision, off the scheduling thread.

::

    scheduling thread                     worker                        scheduling thread
    permitted ──submit──>  PreBind ─> Bind ─> PostBind ──outcome──>  finish, or unreserve, forget and requeue

A worker only acts and reports; cluster and queue are touched by the scheduling thread alone, when the report comes in.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from scheduler.backend import changes
from scheduler.framework.port import reference
from scheduler.framework.runner import PluginError
from scheduler.framework.status import Code, Status
from scheduler.logkeys import about, keys, ref
from scheduler.scheduling.attempt import Attempt
from scheduler.scheduling.conditions import nomination_patch
from scheduler.scheduling.failure import FailureHandler
from scheduler.scheduling.parts import Parts
from scheduler.verbosity import V2

logger = logging.getLogger(__name__)


class BindingCycle:
    """Binds pods that have been assumed."""

    def __init__(self, parts: Parts, failures: FailureHandler) -> None:
        self._cluster = parts.cluster
        self._queue = parts.queue
        self._statuses = parts.statuses
        self._recorders = parts.recorders
        self._failures = failures
        self._decisions = parts.decisions
        self._metrics = parts.metrics
        self._submit = parts.crews.binders.submit
        self._submit_long = parts.crews.preparers.submit
        self._report = parts.report
        self._now = parts.clocks.now
        self._pre_bindings = parts.pre_bindings

    def announce(self, attempt: Attempt) -> None:
        """Permit holds the pod: make the node known as its nomination, so that autoscalers leave it alone."""
        attempt.announced = True
        self._submit(lambda: self._nominate(attempt))

    def start(self, attempt: Attempt) -> None:
        """The pod is permitted: from here on no event can make it unschedulable, so the queue may forget them."""
        self._queue.done(attempt.queued.pod_info.uid)
        self._submit(lambda: self._run(attempt))

    def take_back(self, attempt: Attempt) -> None:
        """Give back what the attempt took: reservations, and the room on the node. Scheduling thread only."""
        if attempt.node:
            attempt.framework.unreserve(attempt.cycle, attempt.node)
            self._cluster.forget_pod(attempt.queued.pod_info.uid)

    def fail(self, attempt: Attempt, status: Status) -> None:
        """The pod does not get the node that others have seen it on: take all back, and let those who wait for room know.

        Scheduling thread only (upstream: ``handleBindingCycleError``).
        """
        uid = attempt.queued.pod_info.uid
        self.take_back(attempt)
        if status.rejected:
            # The pod itself must not see its own forgetting as the event that it waits for.
            self._failures.handle(attempt, status, "")
            self._queue.move_all(
                changes.ASSIGNED_POD_DELETE,
                attempt.assumed,
                None,
                precheck=lambda pod: pod.metadata.uid != uid,
            )
        else:
            self._queue.move_all(changes.ASSIGNED_POD_DELETE, attempt.assumed, None)
            self._failures.handle(attempt, status, "")

    def _run(self, attempt: Attempt) -> None:
        """Bind; a pod whose PreBind has work to do leaves this worker to those that are ready."""
        framework = attempt.framework
        flight = _safely(attempt, lambda: framework.pre_bind_pre_flight(attempt.cycle, attempt.node))
        if flight.code is Code.ERROR:
            self._report(lambda: self._settle(attempt, flight))
        elif flight.ok:
            self._submit_long(lambda: self._carry_out(attempt, with_work=True))
        else:
            self._carry_out(attempt, with_work=False)

    def _carry_out(self, attempt: Attempt, *, with_work: bool) -> None:
        with self._metrics.running("binding"):
            status = _safely(attempt, lambda: self._bind(attempt, with_work=with_work))
        self._report(lambda: self._settle(attempt, status))

    def _bind(self, attempt: Attempt, *, with_work: bool) -> Status:
        framework, cycle, node = attempt.framework, attempt.cycle, attempt.node
        if with_work and not attempt.announced:
            self._nominate(attempt)
        status = self._pre_bind(attempt, with_work=with_work)
        if status.ok:
            status = self._extended_bind(attempt) or framework.bind(cycle, node)
        if status.ok:
            pod = attempt.assumed
            note = f"Successfully assigned {pod.full_name} to {node}"
            self._recorders[framework.profile_name].eventf(
                reference(pod), "Normal", "Scheduled", "Binding", note
            )
            framework.post_bind(cycle, node)
        return status

    @staticmethod
    def _extended_bind(attempt: Attempt) -> Status | None:
        """What an extender that binds made of it; None: the plugins bind (upstream: ``extendersBinding``)."""
        extenders = attempt.framework.extenders
        return None if extenders is None else extenders.bind(attempt.assumed, attempt.node)

    def _pre_bind(self, attempt: Attempt, *, with_work: bool) -> Status:
        uid = attempt.queued.pod_info.uid
        if with_work:
            self._pre_bindings.begin(uid)
        try:
            status = attempt.framework.pre_bind(attempt.cycle, attempt.node)
        finally:
            called_back = self._pre_bindings.finish(uid)
        return Status.failure(PluginError(called_back)) if status.ok and called_back else status

    def _settle(self, attempt: Attempt, status: Status) -> None:
        if not status.ok:
            self.fail(attempt, status)
            return
        queued = attempt.queued
        now = self._now()
        self._metrics.attempt("scheduled", attempt.framework.profile_name, now - attempt.start)
        since = queued.initial_attempt_timestamp
        self._metrics.scheduled(
            queued.attempts,
            now - (attempt.start if since is None else since),
            after_flush=queued.was_flushed_from_unschedulable,
        )
        if self._cluster.get_pod(queued.pod_info.uid) is not None:  # it may have gone meanwhile
            self._decisions.keep(attempt, "scheduled")
        logger.log(
            V2,
            "Successfully bound pod to node",
            extra=keys(
                pod=ref(queued.name),
                node=attempt.node,
                evaluatedNodes=attempt.decision.evaluated,
                feasibleNodes=attempt.decision.feasible,
            ),
        )

    def _nominate(self, attempt: Attempt) -> None:
        pod = attempt.queued.pod
        patch = nomination_patch(pod, attempt.node)
        if patch:
            self._statuses.write_now(pod, patch)


def _safely(attempt: Attempt, act: Callable[[], Status]) -> Status:
    """What the act answers. Whatever goes wrong, the assumed pod has to be taken back: then it is an Error status."""
    with about(pod=ref(attempt.queued.name), node=attempt.node):
        try:
            return act()
        except Exception as error:
            logger.exception("a bug ended the binding of pod %s", attempt.queued.name)
            return Status.failure(error)
