"""A sandbox API server per test, clients of it, and a journal that informers write and tests wait on."""

import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scheduler.apis.objects.decode import decode
from scheduler.apis.objects.node import Node
from scheduler.client.access import Access, load_access
from scheduler.client.backoff import Backoff
from scheduler.client.informers import Informer
from scheduler.client.resources import NODES, PODS
from scheduler.client.rest import Rest
from scheduler.client.store import key_of
from scheduler.sandbox import Sandbox

DEADLINE = 20.0
"""Seconds after which a test gives up waiting; never waited for in a passing test."""


class Journal:
    """A handler that writes down what it is told, and lets a test wait for it."""

    def __init__(self) -> None:
        self.entries: list[str] = []
        self._changed = threading.Condition()

    def on_add(self, obj: Node, initial: bool) -> None:
        self._write(f"add {key_of(obj)}{' initially' if initial else ''}")

    def on_update(self, old: Node, new: Node) -> None:
        self._write(f"update {key_of(new)}")

    def on_delete(self, obj: Node) -> None:
        self._write(f"delete {key_of(obj)}")

    def _write(self, entry: str) -> None:
        with self._changed:
            self.entries.append(entry)
            self._changed.notify_all()

    def wait_for(self, *entries: str) -> None:
        """Wait until all of ``entries`` were written."""
        with self._changed:
            told = self._changed.wait_for(lambda: set(entries) <= set(self.entries), DEADLINE)
        assert told, f"waited for {entries}, got {self.entries}"

    def wait_for_count(self, count: int) -> None:
        """Wait until at least ``count`` entries were written."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.entries) >= count, DEADLINE), len(self.entries)


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(port=0) as server:
        yield server


@pytest.fixture
def access(sandbox: Sandbox, tmp_path: Path) -> Iterator[Access]:
    path = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(path)
    access = load_access(str(path))
    yield access
    access.close()


@pytest.fixture
def rest(access: Access) -> Iterator[Rest]:
    client = Rest(access, user_agent="tests", qps=-1)
    yield client
    client.close()


class Cluster:
    """Changes the sandbox's objects the way any client would."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest

    def add_node(self, name: str, **labels: str) -> None:
        metadata = {"name": name, "labels": labels}
        self.create(NODES.collection(), {"apiVersion": "v1", "kind": "Node", "metadata": metadata})

    def label_node(self, name: str, **labels: str) -> None:
        patch = {"metadata": {"labels": labels}}
        content = "application/strategic-merge-patch+json"
        self._rest.request("PATCH", NODES.object("", name), body=patch, content_type=content)

    def delete_node(self, name: str) -> None:
        self._rest.request("DELETE", NODES.object("", name))

    def add_pod(self, name: str, namespace: str = "default") -> str:
        """The uid of the new pod."""
        pod = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"containers": [{"name": "c", "image": "i"}]},
        }
        uid: str = self.create(PODS.collection(namespace), pod)["metadata"]["uid"]
        return uid

    def pod(self, name: str, namespace: str = "default") -> dict[str, Any]:
        body = self._rest.request("GET", PODS.object(namespace, name)).body
        return msgspec.json.decode(body, type=dict[str, Any])

    def create(self, path: str, obj: dict[str, Any]) -> dict[str, Any]:
        return msgspec.json.decode(self._rest.request("POST", path, body=obj).body, type=dict[str, Any])


@pytest.fixture
def cluster(rest: Rest) -> Cluster:
    return Cluster(rest)


@pytest.fixture
def journal() -> Journal:
    return Journal()


MakeInformer = Callable[..., Informer[Node]]


@pytest.fixture
def nodes(access: Access, journal: Journal) -> Iterator[MakeInformer]:
    """Makes an informer of nodes that writes the journal; back-offs are short. Not started."""
    made: list[Informer[Node]] = []
    client = Rest(access, user_agent="informer", qps=-1)

    def make(**options: Any) -> Informer[Node]:
        options.setdefault("decode", lambda raw: decode(Node, raw))
        options.setdefault("backoff", Backoff(0.01, 0.05))
        informer = Informer(client, NODES, rng=random.Random(1), **options)
        informer.add_handler(journal)
        made.append(informer)
        return informer

    yield make
    for informer in made:
        informer.stop()
    client.close()
