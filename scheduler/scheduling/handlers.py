"""InboxHandler: what an informer calls; it leaves the event in the inbox and returns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Generic, TypeVar

from scheduler.backend.inbox import Inbox

T = TypeVar("T")


class InboxHandler(Generic[T]):
    """Hands one informer's events to the scheduling thread.

    Args:
        inbox: where they go.
        apply: called by the scheduling thread with one of the three functions below and the event's objects.
        added, updated, deleted: what each kind of event does.
    """

    def __init__(
        self,
        inbox: Inbox[Callable[[], None]],
        apply: Callable[..., None],
        added: Callable[[T], Any],
        updated: Callable[[T, T], Any],
        deleted: Callable[[T], Any],
    ) -> None:
        self._inbox = inbox
        self._apply = apply
        self._added = added
        self._updated = updated
        self._deleted = deleted

    def on_add(self, obj: T, initial: bool) -> None:  # noqa: ARG002  # the informers' protocol
        """A new object, or one of the first list."""
        self._inbox.put(partial(self._apply, self._added, obj))

    def on_update(self, old: T, new: T) -> None:
        """An object changed."""
        self._inbox.put(partial(self._apply, self._updated, old, new))

    def on_delete(self, obj: T) -> None:
        """An object is gone; this is its last known state."""
        self._inbox.put(partial(self._apply, self._deleted, obj))
