"""Catalog: the objects other than nodes and pods that plugins read: claims, volumes, services, budgets, namespaces.

One owner fills it from the watches, under its lock, between two decisions; plugins read it through their ``Handle``. Reading a
single object is safe in binding threads too.

Whoever needs objects by something else than their name asks with ``by``: the index is made at the first question and kept up
to date from then on::

    catalog.services.in_namespace("web")
    catalog.volume_attachments.by(node_of, "node-a")       # node_of(attachment) -> the keys it is to be found under

A live catalog keeps only the kinds that some plugin needs. Asking it for another is a bug of who asks, and told as one: an answer
"there is none" would look like a decision.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    Namespace,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    PodDisruptionBudget,
    ReplicaSet,
    ReplicationController,
    Service,
    StatefulSet,
    StorageClass,
    VolumeAttachment,
)


class NotKeptError(LookupError):
    """Objects of this kind are not watched, since no plugin said that it reads them."""


class Object(Protocol):
    """Anything with metadata."""

    @property
    def metadata(self) -> ObjectMeta:
        """The object's metadata."""
        ...


T = TypeVar("T", bound=Object)
KeysOf = Callable[[T], Iterable[Hashable]]
Key = tuple[str, str]
"""(namespace, name); the namespace is empty for cluster-wide kinds."""

_REMEMBERED = 4096
"""How many changes a collection can tell apart; whoever is further behind has to look at everything again."""


class Collection(Generic[T]):
    """The objects of one kind.

    Every question raises NotKeptError once ``refuse`` was called.

    Attributes:
        version: grows with every change, so that what was derived from the objects can be kept until then.
    """

    __slots__ = ("_changes", "_indexes", "_objects", "_refusal", "version")

    def __init__(self) -> None:
        self.version = 0
        self._refusal = ""
        self._changes: deque[Key] = deque(maxlen=_REMEMBERED)
        self._objects: dict[Key, T] = {}
        self._indexes: dict[KeysOf[T], dict[Hashable, dict[Key, T]]] = {}

    def refuse(self, why: str) -> None:
        """Answer no question from now on; an empty ``why`` takes it back."""
        self._refusal = why

    def __len__(self) -> int:
        self._check()
        return len(self._objects)

    def get(self, name: str, namespace: str = "") -> T | None:
        """The object of that name, None when there is none."""
        self._check()
        return self._objects.get((namespace, name))

    def all(self) -> tuple[T, ...]:
        """Every object, in the order in which they came."""
        self._check()
        return tuple(self._objects.values())

    def in_namespace(self, namespace: str) -> tuple[T, ...]:
        """The objects of one namespace, in the order in which they came."""
        return self.by(_namespace_of, namespace)

    def by(self, keys_of: KeysOf[T], key: Hashable) -> tuple[T, ...]:
        """The objects for which ``keys_of`` gives the key. Pass the same function every time: it names the index."""
        self._check()
        index = self._indexes.get(keys_of)
        if index is None:
            index = self._indexes[keys_of] = {}
            for place, obj in self._objects.items():
                _enter(index, keys_of, place, obj)
        return tuple(index.get(key, {}).values())

    def changed_since(self, version: int) -> Sequence[Key] | None:
        """What was put or removed after ``version``, the newest first; None when that is too long ago to be told."""
        self._check()
        behind = self.version - version
        return tuple(islice(reversed(self._changes), behind)) if behind <= len(self._changes) else None

    def put(self, obj: T) -> None:
        """Add an object, or replace the one of that name."""
        place = _place(obj)
        known = self._objects.get(place)
        self._objects[place] = obj
        for keys_of, index in self._indexes.items():
            if known is not None:
                _leave(index, keys_of, place, known)
            _enter(index, keys_of, place, obj)
        self._note_change(place)

    def remove(self, obj: T) -> None:
        """Forget the object of that name, if it is known."""
        place = _place(obj)
        known = self._objects.pop(place, None)
        if known is None:
            return
        for keys_of, index in self._indexes.items():
            _leave(index, keys_of, place, known)
        self._note_change(place)

    def _note_change(self, place: Key) -> None:
        self._changes.append(place)
        self.version += 1

    def _check(self) -> None:
        if self._refusal:
            raise NotKeptError(self._refusal)


@dataclass(frozen=True, slots=True)
class Catalog:
    """The objects by kind."""

    namespaces: Collection[Namespace] = field(default_factory=Collection)
    persistent_volumes: Collection[PersistentVolume] = field(default_factory=Collection)
    persistent_volume_claims: Collection[PersistentVolumeClaim] = field(default_factory=Collection)
    storage_classes: Collection[StorageClass] = field(default_factory=Collection)
    csi_nodes: Collection[CSINode] = field(default_factory=Collection)
    csi_drivers: Collection[CSIDriver] = field(default_factory=Collection)
    csi_storage_capacities: Collection[CSIStorageCapacity] = field(default_factory=Collection)
    volume_attachments: Collection[VolumeAttachment] = field(default_factory=Collection)
    services: Collection[Service] = field(default_factory=Collection)
    replication_controllers: Collection[ReplicationController] = field(default_factory=Collection)
    replica_sets: Collection[ReplicaSet] = field(default_factory=Collection)
    stateful_sets: Collection[StatefulSet] = field(default_factory=Collection)
    pod_disruption_budgets: Collection[PodDisruptionBudget] = field(default_factory=Collection)

    def of(self, kind: type[T]) -> Collection[T]:
        """The collection of a kind.

        Raises:
            KeyError: this kind is not kept.
        """
        collection: Collection[Any] = getattr(self, COLLECTIONS[kind])
        return collection

    def keep_only(self, kinds: Iterable[type[Any]]) -> None:
        """The other kinds are not watched: refuse every question about them. The last call counts."""
        kept = set(kinds)
        for kind in COLLECTIONS:
            refusal = f"{kind.__name__} objects are not watched: no plugin of any profile names this kind in `reads`"
            self.of(kind).refuse("" if kind in kept else refusal)


COLLECTIONS: dict[type[Any], str] = {
    Namespace: "namespaces",
    PersistentVolume: "persistent_volumes",
    PersistentVolumeClaim: "persistent_volume_claims",
    StorageClass: "storage_classes",
    CSINode: "csi_nodes",
    CSIDriver: "csi_drivers",
    CSIStorageCapacity: "csi_storage_capacities",
    VolumeAttachment: "volume_attachments",
    Service: "services",
    ReplicationController: "replication_controllers",
    ReplicaSet: "replica_sets",
    StatefulSet: "stateful_sets",
    PodDisruptionBudget: "pod_disruption_budgets",
}
"""The kinds that are kept, and the attribute of ``Catalog`` that has them."""


def _place(obj: Object) -> Key:
    return obj.metadata.namespace, obj.metadata.name


def _namespace_of(obj: Object) -> Iterable[Hashable]:
    return (obj.metadata.namespace,)


def _enter(index: dict[Hashable, dict[Key, T]], keys_of: KeysOf[T], place: Key, obj: T) -> None:
    for key in keys_of(obj):
        index.setdefault(key, {})[place] = obj


def _leave(index: dict[Hashable, dict[Key, T]], keys_of: KeysOf[T], place: Key, obj: T) -> None:
    for key in keys_of(obj):
        found = index[key]
        del found[place]
        if not found:
            del index[key]
