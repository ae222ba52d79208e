"""Watches: a stream of events from a version on, filtered, rendered, never blocking the writer.

    open ──► initial events (state, or history since the version) ──► live events ──► end
                                                                        ├── bookmarks, when the client allows them
                                                                        ├── timeoutSeconds over, or `cut`: proper end
                                                                        └── reader too slow, or `cut(abort=True)`: connection dropped

The store calls `tell` under its lock, in whatever thread wrote. The event is rendered there (later the object may have changed hands) and
queued; the loop's thread sends what has gathered in one chunk.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from scheduler.sandbox.reads.fields import Wanted
from scheduler.sandbox.reads.views import View
from scheduler.sandbox.store import Entry, Event, Store
from scheduler.sandbox.wire.http import Stream


@dataclass(slots=True, eq=False)
class Watch:
    """One open watch. `wake` schedules a call in the loop's thread, from any thread."""

    path: str
    resource_key: str
    wanted: Wanted
    view: View
    bookmarks: bool
    store: Store
    wake: Callable[[Callable[[], None]], None]
    stream: Stream
    _pending: list[bytes] = field(default_factory=list)
    _scheduled: bool = False
    _unsubscribe: Callable[[], None] = lambda: None
    cancel_timeout: Callable[[], None] = lambda: None

    def begin(self, first: list[bytes]) -> None:
        """Queue the initial events and subscribe; the caller holds the store's lock, so that nothing falls between."""
        self._pending.extend(first)
        self._unsubscribe = self.store.subscribe(self.resource_key, self.tell)
        self._schedule()

    def tell(self, event: Event) -> None:
        """A change of the resource."""
        rendered = self.render(event)
        if rendered:
            self._pending.append(rendered)
            self._schedule()

    def render(self, event: Event) -> bytes:
        """The event as this watcher sees it: objects that start or stop matching are added or deleted; b"" when not its business."""
        if self.wanted.everything:
            return self.view.event(event.type, event.entry)
        before = event.previous is not None and self.wanted.matches(event.previous)
        after = event.type != "DELETED" and self.wanted.matches(event.entry)
        if after:
            return self.view.event("MODIFIED" if before else "ADDED", event.entry)
        if before and event.previous is not None:
            return self.view.event(
                "DELETED", event.entry if event.type == "DELETED" else _at(event.previous, event.version)
            )
        return b""

    def bookmark(self) -> None:
        """Tell the client how far it has seen, when it asked for that."""
        if self.bookmarks:
            with self.store.lock:
                self._pending.append(self.view.bookmark(self.store.version))
            self._schedule()

    def fail(self, status: dict[str, object]) -> None:
        """Send an ERROR event and end. Loop thread only."""
        self._pending.append(self.view.error(status))
        self.end()

    def end(self) -> None:
        """Send what is queued and end the reply properly. Loop thread only."""
        self._flush()
        self.stream.end()

    def cut(self) -> None:
        """Drop the connection. Loop thread only."""
        self.stream.abort()

    def closed(self) -> None:
        """The stream ended, whoever ended it."""
        self._unsubscribe()
        self.cancel_timeout()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self.wake(self._flush)

    def _flush(self) -> None:
        with self.store.lock:
            self._scheduled = False
            pending, self._pending = self._pending, []
        self.stream.send(b"".join(pending))


def _at(entry: Entry, version: int) -> Entry:
    obj = {**entry.obj, "metadata": {**entry.obj["metadata"], "resourceVersion": str(version)}}
    return Entry.of(obj, version)
