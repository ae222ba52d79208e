"""Inbox: where informer and binding threads leave what they have seen or done, for the one thread that owns the state.

::

    informer threads ──put──┐
    binding threads  ──put──┼──►  inbox  ──drain──►  the scheduling thread
    anybody          ──wake─┘

There is no limit on its length: a blocked informer would lose its watch, and its relist would bring the same events again.
"""

from __future__ import annotations

from collections import deque
from threading import Condition
from typing import Generic, TypeVar

T = TypeVar("T")


class Inbox(Generic[T]):
    """A queue of many producers and one consumer, drained as a whole; nothing that was put is ever lost."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._items: deque[T] = deque()
        self._woken = False
        self._closed = False

    def __len__(self) -> int:
        return len(self._items)

    @property
    def closed(self) -> bool:
        """Nobody will wait for it any more."""
        return self._closed

    def put(self, item: T) -> None:
        """Leave something. Closed or not, the next ``drain`` gets it."""
        with self._changed:
            self._items.append(item)
            self._changed.notify()

    def drain(self) -> list[T]:
        """Everything that was put since the last call, in order; empty when there is nothing. Does not wait."""
        with self._changed:
            items = list(self._items)
            self._items.clear()
            self._woken = False
        return items

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until there is something to drain, somebody wakes, the inbox is closed, or ``timeout`` seconds pass.

        Returns:
            False when the time passed in vain.
        """
        with self._changed:
            return self._changed.wait_for(self._due, timeout)

    def wake(self) -> None:
        """End the current wait, or the next one when nobody waits, without leaving anything."""
        with self._changed:
            self._woken = True
            self._changed.notify()

    def close(self) -> None:
        """End every wait, now and later."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _due(self) -> bool:
        return bool(self._items) or self._woken or self._closed
