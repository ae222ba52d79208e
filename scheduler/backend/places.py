"""Places: where pods wait for a decision: the active queue, the back-off queue, and the unschedulable pods, gated ones among them."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.backend.backoff import BackoffQueue
from scheduler.backend.heap import KeyedHeap
from scheduler.backend.queued import QueuedPodInfo, QueueTimes
from scheduler.backend.sorting import SortKey
from scheduler.backend.unschedulable import UnschedulablePods

ACTIVE = "active"
BACKOFF = "backoff"
UNSCHEDULABLE = "unschedulable"
GATED = "gated"


class Places:
    """A pod, known by its name, waits in one of them at most. Who moves pods does so in the places themselves."""

    def __init__(self, active: KeyedHeap, backoff: BackoffQueue, unschedulable: UnschedulablePods) -> None:
        self.active = active
        self.backoff = backoff
        self.unschedulable = unschedulable

    def __len__(self) -> int:
        return len(self.active) + len(self.backoff) + len(self.unschedulable)

    def __iter__(self) -> Iterator[tuple[str, QueuedPodInfo]]:
        """Every pod with the place that it waits in."""
        yield from ((ACTIVE, queued) for queued in self.active)
        yield from ((BACKOFF, queued) for queued in self.backoff)
        yield from ((GATED if queued.gated else UNSCHEDULABLE, queued) for queued in self.unschedulable)

    def get(self, name: str) -> QueuedPodInfo | None:
        """The pod of that name."""
        return self.active.get(name) or self.backoff.get(name) or self.unschedulable.get(name)

    def remove(self, name: str) -> QueuedPodInfo | None:
        """Take out the pod of that name, if it waits."""
        return self.active.remove(name) or self.backoff.remove(name) or self.unschedulable.remove(name)

    def place_of(self, name: str) -> str:
        """The queue that the pod waits in; ``""`` when it does not wait."""
        places = ((ACTIVE, self.active), (BACKOFF, self.backoff), (UNSCHEDULABLE, self.unschedulable))
        return next((place for place, pods in places if name in pods), "")

    def rank(self, sort_key: SortKey, times: QueueTimes) -> None:
        """Order the pods by another key, and let those that back off do so by other times."""
        for _, queued in self:
            queued.backoff_expiration = None
        self.active.rank(sort_key)
        self.backoff.follow(sort_key, times.initial_backoff, times.max_backoff)

    def counts(self) -> dict[str, int]:
        """Pods by place; may be asked from any thread."""
        gated = self.unschedulable.gated
        return {
            ACTIVE: len(self.active),
            BACKOFF: len(self.backoff),
            UNSCHEDULABLE: len(self.unschedulable) - gated,
            GATED: gated,
        }
