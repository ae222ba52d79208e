"""What the scheduler has decided about an object and the API server does not know, or has not told us yet.

::

            assume                     the watch brings a newer version, or the object is gone
    known ─────────> assumed ───────────────────────────────────────────> known
                        │                                                   ▲
                        └──restore (the decision is taken back)─────────────┘

An assumed object is told from a newer one by its resource version: it is the one of the object that the decision was made about.
So it stands until the catalog has another version, and needs no event to end.

The scheduling thread assumes and reads; binding threads restore what could not be written. Hence the lock.

Upstream: ``passive_assume_cache.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import Generic, TypeVar

from scheduler.framework.catalog import Collection, Key, Object

T = TypeVar("T", bound=Object)


class OutOfSyncError(Exception):
    """The object changed since the decision about it; the message is upstream's."""


class AssumeCache(Generic[T]):
    """One kind of object, with decisions laid over it.

    Args:
        objects: what the watch has seen.
        plural: the kind, as the API server names it in its messages.
    """

    def __init__(self, objects: Collection[T], plural: str) -> None:
        self._objects = objects
        self._plural = plural
        self._assumed: dict[Key, T] = {}
        self._lock = threading.Lock()

    def get(self, name: str, namespace: str = "") -> T | None:
        """The object with what was decided about it; None when there is none."""
        return self._overlaid(self.stored(name, namespace))

    def stored(self, name: str, namespace: str = "") -> T | None:
        """The object as the API server has it."""
        return self._objects.get(name, namespace)

    def overlaid(self, objects: Iterable[T]) -> list[T]:
        """The same objects with what was decided about them."""
        if not self._assumed:
            return list(objects)
        return [found for found in map(self._overlaid, objects) if found is not None]

    def assume(self, obj: T) -> None:
        """Take the object for what it is going to be.

        Raises:
            OutOfSyncError: it is gone, or has another version by now.
        """
        meta = obj.metadata
        with self._lock:
            self._forget_expired()
            stored = self.stored(meta.name, meta.namespace)
            if stored is None:
                raise OutOfSyncError(self.not_found(meta.name, meta.namespace))
            version = stored.metadata.resource_version
            if version != meta.resource_version:
                name = _full_name(meta.name, meta.namespace)
                raise OutOfSyncError(
                    f'"{name}" is out of sync (stored: {version}, assume: {meta.resource_version})'
                )
            self._assumed[_key(obj)] = obj

    def restore(self, obj: T) -> None:
        """Take back what was assumed of the object, unless that was about another version."""
        with self._lock:
            assumed = self._assumed.get(_key(obj))
            if assumed is not None and assumed.metadata.resource_version == obj.metadata.resource_version:
                del self._assumed[_key(obj)]

    def not_found(self, name: str, namespace: str = "") -> str:
        """The API machinery's words for an object that does not exist."""
        return f'{self._plural} "{_full_name(name, namespace)}" not found'

    def _overlaid(self, stored: T | None) -> T | None:
        if stored is None or not self._assumed:
            return stored
        assumed = self._assumed.get(_key(stored))
        if assumed is None or assumed.metadata.resource_version != stored.metadata.resource_version:
            return stored
        return assumed

    def _forget_expired(self) -> None:
        for (namespace, name), assumed in list(self._assumed.items()):
            if self.get(name, namespace) is not assumed:
                del self._assumed[namespace, name]


def _key(obj: Object) -> Key:
    return obj.metadata.namespace, obj.metadata.name


def _full_name(name: str, namespace: str) -> str:
    return f"{namespace}/{name}" if namespace else name
