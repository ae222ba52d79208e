"""A world made by hand, the webhook over it, and the requests that a real kube-scheduler sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from prometheus_client import CollectorRegistry

from extender import Settings, create_blueprint
from scheduler.apis.config import (
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginRef,
    Plugins,
    PluginSet,
)
from scheduler.apis.config.completion import complete
from scheduler.apis.objects import Node, Pod
from scheduler.backend.cluster import ClusterState
from scheduler.backend.nominator import Nominator
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.evictions import Evictions
from scheduler.framework.interface import PluginFactory
from scheduler.framework.live import Live
from scheduler.framework.profile import build_plugins
from scheduler.framework.registry import Registry
from scheduler.framework.runtime import Framework
from scheduler.metrics import Metrics
from scheduler.plugins import IN_TREE
from scheduler.scheduling.world import State
from tests.builders import make_node

DATA = Path(__file__).parent / "data"
DEFAULT = "default-scheduler"
PLUGINS = (
    "PrioritySort",
    "NodeUnschedulable",
    "NodeName",
    "TaintToleration",
    "NodeAffinity",
    "NodePorts",
    "NodeResourcesFit",
    "NodeResourcesBalancedAllocation",
    "DefaultBinder",
)

Document = dict[str, Any]


class Binder:
    """Remembers what was bound, and whether the world was locked meanwhile; fails with ``failure`` when there is one."""

    def __init__(self) -> None:
        self.bound: list[tuple[str, str, str, str]] = []
        self.failure: Exception | None = None

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        if self.failure:
            raise self.failure
        self.bound.append((namespace, name, uid, node))


class Handle:
    """What plugins may use."""

    features = Features.default()
    port = Binder()
    catalog = Catalog()
    evictions = Evictions()
    rng = Random(0)
    live = Live()


class HandMadeWorld:
    """A cluster state behind a lock; counts how often it was taken."""

    def __init__(self, frameworks: Mapping[str, Framework]) -> None:
        self.cluster = ClusterState()
        self.nominator = Nominator()
        self.frameworks = frameworks
        self.turns = 0
        self.waiting: dict[tuple[str, str], Pod] = {}
        self._lock = threading.Lock()

    @contextmanager
    def current(self) -> Iterator[State]:
        with self._lock:
            self.turns += 1
            cluster = self.cluster
            yield State(
                cluster.nodes,
                self.nominator,
                self.frameworks,
                cluster.get_pod,
                cluster.assume_pod,
                cluster.forget_pod,
            )

    @property
    def locked(self) -> bool:
        return self._lock.locked()

    def add_nodes(self, *nodes: Node) -> None:
        for node in nodes:
            self.cluster.add_node(node)

    def find(self, namespace: str, name: str) -> Pod | None:
        """A pod that is told of by its watch, and on no node yet."""
        return self.waiting.get((namespace, name))

    def wait_for(self, *pods: Pod) -> None:
        """These pods are there, and on no node."""
        self.waiting |= {(pod.metadata.namespace, pod.metadata.name): pod for pod in pods}

    def add_pods(self, *pods: Pod) -> None:
        for pod in pods:
            self.cluster.add_pod(pod)


def framework(
    name: str = DEFAULT,
    plugins: Sequence[str] = PLUGINS,
    weights: Mapping[str, int] | None = None,
    extra: Mapping[str, PluginFactory] | None = None,
) -> Framework:
    """A profile with exactly these plugins, and those of ``extra`` after them."""
    names = [*plugins, *(extra or {})]
    enabled = tuple(PluginRef(each, (weights or {}).get(each, 0)) for each in names)
    chosen = Plugins({"multiPoint": PluginSet(enabled, disabled=(PluginRef("*"),))})
    profile = KubeSchedulerProfile(scheduler_name=name, plugins=chosen)
    completed = complete(KubeSchedulerConfiguration(profiles=(profile,)), Handle.features).profiles[0]
    registry = Registry({**IN_TREE, **(extra or {})})
    built = build_plugins(completed, registry, Handle())
    return Framework(name, built, Metrics(CollectorRegistry()))


def world(*nodes: Node, frameworks: Sequence[Framework] = ()) -> HandMadeWorld:
    """A world with these nodes; one default profile unless others are given."""
    made = HandMadeWorld({each.profile_name: each for each in frameworks or [framework()]})
    made.add_nodes(*nodes)
    return made


def three_nodes() -> tuple[Node, ...]:
    """node-a, node-b and node-c with 4 CPUs and 8 GiB each."""
    return tuple(make_node(f"node-{letter}").capacity(cpu="4", memory="8Gi").obj() for letter in "abc")


def app(made: HandMadeWorld, binder: Binder | None = None, **settings: Any) -> Flask:
    """An application with nothing but the webhook."""
    flask = Flask(__name__)
    metrics = settings.pop("metrics", None)
    flask.register_blueprint(
        create_blueprint(made, binder or Binder(), Settings(find_pod=made.find, **settings), metrics)
    )
    return flask


def client(made: HandMadeWorld, binder: Binder | None = None, **settings: Any) -> FlaskClient:
    """A client of the webhook alone."""
    return app(made, binder, **settings).test_client()


def recorded(name: str) -> bytes:
    """The body of a recorded request: ``004-ccf-basic-filter``, say."""
    return (DATA / f"{name}.request.json").read_bytes()


def ask(flask: FlaskClient, path: str, body: bytes | Document) -> Any:
    """Post a body that has to be answered with 200; the answer's document."""
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer = flask.post(path, data=raw, content_type="application/json")
    assert answer.status_code == 200, answer.text
    return answer.json


def by_name(pod: Document, *names: str) -> Document:
    """``ExtenderArgs`` of a ``nodeCacheCapable`` extender."""
    return {"Pod": pod, "Nodes": None, "NodeNames": list(names)}


def in_full(pod: Document, *nodes: Document) -> Document:
    """``ExtenderArgs`` with whole nodes."""
    return {"Pod": pod, "Nodes": {"metadata": {}, "items": list(nodes)}, "NodeNames": None}
