"""The informer's copy of one kind, and the differences that its handlers are told about.

A handler sees a consistent history: every object is added once, updated any number of times and deleted once, also when
a connection was down for a while and the copy had to be replaced by a new list.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, Protocol, TypeVar

from scheduler.client.wire import object_key


class Metadata(Protocol):
    """The part of ``metadata`` that an informer reads."""

    @property
    def name(self) -> str:
        """Never empty on the wire."""

    @property
    def namespace(self) -> str:
        """Empty for a cluster-wide object."""

    @property
    def resource_version(self) -> str:
        """Opaque; equal versions are equal objects."""


class Object(Protocol):
    """Anything with metadata."""

    @property
    def metadata(self) -> Metadata:
        """The object's metadata."""


T = TypeVar("T", bound=Object)
T_contra = TypeVar("T_contra", bound=Object, contravariant=True)


class Handler(Protocol[T_contra]):
    """Told about changes, in order, in the informer's thread. Must be quick."""

    def on_add(self, obj: T_contra, initial: bool) -> None:
        """``initial``: the object was already there when we started."""

    def on_update(self, old: T_contra, new: T_contra) -> None:
        """The object changed from ``old`` to ``new``; versions between may have been skipped."""

    def on_delete(self, obj: T_contra) -> None:
        """The object is gone; ``obj`` is the last state that is known of it."""


def key_of(obj: Object) -> str:
    """``namespace/name`` or ``name``."""
    return object_key(obj.metadata.namespace, obj.metadata.name)


class Store(Generic[T]):
    """Objects by key. Written by the informer's thread; reads from other threads see whole objects.

    ``notify(tell)`` calls ``tell`` once with every handler.
    """

    def __init__(self, notify: Callable[[Callable[[Handler[T]], None]], None]) -> None:
        self._objects: dict[str, T] = {}
        self._notify = notify

    def __len__(self) -> int:
        return len(self._objects)

    def __iter__(self) -> Iterator[T]:
        return iter(tuple(self._objects.values()))

    def get(self, key: str) -> T | None:
        """The object with that key, or None."""
        return self._objects.get(key)

    def put(self, obj: T) -> None:
        """ADDED or MODIFIED: one that is already known in this version is not told again."""
        key = key_of(obj)
        old = self._objects.get(key)
        if old is not None and old.metadata.resource_version == obj.metadata.resource_version:
            return
        self._objects[key] = obj
        self._tell_put(old, obj, initial=False)

    def remove(self, key: str, last: T | None = None) -> None:
        """DELETED: told with the final state ``last``, or the stored one; not told when the object was unknown."""
        old = self._objects.pop(key, None)
        if old is None:
            return
        final = last if last is not None else old
        self._notify(lambda handler: handler.on_delete(final))

    def replace(self, objects: Mapping[str, T], *, initial: bool) -> None:
        """Take over a complete list and tell the difference: deletes first, then adds and updates in list order."""
        old = self._objects
        for key in [key for key in old if key not in objects]:
            self.remove(key)
        for key, obj in objects.items():
            before = old.get(key)
            if before is not None and before.metadata.resource_version == obj.metadata.resource_version:
                continue
            old[key] = obj
            self._tell_put(before, obj, initial=initial)

    def _tell_put(self, old: T | None, new: T, *, initial: bool) -> None:
        if old is None:
            self._notify(lambda handler: handler.on_add(new, initial))
        else:
            before = old
            self._notify(lambda handler: handler.on_update(before, new))
