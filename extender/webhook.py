"""One method per verb: from a request's body to the answer's.

::

    decode ──> lock: which nodes are unfamiliar? ──> decode and compare these ──> lock: judge ──> encode
               (full form only)

Bodies are decoded and answers encoded without the lock, so a request of 40 MB holds up the scheduling loop no longer than
one of a kilobyte. Between the two turns of the lock nodes may change; one that became familiar meanwhile is judged as it was
sent, one that became unfamiliar as it is known here.

What is reported where: kube-scheduler reads a body only with status 200, so whatever goes wrong while judging or binding is
the ``Error`` of a 200; filter and bind have that field. Prioritize has none: its failures raise, and kube-scheduler then
does without these scores. A request that is malformed raises too, since no kube-scheduler sends one.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Protocol, TypeVar

from extender import answers, handlers
from extender.handlers import UnknownProfileError
from extender.schemas import Call, MalformedError, load_binding, load_call
from scheduler.apis.objects import Node
from scheduler.framework.pods import PodInfo
from scheduler.framework.port import Binder
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.scheduling.world import State, World

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

logger = logging.getLogger(__name__)


class Judging(Protocol[T_co]):
    """``handlers.examine`` or ``handlers.rate``."""

    def __call__(
        self, state: State, framework: Framework, pod: PodInfo, names: Sequence[str], sent: Sequence[Node]
    ) -> T_co:
        """Judge; called under the lock."""
        ...


class FailedError(Exception):
    """A verb without an ``Error`` in its answer failed; the text says why, in one line."""


class Webhook:
    """The verbs. Any number of threads may call them at once.

    Args:
        world: the cluster state, one user at a time.
        binder: the port that binds pods.
        default_profile: judges pods whose ``schedulerName`` is no profile here; None: the first profile does.

    Every verb takes the profile of the path, None when the path names none, and raises

    * ``MalformedError``: the body is not what the verb takes;
    * ``UnknownProfileError``: there is no such profile.
    """

    def __init__(self, world: World, binder: Binder, default_profile: str | None = None) -> None:
        self._world = world
        self._binder = binder
        self._default_profile = default_profile

    def filter(self, body: bytes, profile: str | None = None) -> bytes:
        """Which of the nodes sent the pod fits (``ExtenderFilterResult``)."""
        call = load_call(body)
        try:
            examination = self._judge(handlers.examine, call, profile)
        except FailedError as error:
            return answers.filter_error(str(error))
        return answers.filter_result(call, handlers.verdict(examination, call.names))

    def prioritize(self, body: bytes, profile: str | None = None) -> bytes:
        """How well each of the nodes sent suits the pod, 0 to 10 (``HostPriorityList``); 0 for nodes without a score.

        Raises:
            FailedError: the nodes could not be scored.
        """
        call = load_call(body)
        scores = self._judge(handlers.rate, call, profile)
        return answers.priorities(call.names, [scores.get(name, 0) for name in call.names])

    def bind(self, body: bytes, profile: str | None = None) -> bytes:
        """Bind the pod to the node (``ExtenderBindingResult``). The cluster state learns of it as of any bound pod."""
        binding = load_binding(body)
        if profile is not None:
            with self._world.current() as state:
                handlers.framework_of(state, profile, "", None)
        try:
            self._binder.bind(binding.namespace, binding.name, binding.uid, binding.node)
        except Exception as error:  # any failure of the transport means: not bound
            pod = f"{binding.namespace}/{binding.name}"
            line = _line(error)
            logger.warning("pod %.300r could not be bound to node %.300r: %s", pod, binding.node, line)
            return answers.binding_result(line)
        return answers.binding_result("")

    def _judge(self, judging: Judging[T], call: Call, profile: str | None) -> T:
        """Run one of ``handlers``' functions under the lock."""
        try:
            sent = self._changed(call)
            with self._world.current() as state:
                framework = handlers.framework_of(
                    state, profile, call.pod.pod.spec.scheduler_name, self._default_profile
                )
                return judging(state, framework, call.pod, call.names, sent)
        except (MalformedError, UnknownProfileError):
            raise
        except PluginError as error:
            raise FailedError(_line(error)) from error
        except Exception as error:
            logger.exception("judging pod %.300r failed", call.pod.pod.full_name)
            raise FailedError(f"internal error: {_line(error)}") from error

    def _changed(self, call: Call) -> Sequence[Node]:
        """The nodes that were sent in full and look otherwise here."""
        if call.sent is None:
            return ()
        with self._world.current() as state:
            known = handlers.unfamiliar(state.nodes, call.sent)
        return handlers.changed(known, call.sent.decoded(known))


def _line(error: Exception) -> str:
    """The error as one line, never empty: an empty ``Error`` would mean success."""
    return answers.one_line(str(error)) or type(error).__name__
