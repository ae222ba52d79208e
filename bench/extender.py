"""What a kube-scheduler waits for the webhook, over a real connection: 5,000 nodes by name, and in full as 40 MB of JSON.

The nodes carry 50 images each, as kubelets report them; the pod asks for cpu and memory. Medians in milliseconds, reading
and answering included.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

import msgspec
from flask import Flask
from prometheus_client import CollectorRegistry

from bench.wiring import Nowhere, default_frameworks
from extender import create_blueprint
from extender.schemas import load_call
from scheduler.apis.objects import Node, convert
from scheduler.backend.cluster import ClusterState
from scheduler.backend.nominator import Nominator
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.scheduling.world import State
from scheduler.serving.http import Server

Result = tuple[str, float, str]
Document = dict[str, Any]

NODES = 5_000
CHANGED = 50
ROUNDS = 30
HEADERS = {"Content-Type": "application/json"}


@dataclass
class Cluster:
    """A world that stands still."""

    frameworks: dict[str, Framework]
    state: ClusterState = field(default_factory=ClusterState)
    nominator: Nominator = field(default_factory=Nominator)
    lock: Lock = field(default_factory=Lock)

    @contextmanager
    def current(self) -> Iterator[State]:
        """The state."""
        with self.lock:
            yield State(self.state.nodes, self.nominator, self.frameworks, self.state.get_pod)


def run() -> list[Result]:
    """(what, median, unit)."""
    nodes = [_node(number) for number in range(NODES)]
    cluster = Cluster(_frameworks())
    for node in nodes:
        cluster.state.add_node(convert(Node, node))
    names = [node["metadata"]["name"] for node in nodes]
    by_name = _body(_pod("100m"), names=names)
    too_big = _body(_pod("100"), names=names)
    in_full = _body(_pod("100m"), nodes=nodes)
    for node in nodes[:: NODES // CHANGED]:
        node["metadata"]["resourceVersion"] = "2"
        node["metadata"]["labels"]["changed"] = "true"
    changed = _body(_pod("100m"), nodes=nodes)
    with _connection(cluster) as connection:
        return [
            (f"filter, {NODES} names, all fit", _median(connection, "/filter", by_name), "ms"),
            (f"filter, {NODES} names, none fits", _median(connection, "/filter", too_big), "ms"),
            (f"prioritize, {NODES} names", _median(connection, "/prioritize", by_name), "ms"),
            (f"{NODES} nodes in full: body", len(in_full) / 1e6, "MB"),
            (f"{NODES} nodes in full: decoding", _decoding(in_full), "ms"),
            (f"filter, {NODES} nodes in full", _median(connection, "/filter", in_full), "ms"),
            (f"filter, {NODES} nodes in full, {CHANGED} new", _median(connection, "/filter", changed), "ms"),
        ]


@contextmanager
def _connection(cluster: Cluster) -> Iterator[HTTPConnection]:
    app = Flask(__name__)
    app.register_blueprint(create_blueprint(cluster, Nowhere()))
    server = Server(app)
    server.start()
    connection = HTTPConnection(urlsplit(server.url).netloc)
    yield connection
    connection.close()
    server.stop()


def _median(connection: HTTPConnection, path: str, body: bytes) -> float:
    return statistics.median(_times(lambda: _post(connection, path, body)))


def _decoding(body: bytes) -> float:
    return statistics.median(_times(lambda: load_call(body)))


def _times(action: Any) -> Iterator[float]:
    for _ in range(ROUNDS):
        started = time.perf_counter()
        action()
        yield (time.perf_counter() - started) * 1e3


def _post(connection: HTTPConnection, path: str, body: bytes) -> None:
    connection.request("POST", path, body, HEADERS)
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != HTTPStatus.OK:
        raise RuntimeError(f"{path} answered {answer.status}: {text!r}")


def _frameworks() -> dict[str, Framework]:
    return default_frameworks(Metrics(CollectorRegistry()), WaitingPods(time.monotonic))


def _body(pod: Document, names: list[str] | None = None, nodes: list[Document] | None = None) -> bytes:
    listed = None if nodes is None else {"metadata": {}, "items": nodes}
    return msgspec.json.encode({"Pod": pod, "Nodes": listed, "NodeNames": names})


def _pod(cpu: str) -> Document:
    resources = {"requests": {"cpu": cpu, "memory": "500Mi"}}
    return {
        "metadata": {"name": "p", "namespace": "default", "uid": "u"},
        "spec": {
            "schedulerName": "default-scheduler",
            "containers": [{"name": "c", "image": "registry.example/app-7:v1", "resources": resources}],
        },
    }


def _node(number: int) -> Document:
    name = f"node-{number:05}"
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z{number % 3}"}
    resources = {"cpu": "32", "memory": "131838992Ki", "ephemeral-storage": "203056560Ki", "pods": "110"}
    images = [
        {"names": [f"registry.example/app-{i}@sha256:{i:064x}", f"registry.example/app-{i}:v1"], "sizeBytes": i << 22}
        for i in range(number % 5, 50 + number % 5)
    ]  # fmt: skip
    return {
        "metadata": {"name": name, "uid": f"u{number}", "resourceVersion": "1", "labels": labels},
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"lab:///{name}"},
        "status": {"capacity": resources, "allocatable": resources, "images": images, "nodeInfo": _NODE_INFO},
    }


_NODE_INFO = {
    f"fact{number}": f"some value of a fact about the machine, {number:032}" for number in range(12)
}
