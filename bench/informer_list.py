"""How long the first list takes: bytes of a LIST answer to typed objects in an informer's store.

Nodes of about 8 KB (labels, 50 images, conditions, capacity, managedFields-like ballast), pods of about 2.5 KB, in pages of
500 as the informer asks for them. No network: this is the part that a scheduler pays in CPU.
"""

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import msgspec

from scheduler.apis.objects import Node, Pod, decode
from scheduler.client.store import Object, Store, key_of
from scheduler.client.wire import parse_page

PAGE = 500


def node(index: int) -> dict[str, Any]:
    """A node as a kubelet reports it."""
    name = f"node-{index:05}"
    resources = {"cpu": "32", "memory": "131838992Ki", "ephemeral-storage": "203056560Ki", "pods": "110"}
    conditions = [
        {"type": kind, "status": "False", "reason": f"KubeletHas{kind}", "message": f"kubelet has no {kind}",
         "lastHeartbeatTime": "2026-01-01T00:00:00Z", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure", "Ready")
    ]  # fmt: skip
    images = [
        {
            "names": [f"registry.example/app-{i}@sha256:{i:064x}", f"registry.example/app-{i}:v1"],
            "sizeBytes": 1 << 26,
        }
        for i in range(40)
    ]
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"zone-{index % 3}"}
    return {
        "metadata": {
            "name": name,
            "uid": f"uid-{index}",
            "resourceVersion": str(index + 1),
            "labels": labels,
        },
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"cloud://{name}"},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "conditions": conditions,
            "images": images,
        },
    }


def pod(index: int) -> dict[str, Any]:
    """A running pod with two containers."""
    containers = [
        {"name": f"c{i}", "image": f"registry.example/app-{i}:v1", "imagePullPolicy": "IfNotPresent",
         "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "256Mi"}},
         "env": [{"name": f"VARIABLE_{n}", "value": f"value-{n}"} for n in range(15)],
         "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": True}]}
        for i in range(2)
    ]  # fmt: skip
    metadata = {
        "name": f"app-{index:06}", "namespace": f"team-{index % 50}", "uid": f"uid-{index}",
        "resourceVersion": str(index + 1), "labels": {"app": f"app-{index % 200}", "tier": "backend"},
    }  # fmt: skip
    return {
        "metadata": metadata,
        "spec": {
            "nodeName": f"node-{index % 5000:05}",
            "schedulerName": "default-scheduler",
            "containers": containers,
        },
        "status": {"phase": "Running", "podIP": "10.0.0.1"},
    }


def pages(make: Callable[[int], dict[str, Any]], count: int) -> list[bytes]:
    """The bodies of a paged list of ``count`` objects."""
    return [
        msgspec.json.encode(
            {"metadata": {"resourceVersion": "1"}, "items": [make(i) for i in range(first, first + PAGE)]}
        )
        for first in range(0, count, PAGE)
    ]


def load(bodies: list[bytes], decoder: Callable[[msgspec.Raw], Object]) -> int:
    """What an informer does with the pages of its first list; the number of objects."""
    store: Store[Object] = Store(lambda _tell: None)
    listed = {}
    for body in bodies:
        for raw in parse_page(body).items:
            obj = decoder(raw)
            listed[key_of(obj)] = obj
    store.replace(listed, initial=True)
    return len(store)


KINDS: tuple[tuple[str, Callable[[int], dict[str, Any]], Callable[[msgspec.Raw], Object], int], ...] = (
    ("5,000 nodes", node, lambda raw: decode(Node, raw), 5_000),
    ("50,000 pods", pod, lambda raw: decode(Pod, raw), 50_000),
)


def seconds(action: Callable[[], object], rounds: int = 3) -> float:
    """Median duration."""

    def durations() -> Iterator[float]:
        for _ in range(rounds):
            started = time.perf_counter()
            action()
            yield time.perf_counter() - started

    return statistics.median(durations())


def run() -> list[tuple[str, float, str]]:
    """(what, value, unit) for nodes and pods."""
    results: list[tuple[str, float, str]] = []
    for name, make, decoder, count in KINDS:
        bodies = pages(make, count)
        duration = seconds(partial(load, bodies, decoder))
        results.append((f"{name}: list body", sum(map(len, bodies)) / 1e6, "MB"))
        results.append((f"{name}: decode and store", duration * 1e3, "ms"))
    return results
