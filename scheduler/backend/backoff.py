"""BackoffQueue: pods whose last attempt failed and which may be worth another, after a pause that grows.

The pause starts at the initial back-off and doubles with every rejection, up to the maximum. A pod whose last attempts
ended in errors is paused by the number of these instead: that protects the API server, while the other pause punishes
wasted cycles.

When the active queue may pop from here while it is empty (``SchedulerPopFromBackoffQ``), back-offs end in windows of a second,
and within a window the most urgent pod is first::

    failed at 0.7 s ── back-off 1 s ──► ends in the window [1, 2) ──► in the active queue at 2.0 s, or popped before

Pods that are here because of an error are kept apart: they are never popped early (upstream: ``backend/queue/backoff_queue.go``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from scheduler.backend.heap import KeyedHeap
from scheduler.backend.queued import QueuedPodInfo
from scheduler.backend.sorting import SortKey

WINDOW_SECONDS = 1.0
_NO_BACKOFF = -math.inf
_MAX_DOUBLINGS = 62


class BackoffQueue:
    """Pods backing off.

    Args:
        sort_key: the active queue's order, which decides within a window.
        now: the clock, in seconds.
        initial: the first back-off, in seconds.
        maximum: the longest, in seconds; 0 turns backing off off.
        windows: whether back-offs end in whole windows.
    """

    def __init__(
        self, sort_key: SortKey, now: Callable[[], float], *, initial: float, maximum: float, windows: bool
    ) -> None:
        self._sort_key = sort_key
        self._now = now
        self._initial = initial
        self._maximum = maximum
        self._windows = windows
        self._rejected = KeyedHeap()
        self._errors = KeyedHeap()

    def __len__(self) -> int:
        return len(self._rejected) + len(self._errors)

    def __contains__(self, name: str) -> bool:
        return name in self._rejected or name in self._errors

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        yield from self._rejected
        yield from self._errors

    def get(self, name: str) -> QueuedPodInfo | None:
        """The pod of that name."""
        return self._rejected.get(name) or self._errors.get(name)

    def add(self, queued: QueuedPodInfo) -> None:
        """Add a pod, or place it anew."""
        self.remove(queued.name)
        heap = self._rejected if queued.rejectors else self._errors
        heap.push(queued, self._priority(queued))

    def update(self, queued: QueuedPodInfo) -> None:
        """The pod, which is here, has changed: its urgency may be another."""
        heap = self._rejected if queued.name in self._rejected else self._errors
        heap.push(queued, self._priority(queued))

    def follow(self, sort_key: SortKey, initial: float, maximum: float) -> None:
        """Go on by another order and other back-offs; the caller has reset every pod's ``backoff_expiration``."""
        self._sort_key, self._initial, self._maximum = sort_key, initial, maximum
        for heap in (self._rejected, self._errors):
            heap.rank(self._priority)

    def remove(self, name: str) -> QueuedPodInfo | None:
        """Take out the pod of that name, if it is here."""
        return self._rejected.remove(name) or self._errors.remove(name)

    def pop_early(self) -> QueuedPodInfo | None:
        """Take out the pod whose back-off ends first, though it has not ended; never one that met an error."""
        return self._rejected.pop()

    def pop_completed(self) -> list[QueuedPodInfo]:
        """Take out every pod whose back-off has ended."""
        completed = []
        for heap in (self._rejected, self._errors):
            while (queued := heap.peek()) is not None and not self.is_backing_off(queued):
                heap.pop()
                completed.append(queued)
        return completed

    def next_completion(self) -> float | None:
        """When the next back-off ends, so that ``pop_completed`` has something to do; None when nobody backs off."""
        heads = [queued for heap in (self._rejected, self._errors) if (queued := heap.peek()) is not None]
        if not heads:
            return None
        return math.floor(min(self.expiration(queued) for queued in heads)) + WINDOW_SECONDS

    def is_backing_off(self, queued: QueuedPodInfo) -> bool:
        """Whether the pod has to wait; one whose back-off ends in the current window has."""
        return self.expiration(queued) >= self._aligned(self._now())

    def expiration(self, queued: QueuedPodInfo) -> float:
        """When the pod's back-off ends, or the window in which it does begins; minus infinity when it has none."""
        count = queued.consecutive_errors or queued.unschedulable_count
        if not self._maximum or not count:
            return _NO_BACKOFF
        if queued.backoff_expiration is None:
            queued.backoff_expiration = self._aligned(queued.timestamp + self.duration(count))
        return queued.backoff_expiration

    def duration(self, count: int) -> float:
        """The back-off after ``count`` failures, in seconds."""
        return min(self._initial * 2.0 ** min(count - 1, _MAX_DOUBLINGS), self._maximum)

    def _priority(self, queued: QueuedPodInfo) -> Any:
        return self.expiration(queued), self._sort_key(queued)

    def _aligned(self, time: float) -> float:
        return math.floor(time / WINDOW_SECONDS) * WINDOW_SECONDS if self._windows else time
