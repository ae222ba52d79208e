"""KeyedHeap: a priority queue whose entries can be found, replaced and removed by name.

``heapq`` does the ordering in C over tuples; removing only marks an entry as dead, and dead ones are swept when they
outnumber the living. So every operation is O(log n), amortised, without a line of sifting in Python.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Any

from scheduler.backend.queued import QueuedPodInfo

_SLACK = 64

_Entry = list[Any]
"""[priority, place among equals, serial number, pod]; the pod is None in a dead entry. Serial numbers are unique, so that
pods are never compared."""

_POD = 3


class KeyedHeap:
    """Waiting pods by name, the one with the smallest priority first; equal ones in the order in which they came."""

    __slots__ = ("_entries", "_heap", "_serial")

    def __init__(self) -> None:
        self._heap: list[_Entry] = []
        self._entries: dict[str, _Entry] = {}
        self._serial = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        """The pods, in no particular order."""
        return (entry[_POD] for entry in self._entries.values())

    def get(self, name: str) -> QueuedPodInfo | None:
        """The pod of that name."""
        entry = self._entries.get(name)
        return None if entry is None else entry[_POD]

    def push(self, queued: QueuedPodInfo, priority: Any) -> None:
        """Add a pod, or give it a new priority; it then keeps its place among equals."""
        name = queued.name
        self._serial += 1
        place = self._serial
        known = self._entries.get(name)
        if known is not None:
            place = known[1]
            known[_POD] = None
        entry = self._entries[name] = [priority, place, self._serial, queued]
        heapq.heappush(self._heap, entry)
        self._sweep()

    def rank(self, priority: Callable[[QueuedPodInfo], Any]) -> None:
        """Give every pod a new priority; equal ones stay in the order in which they came."""
        for entry in self._entries.values():
            entry[0] = priority(entry[_POD])
        self._heap = list(self._entries.values())
        heapq.heapify(self._heap)

    def remove(self, name: str) -> QueuedPodInfo | None:
        """Take out the pod of that name, if it is here."""
        entry = self._entries.pop(name, None)
        if entry is None:
            return None
        queued: QueuedPodInfo = entry[_POD]
        entry[_POD] = None
        self._sweep()
        return queued

    def peek(self) -> QueuedPodInfo | None:
        """The first pod; None when there is none."""
        while self._heap:
            queued: QueuedPodInfo | None = self._heap[0][_POD]
            if queued is not None:
                return queued
            heapq.heappop(self._heap)
        return None

    def pop(self) -> QueuedPodInfo | None:
        """Take out the first pod; None when there is none."""
        queued = self.peek()
        if queued is not None:
            heapq.heappop(self._heap)
            del self._entries[queued.name]
        return queued

    def _sweep(self) -> None:
        if len(self._heap) > 2 * len(self._entries) + _SLACK:
            self._heap = list(self._entries.values())
            heapq.heapify(self._heap)
