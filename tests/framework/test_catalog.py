"""The catalog: objects by name, and by whatever else is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from scheduler.apis.objects import Namespace, ObjectMeta, PersistentVolume, PersistentVolumeSpec, Pod, Service
from scheduler.framework.catalog import COLLECTIONS, Catalog, Collection, NotKeptError


def service(name: str, namespace: str = "default") -> Service:
    return Service(metadata=ObjectMeta(name=name, namespace=namespace))


def volume(name: str, storage_class: str) -> PersistentVolume:
    return PersistentVolume(
        metadata=ObjectMeta(name=name), spec=PersistentVolumeSpec(storage_class_name=storage_class)
    )


def class_of(found: PersistentVolume) -> Iterable[str]:
    return (found.spec.storage_class_name,)


def names(found: Iterable[PersistentVolume | Service]) -> list[str]:
    return [each.metadata.name for each in found]


def test_objects_are_known_by_namespace_and_name() -> None:
    services: Collection[Service] = Collection()
    services.put(service("a", "x"))
    services.put(service("a", "y"))
    assert services.get("a", "x") == service("a", "x")
    assert services.get("a") is None
    assert len(services) == 2
    assert names(services.in_namespace("y")) == ["a"]
    assert services.in_namespace("z") == ()


@pytest.mark.parametrize("asked_before", [True, False], ids=["index first", "objects first"])
def test_an_index_follows_changes(asked_before: bool) -> None:
    volumes: Collection[PersistentVolume] = Collection()
    if asked_before:
        assert volumes.by(class_of, "fast") == ()
    for name, storage_class in (("a", "fast"), ("b", "slow"), ("c", "fast"), ("b", "fast"), ("a", "slow")):
        volumes.put(volume(name, storage_class))
    volumes.remove(volume("c", "whatever it was"))
    assert names(volumes.by(class_of, "fast")) == ["b"]
    assert names(volumes.by(class_of, "slow")) == ["a"]
    assert names(volumes.all()) == ["a", "b"]


def test_the_version_grows_with_every_change_and_only_then() -> None:
    services: Collection[Service] = Collection()
    seen = [services.version]
    services.put(service("a"))
    seen.append(services.version)
    services.put(service("a"))
    seen.append(services.version)
    services.remove(service("a"))
    seen.append(services.version)
    assert seen == sorted(set(seen))
    services.remove(service("a"))
    assert services.version == seen[-1]


def test_what_changed_since_a_version_is_told_newest_first() -> None:
    services: Collection[Service] = Collection()
    services.put(service("a", "x"))
    seen = services.version
    services.put(service("b", "x"))
    services.put(service("a", "x"))
    services.remove(service("b", "x"))
    services.remove(service("unknown", "x"))
    assert services.changed_since(seen) == (("x", "b"), ("x", "a"), ("x", "b"))
    assert services.changed_since(services.version) == ()


def test_changes_too_long_ago_are_not_told() -> None:
    services: Collection[Service] = Collection()
    for number in range(5000):
        services.put(service(f"s{number}"))
    assert services.changed_since(0) is None
    assert services.changed_since(4999) == (("default", "s4999"),)


def test_every_kind_has_its_collection() -> None:
    catalog = Catalog()
    collections = [catalog.of(kind) for kind in COLLECTIONS]
    assert len({id(collection) for collection in collections}) == len(Catalog.__slots__)
    assert catalog.of(Namespace) is catalog.namespaces
    with pytest.raises(KeyError):
        catalog.of(Pod)


@pytest.mark.parametrize(
    "ask",
    [
        lambda volumes: volumes.get("a"),
        lambda volumes: volumes.all(),
        lambda volumes: volumes.by(class_of, "fast"),
        lambda volumes: volumes.in_namespace("x"),
        len,
    ],
    ids=["by name", "all", "by key", "by namespace", "how many"],
)
def test_a_kind_that_is_not_kept_answers_no_question(
    ask: Callable[[Collection[PersistentVolume]], object],
) -> None:
    catalog = Catalog()
    catalog.keep_only([Service])
    with pytest.raises(NotKeptError, match="PersistentVolume objects are not watched: no plugin"):
        ask(catalog.persistent_volumes)
    assert catalog.services.all() == ()
