"""Many equal events become one with a count: the event cache of client-go's tools/events, without threads.

Two events are *isomorphic* when everything but their note and time agrees. Of a run of isomorphic events

* the first is created on the server;
* the second turns it into a series (count 2), which is sent as a patch;
* later ones only raise the count here;
* every 30 minutes the counts of the running series are sent, which also keeps the server from expiring them;
* a series without an event for 6 minutes is finished: its last count is sent and it is forgotten.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

import msgspec

from scheduler.client.references import ObjectReference

FINISH_AFTER = timedelta(minutes=6)
REFRESH_AFTER = timedelta(minutes=30)
CACHE_LIMIT = 50_000
"""Distinct events remembered at most; beyond that a new one is sent but not aggregated."""

Key = tuple[str, str, str, str, str, ObjectReference, ObjectReference | None]


class Event(msgspec.Struct, frozen=True):
    """What a component wants to tell about an object; the fields of events.k8s.io/v1."""

    name: str
    namespace: str
    time: datetime
    type: str
    reason: str
    action: str
    note: str
    controller: str
    instance: str
    regarding: ObjectReference
    related: ObjectReference | None = None

    @property
    def key(self) -> Key:
        """Equal for isomorphic events."""
        return (
            self.type,
            self.action,
            self.reason,
            self.controller,
            self.instance,
            self.regarding,
            self.related,
        )


@dataclass(frozen=True, slots=True)
class Sending:
    """An event to create (``count`` 1), or whose series to patch; created after all if the server has it no more."""

    event: Event
    count: int
    last_observed: datetime


class _Entry:
    __slots__ = ("count", "event", "last_observed")

    def __init__(self, event: Event) -> None:
        self.event = event
        self.count = 1
        self.last_observed = event.time

    def sending(self) -> Sending:
        return Sending(self.event, self.count, self.last_observed)


class SeriesCache:
    """The events of the last minutes. Not thread-safe. All times are aware."""

    def __init__(self) -> None:
        self._entries: dict[Key, _Entry] = {}
        self._refreshed_at: datetime | None = None
        self._finished_at: datetime | None = None

    def __len__(self) -> int:
        return len(self._entries)

    def record(self, event: Event) -> Sending | None:
        """Take in an event; what to send for it, if anything."""
        entry = self._entries.get(event.key)
        if entry is None:
            entry = _Entry(event)
            if len(self._entries) < CACHE_LIMIT:
                self._entries[event.key] = entry
            return entry.sending()
        entry.count += 1
        entry.last_observed = event.time
        return entry.sending() if entry.count == 2 else None

    def tend(self, now: datetime) -> list[Sending]:
        """Finish and refresh series as time demands; what to send. Call every now and then."""
        self._refreshed_at = self._refreshed_at or now
        self._finished_at = self._finished_at or now
        due: list[Sending] = []
        if now - self._finished_at >= FINISH_AFTER:
            self._finished_at = now
            due += self._finish(now)
        if now - self._refreshed_at >= REFRESH_AFTER:
            self._refreshed_at = now
            due += [entry.sending() for entry in self._entries.values() if entry.count > 1]
        return due

    def _finish(self, now: datetime) -> list[Sending]:
        over = {
            key: entry for key, entry in self._entries.items() if now - entry.last_observed > FINISH_AFTER
        }
        for key in over:
            del self._entries[key]
        return [entry.sending() for entry in over.values() if entry.count > 1]
