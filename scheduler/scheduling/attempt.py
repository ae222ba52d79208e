"""Attempt: one pod's way from the queue to its node, shared by the scheduling and the binding cycle."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.apis.objects import Pod
from scheduler.backend.queued import QueuedPodInfo
from scheduler.framework.cycle import Cycle
from scheduler.framework.outcome import Decision
from scheduler.framework.runtime import Framework


@dataclass(slots=True)
class Attempt:
    """One attempt.

    Attributes:
        queued: the pod as the queue gave it.
        framework: its profile.
        cycle: the plugins' notes.
        start: when it was popped, in seconds of the scheduler's clock.
        decision: what the algorithm decided.
        assumed: the pod as if bound to its node; the queued pod until it is assumed.
        announced: its node was made known as its nomination.
    """

    queued: QueuedPodInfo
    framework: Framework
    cycle: Cycle
    start: float
    decision: Decision
    assumed: Pod
    announced: bool = False

    @property
    def node(self) -> str:
        """The node chosen, ``""`` when none was."""
        return self.decision.node
