"""One method per verb: from a request's body to the answer's.

::

    decode ──> lock: which nodes are unfamiliar? ──> decode and compare these ──> lock: judge ──> encode
               (full form only)

Bodies are decoded and answers encoded without the lock, so a request of 40 MB holds up the scheduling loop no longer than
one of a kilobyte. Between the two turns of the lock nodes may change; one that became familiar meanwhile is judged as it was
sent, one that became unfamiliar as it is known here.

What is reported where: kube-scheduler reads a body only with status 200, so whatever goes wrong while filtering or binding is the
``Error`` of a 200. Prioritize and preempt have no such field: their failures raise. What a client did wrong raises too, but for
filter, whose callers shall read in the pod's events what is wrong with their request.
"""

from __future__ import annotations

import logging
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus

from extender import answers, handlers, preemption, scene
from extender.binding import BindingRefusedError, Bindings
from extender.bodies import Body
from extender.handlers import UnknownProfileError
from extender.requests import Request, TooLateError
from extender.schemas import Call, MalformedError, load_binding, load_call, load_preemption
from scheduler.apis.objects import Node
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.scheduling.world import State, World

logger = logging.getLogger(__name__)

Reason = Callable[[], str | None]


class FailedError(Exception):
    """A verb failed; the text says why, in one line, ``status`` is for the verbs whose answer has no ``Error``."""

    def __init__(self, message: str, status: HTTPStatus = HTTPStatus.INTERNAL_SERVER_ERROR) -> None:
        super().__init__(message)
        self.status = status


class Webhook:
    """The verbs. Any number of threads may call them at once.

    Args:
        world: the cluster state, one user at a time.
        bindings: binds pods.
        default_profile: judges pods whose ``schedulerName`` is no profile here; None: the first profile does.
        unsynced: why the cluster state cannot be trusted yet; None when it can.
        reference: a new name under which a failure is found in the log.

    Every verb takes the body and what is known of the request, in which it notes what is to be counted, and raises

    * ``MalformedError``: the body is not what the verb takes (but filter);
    * ``UnknownProfileError``: there is no such profile.
    """

    def __init__(
        self,
        world: World,
        bindings: Bindings,
        default_profile: str | None = None,
        unsynced: Reason = lambda: None,
        reference: Callable[[], str] = lambda: secrets.token_hex(4),
    ) -> None:
        self._world = world
        self._bindings = bindings
        self._default_profile = default_profile
        self._unsynced = unsynced
        self._reference = reference

    def filter(self, body: Body, request: Request) -> bytes:
        """Which of the nodes sent the pod fits (``ExtenderFilterResult``)."""
        try:
            call = load_call(body)
            with self._named(call.pod):
                sent = self._changed(call)
                with self._judging(request, call.pod) as (state, framework):
                    examination = handlers.examine(state, framework, call.pod, call.names, sent)
        except (FailedError, MalformedError) as error:
            return self.filter_failed(request, str(error))
        verdict = handlers.verdict(examination, call.names)
        request.judged, request.rejected = len(call.names), verdict.rejected
        return answers.filter_result(call, verdict)

    def filter_failed(self, request: Request, reason: str) -> bytes:
        """The answer of a filter that could not judge."""
        request.failed = True
        line = answers.one_line(reason)
        logger.info("filter failed: %s", line)
        return answers.filter_error(line)

    def prioritize(self, body: Body, request: Request) -> bytes:
        """How well each of the nodes sent suits the pod, 0 to 10 (``HostPriorityList``); 0 for nodes without a score.

        Raises:
            FailedError: the nodes could not be scored.
        """
        call = load_call(body)
        with self._named(call.pod):
            sent = self._changed(call)
            with self._judging(request, call.pod) as (state, framework):
                scores = handlers.rate(state, framework, call.pod, call.names, sent)
        request.judged = len(call.names)
        return answers.priorities(call.names, scores)

    def preempt(self, body: Body, request: Request) -> bytes:
        """Who has to leave which node (``ExtenderPreemptionResult``).

        Raises:
            FailedError: the candidates could not be judged.
        """
        call = load_preemption(body)
        with self._named(call.pod), self._judging(request, call.pod) as (state, framework):
            found = preemption.reconsider(state, framework, call)
        request.judged = len(call.proposals)
        request.rejected = Counter(status.plugin for status in found.dropped.values())
        return answers.preemption_result(found.kept)

    def bind(self, body: Body, request: Request) -> bytes:
        """Bind the pod to the node (``ExtenderBindingResult``)."""
        binding = load_binding(body)
        try:
            with self._named(None):
                info = self._bindings.pod(binding)
                with self._judging(request, info) as (state, framework):
                    counted = self._bindings.prepare(state, framework, binding, info)
                self._bindings.carry_out(self._world, binding, info if counted else None)
        except (FailedError, BindingRefusedError) as error:
            logger.info("pod %.300r was to be bound to node %.300r", binding.full_name, binding.node)
            return self.bind_failed(request, str(error))
        return answers.binding_result("")

    def bind_failed(self, request: Request, reason: str) -> bytes:
        """The answer of a binding that did not come about."""
        request.failed = True
        line = answers.one_line(reason)
        logger.warning("bind failed: %s", line)
        return answers.binding_result(line)

    @contextmanager
    def _judging(self, request: Request, pod: PodInfo | None) -> Iterator[tuple[State, Framework]]:
        """The lock, the state, and the profile that judges."""
        why = self._unsynced()
        if why is not None:
            raise FailedError(f"the cluster is not known yet: {why}", HTTPStatus.SERVICE_UNAVAILABLE)
        with self._world.current() as state:
            request.deadline.check()
            scheduler_name = "" if pod is None else pod.pod.spec.scheduler_name
            framework = handlers.framework_of(state, request.profile, scheduler_name, self._default_profile)
            request.judged_by = framework.profile_name
            yield state, framework

    @contextmanager
    def _named(self, pod: PodInfo | None) -> Iterator[None]:
        """Make a FailedError of what went wrong on our side; the log has it in full, under the reference that the error names."""
        try:
            yield
        except (FailedError, BindingRefusedError, MalformedError, UnknownProfileError, TooLateError):
            raise
        except Exception as error:
            reference = self._reference()
            about = "bind" if pod is None else f"pod {pod.pod.full_name!r}"
            logger.exception("failure %s: %s", reference, answers.one_line(about))
            bug = "" if isinstance(error, PluginError) else "internal error: "
            line = answers.one_line(str(error)) or type(error).__name__
            raise FailedError(f"{bug}{line} (the log tells more: failure {reference})") from error

    def _changed(self, call: Call) -> Sequence[Node]:
        """The nodes that were sent in full and look otherwise here."""
        if call.sent is None:
            return ()
        with self._world.current() as state:
            known = scene.unfamiliar(state.nodes, call.sent)
        return scene.changed(known, call.sent.decoded(known))
