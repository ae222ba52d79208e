"""The one store: objects by resource, one counter of versions, and a window of history.

    create ──► ADDED ──► replace ──► MODIFIED ──► ... ──► remove ──► DELETED
       each step: version += 1 · the entry's bytes are encoded once · an event joins the history · watchers are told

Entries are never changed in place: whoever holds one may read it without a lock, and the previous entry stays whole inside the event.
History is undone to answer a list at an older version, and replayed to start a watch there. What fell out of the window (or was compacted
away) answers 410 Gone. Bytes are spliced, not re-encoded, into lists and watch events.

One re-entrant lock guards everything; a request holds it from its first read to its last write, which makes every request a transaction.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import msgspec

Object = dict[str, Any]
Key = tuple[str, str]
_encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One object at one version: the decoded form, its JSON, and the version as a number."""

    obj: Object
    raw: bytes
    version: int

    @classmethod
    def of(cls, obj: Object, version: int) -> Entry:
        """The entry of an object that already carries its version."""
        return cls(obj, _encode(obj), version)

    @property
    def key(self) -> Key:
        """(namespace, name)."""
        meta = self.obj["metadata"]
        return meta.get("namespace", ""), meta["name"]


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """One change: `ADDED`, `MODIFIED` or `DELETED`; `entry` is the state after it (for a deletion: the last state)."""

    type: str
    entry: Entry
    previous: Entry | None
    version: int


class ExpiredError(Exception):
    """The asked version lies before the history window; `oldest` is the first one still known."""

    def __init__(self, asked: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {asked} ({oldest})")


class _Table:
    """The objects of one resource, their sorted keys (made when asked for) and their history."""

    def __init__(self, window: int) -> None:
        self.entries: dict[Key, Entry] = {}
        self.history: deque[Event] = deque(maxlen=window)
        self.compacted = 0
        self.watchers: list[Callable[[Event], None]] = []
        self._sorted: list[Key] | None = None

    def ordered(self) -> list[Key]:
        if self._sorted is None:
            self._sorted = sorted(self.entries)
        return self._sorted

    def record(self, event: Event) -> None:
        key = event.entry.key
        if event.type == "DELETED":
            del self.entries[key]
        else:
            self.entries[key] = event.entry
        if event.type != "MODIFIED":
            self._sorted = None
        if len(self.history) == self.history.maxlen:
            self.compacted = self.history[0].version
        self.history.append(event)
        for tell in tuple(self.watchers):
            tell(event)


class Store:
    """Objects by storage key (`pods`, `deployments.apps`) and (namespace, name).

    `window` is how many events each resource remembers. Versions start at 1 and grow by one with every write to any resource.
    """

    def __init__(self, window: int = 20_000) -> None:
        self.lock = threading.RLock()
        self.version = 1
        self._window = window
        self._compacted = 0
        self._tables: dict[str, _Table] = {}

    def _table(self, resource: str) -> _Table:
        table = self._tables.get(resource)
        if table is None:
            table = self._tables[resource] = _Table(self._window)
            table.compacted = self._compacted
        return table

    def _table_since(self, resource: str, version: int) -> _Table:
        """The table, if its history reaches back to `version`. Raises `ExpiredError`."""
        table = self._table(resource)
        if version < table.compacted:
            raise ExpiredError(version, table.compacted)
        return table

    def entry(self, resource: str, namespace: str, name: str) -> Entry | None:
        """The current entry, or None."""
        return self._table(resource).entries.get((namespace, name))

    def get(self, resource: str, namespace: str, name: str) -> Object | None:
        """The current object (not to be changed), or None; `namespace` is "" for cluster-scoped ones."""
        entry = self.entry(resource, namespace, name)
        return entry.obj if entry else None

    def objects(self, resource: str, namespace: str | None = None) -> list[Object]:
        """The current objects in order of (namespace, name), of one namespace or of all."""
        return [entry.obj for entry in self.entries(resource, namespace)]

    def entries(self, resource: str, namespace: str | None = None) -> Iterator[Entry]:
        """The current entries in order of (namespace, name)."""
        with self.lock:
            table = self._table(resource)
            found = [
                table.entries[key] for key in table.ordered() if namespace is None or key[0] == namespace
            ]
        return iter(found)

    def resources(self) -> tuple[str, ...]:
        """Storage keys that hold anything or once did."""
        return tuple(self._tables)

    def snapshot(self, resource: str, version: int) -> list[Entry]:
        """The entries as they were at `version`, sorted. Raises `ExpiredError` when the history no longer reaches back that far."""
        with self.lock:
            table = self._table_since(resource, version)
            if not table.history or table.history[-1].version <= version:
                return [table.entries[key] for key in table.ordered()]
            state = dict(table.entries)
            for event in reversed(table.history):
                if event.version <= version:
                    break
                _undo(state, event)
            return [state[key] for key in sorted(state)]

    def events_since(self, resource: str, version: int) -> list[Event]:
        """The events after `version`, oldest first. Raises `ExpiredError` like `snapshot`."""
        with self.lock:
            found: list[Event] = []
            for event in reversed(self._table_since(resource, version).history):
                if event.version <= version:
                    break
                found.append(event)
            found.reverse()
            return found

    def put(self, resource: str, obj: Object) -> Entry:
        """Write an object under its metadata's namespace and name; stamps `metadata.resourceVersion`. Takes ownership of `obj`."""
        with self.lock:
            self.version += 1
            meta = obj["metadata"] = {**obj["metadata"], "resourceVersion": str(self.version)}
            entry = Entry.of(obj, self.version)
            table = self._table(resource)
            previous = table.entries.get((meta.get("namespace", ""), meta["name"]))
            table.record(Event("MODIFIED" if previous else "ADDED", entry, previous, self.version))
            return entry

    def remove(self, resource: str, namespace: str, name: str) -> Entry:
        """Delete an existing object; the returned entry is its last state at the version of the deletion. Raises `KeyError` if absent."""
        with self.lock:
            table = self._table(resource)
            previous = table.entries[namespace, name]
            self.version += 1
            obj = {
                **previous.obj,
                "metadata": {**previous.obj["metadata"], "resourceVersion": str(self.version)},
            }
            entry = Entry.of(obj, self.version)
            table.record(Event("DELETED", entry, previous, self.version))
            return entry

    def subscribe(self, resource: str, tell: Callable[[Event], None]) -> Callable[[], None]:
        """Call `tell` with every later event, under the lock; the returned function ends that."""
        with self.lock:
            watchers = self._table(resource).watchers
            watchers.append(tell)

        def unsubscribe() -> None:
            with self.lock:
                if tell in watchers:
                    watchers.remove(tell)

        return unsubscribe

    def compact(self) -> int:
        """Forget all history: what is older than now answers 410 Gone. Returns the version compacted to."""
        with self.lock:
            for table in self._tables.values():
                table.history.clear()
                table.compacted = self.version
            self._compacted = self.version
            return self.version


def _undo(state: dict[Key, Entry], event: Event) -> None:
    if event.previous is None:
        del state[event.entry.key]
    else:
        state[event.entry.key] = event.previous
