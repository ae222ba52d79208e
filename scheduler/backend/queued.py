"""QueuedPodInfo: a pod on its way to a node, and what the queue remembers of it from one attempt to the next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from scheduler.apis.objects import Pod
from scheduler.framework.pods import PodInfo


@dataclass(slots=True, eq=False)
class QueuedPodInfo:
    """A pod that waits for a decision, or for which one is under way. All times are seconds of the queue's clock.

    Attributes:
        pod_info: the pod; replaced when the pod is updated.
        timestamp: when it last came into the queue.
        attempts: how often it was popped.
        initial_attempt_timestamp: when it could first have been popped; None for a pod that has always been gated.
        unschedulable_count: attempts that ended in a rejection; they make its back-off grow.
        consecutive_errors: attempts in a row that ended in an error; while there are any, they set the back-off instead.
        backoff_expiration: when its back-off ends, once computed; None until then.
        unschedulable_plugins: the plugins that rejected it in its last attempt, or that gate it.
        pending_plugins: the plugins that answered Pending: when one of them says Queue, the pod skips its back-off.
        gating_plugin: the PreEnqueue plugin that keeps it out of the active queue; empty for a pod that is not gated.
        gating_reasons: what that plugin said.
        was_flushed_from_unschedulable: its last way back was the timeout, not an event. If it is then scheduled, a
            queueing hint has missed something.
    """

    pod_info: PodInfo
    timestamp: float
    attempts: int = 0
    initial_attempt_timestamp: float | None = None
    unschedulable_count: int = 0
    consecutive_errors: int = 0
    backoff_expiration: float | None = None
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    gating_reasons: tuple[str, ...] = ()
    was_flushed_from_unschedulable: bool = False

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.pod_info.pod

    @property
    def name(self) -> str:
        """``namespace/name``: by this the queue knows it."""
        return self.pod_info.pod.full_name

    @property
    def profile(self) -> str:
        """The ``schedulerName`` that it asks for."""
        return self.pod_info.pod.spec.scheduler_name

    @property
    def gated(self) -> bool:
        """A PreEnqueue plugin keeps it out."""
        return bool(self.gating_plugin)

    @property
    def rejectors(self) -> set[str]:
        """Every plugin that has something against it."""
        return self.unschedulable_plugins | self.pending_plugins

    def clear_rejectors(self) -> None:
        """Forget the verdict of the last attempt, before the next one's is noted.

        Not done when the pod is popped: a pod that is scheduled after a flush still tells who had rejected it.
        """
        self.unschedulable_plugins = set()
        self.pending_plugins = set()
        self.gating_plugin = ""
        self.gating_reasons = ()


class QueueTimes(NamedTuple):
    """Seconds: the first and the longest back-off, and how long a refused pod waits for an event at most."""

    initial_backoff: float = 1.0
    max_backoff: float = 10.0
    max_in_unschedulable: float = 300.0


class QueueMetrics(Protocol):
    """What the queue counts; ``scheduler.metrics.Metrics`` does it."""

    def queue_incoming(self, queue: str, event: str) -> None:
        """A pod entered ``active``, ``backoff`` or ``unschedulable`` because of the event of that label."""
        ...

    def queueing_hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """A plugin's hint answered ``Queue``, ``QueueSkip`` or failed (``Error``)."""
        ...

    def unschedulable(self, plugin: str, profile: str, change: int) -> None:
        """One pod more or less waits because of the plugin."""
        ...

    def extension_point(self, point: str, status: str, profile: str, seconds: float) -> None:
        """PreEnqueue ran for one pod."""
        ...


class NoMetrics:
    """Counts nothing."""

    def queue_incoming(self, queue: str, event: str) -> None:
        """Nothing."""

    def queueing_hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """Nothing."""

    def unschedulable(self, plugin: str, profile: str, change: int) -> None:
        """Nothing."""

    def extension_point(self, point: str, status: str, profile: str, seconds: float) -> None:
        """Nothing."""
