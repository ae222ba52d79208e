"""A scheduling queue with a clock that the test moves, plugins that the test decides for, and a record of what was counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler.apis.objects import Pod
from scheduler.backend.hints import Registration
from scheduler.backend.queue import SchedulingQueue
from scheduler.backend.queued import QueuedPodInfo, QueueTimes
from scheduler.framework.events import ActionType, ClusterEvent, EventResource, QueueingHint
from scheduler.framework.status import Status
from tests.builders import PodBuilder, make_pod

PROFILE = "default-scheduler"

NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)


class Clock:
    """Seconds, moved by the test."""

    def __init__(self, time: float = 1000.0) -> None:
        self.time = time

    def __call__(self) -> float:
        return self.time


class Gate:
    """Gates the pods whose names it is told."""

    def __init__(self, name: str = "Gate") -> None:
        self.name = name
        self.closed_for: set[str] = set()
        self.fails: BaseException | None = None
        self.asked = 0

    def pre_enqueue(self, pod: Pod) -> Status | None:
        self.asked += 1
        if self.fails:
            raise self.fails
        return Status.unresolvable("waiting for the gate") if pod.metadata.name in self.closed_for else None


@dataclass
class Counted:
    """What the queue counted."""

    incoming: Counter[tuple[str, str]] = field(default_factory=Counter)
    hints: list[tuple[str, str, str]] = field(default_factory=list)
    rejected_by: Counter[str] = field(default_factory=Counter)
    points: list[tuple[str, str]] = field(default_factory=list)

    def queue_incoming(self, queue: str, event: str) -> None:
        self.incoming[queue, event] += 1

    def queueing_hint(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        self.hints.append((plugin, event, hint))

    def unschedulable(self, plugin: str, profile: str, change: int) -> None:
        self.rejected_by[plugin] += change

    def extension_point(self, point: str, status: str, profile: str, seconds: float) -> None:
        self.points.append((point, status))


def only_for(*names: str) -> Any:
    """A hint that says Queue to the pods of these names."""

    def hint(pod: Pod, old: Any, new: Any) -> QueueingHint:
        return QueueingHint.QUEUE if pod.metadata.name in names else QueueingHint.SKIP

    return hint


def most_urgent_first(queued: QueuedPodInfo) -> tuple[int, float]:
    return -queued.pod_info.priority, queued.timestamp


class Harness:
    """The queue and everything around it."""

    def __init__(self, *registrations: Registration, **options: Any) -> None:
        self.clock = Clock()
        self.gate = Gate()
        self.counted = Counted()
        self.queue = SchedulingQueue(
            most_urgent_first,
            self.clock,
            pre_enqueue={PROFILE: [self.gate]},
            hints={PROFILE: registrations},
            metrics=self.counted,
            **{"times": QueueTimes(), **options},
        )

    def add(self, *names: str, priority: int = 0) -> None:
        for name in names:
            self.queue.add(pod(name).priority(priority).info())

    def popped(self) -> str | None:
        queued = self.queue.pop()
        return None if queued is None else queued.pod.metadata.name

    def take(self, name: str) -> QueuedPodInfo:
        """Pop the pod, which must be the next."""
        queued = self.queue.pop()
        assert queued is not None
        assert queued.pod.metadata.name == name
        return queued

    def refuse(self, name: str, *plugins: str, pending: Sequence[str] = ()) -> QueuedPodInfo:
        """Let an attempt for the pod, which must be the next, end in a rejection, or in an error when no plugin is given."""
        return self.give_back(self.take(name), *plugins, pending=pending)

    def give_back(self, queued: QueuedPodInfo, *plugins: str, pending: Sequence[str] = ()) -> QueuedPodInfo:
        queued.clear_rejectors()
        queued.unschedulable_plugins = set(plugins)
        queued.pending_plugins = set(pending)
        self.queue.add_unschedulable(queued)
        return queued

    def where(self, name: str) -> str:
        """The queue that the pod is in; empty when it is in none."""
        places = [place for place, queued in self.queue.pending() if queued.pod.metadata.name == name]
        assert len(places) <= 1, f"{name} is in several queues: {places}"
        return "".join(places)


def pod(name: str) -> PodBuilder:
    return make_pod(name).spec(schedulerName=PROFILE)
