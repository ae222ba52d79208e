"""InFlight: pods between pop and done, and what happened meanwhile.

A pod that is being decided cannot be moved by an event, so the event is kept until every pod that was under way when it came
is done. A pod that comes back refused is then judged by the events since its pop, as if it had been waiting all along::

    events    e0  e1  e2  e3  e4          pod a: popped before e1 ─► sees e1 … e4
                  ▲       ▲               pod b: popped before e3 ─► sees e3, e4
                  a       b               e0 is dropped, and when a is done, e1 and e2 too

Upstream: ``backend/queue/active_queue.go``, which keeps pods and events in one list.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

from scheduler.backend.queued import QueuedPodInfo
from scheduler.framework.events import ClusterEvent

POD_POPPED = "PodPopped"


class Happening(NamedTuple):
    """An event with the object before and after it."""

    event: ClusterEvent
    old: Any
    new: Any


class InFlight:
    """Pods under way, by uid, in the order of their pops; and the events that any of them may have to see."""

    def __init__(self) -> None:
        self._pods: dict[str, tuple[QueuedPodInfo, int]] = {}
        self._events: deque[Happening] = deque()
        self._first = 0
        self._labels: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        return (queued for queued, _ in self._pods.values())

    def start(self, queued: QueuedPodInfo) -> None:
        """The pod was popped: it will have to see the events from now on."""
        self._pods[queued.pod_info.uid] = (queued, self._first + len(self._events))

    def record(self, event: ClusterEvent, old: Any, new: Any) -> None:
        """Keep an event for the pods under way; with none under way it is forgotten at once."""
        if self._pods:
            self._events.append(Happening(event, old, new))
            self._labels[event.label] = self._labels.get(event.label, 0) + 1

    def events_since(self, uid: str) -> list[Happening] | None:
        """What happened since the pod was popped; None when it is not under way."""
        known = self._pods.get(uid)
        return None if known is None else list(islice(self._events, known[1] - self._first, None))

    def done(self, uid: str) -> None:
        """The pod is no longer under way. Events that only it had to see are forgotten."""
        if self._pods.pop(uid, None) is None:
            return
        oldest = next(iter(self._pods.values()), None)
        needed = self._first + len(self._events) if oldest is None else oldest[1]
        while self._first < needed:
            label = self._events.popleft().event.label
            self._labels[label] -= 1
            self._first += 1

    def counts(self) -> dict[str, int]:
        """What is being kept, by label: ``PodPopped`` for the pods, the events under theirs, 0 for those that were kept once."""
        return {**self._labels, POD_POPPED: len(self._pods)}
