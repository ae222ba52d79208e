"""What a kube-scheduler sends: bodies about one cluster of 5,000 nodes with two pods each, and about a small one.

A node has 32 cpu and 42 images, as kubelets report them, which makes 8 KB of JSON; each of its pods asks for ten cpu.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

Document = dict[str, Any]

NODES: Final = 5_000
FEW_NODES: Final = 100
CANDIDATES: Final = NODES // 10
"""kube-scheduler tries a tenth of the nodes for preemption, unless told otherwise."""
_PODS_PER_NODE: Final = 2
_IMAGES: Final = 42
_IMPORTANT: Final = 1_000
_NODE_INFO: Final = {f"fact{number}": f"a fact about the machine, {number:032}" for number in range(10)}


def names(count: int) -> list[str]:
    """The names of nodes."""
    return [f"node-{number:05}" for number in range(count)]


def nodes(count: int) -> list[Document]:
    """Nodes in full."""
    return [_node(number, name) for number, name in enumerate(names(count))]


def running(count: int) -> list[Document]:
    """The pods on these nodes."""
    return [
        _pod(_uid(name, place), "10", nodeName=name) | {"status": {"phase": "Running"}}
        for name in names(count)
        for place in range(_PODS_PER_NODE)
    ]


def by_name(cpu: str, count: int = NODES) -> bytes:
    """A body of filter and prioritize: a pod that asks for so much cpu, nodes by name."""
    return _args(cpu, NodeNames=names(count))


def in_full(asked: Sequence[Document]) -> bytes:
    """A body of filter and prioritize: a pod that fits, these nodes."""
    return _args("100m", Nodes={"metadata": {}, "items": asked})


def preemption(candidates: int = CANDIDATES) -> bytes:
    """A body of preempt: a pod that fits where one of the node's pods goes, who is proposed by uid."""
    pod = _pod("important", "20", priority=_IMPORTANT)
    victims = {name: {"Pods": [{"UID": _uid(name, 0)}], "NumPDBViolations": 0} for name in names(candidates)}
    return msgspec.json.encode({"Pod": pod, "NodeNameToVictims": None, "NodeNameToMetaVictims": victims})


def _args(cpu: str, **candidates: Any) -> bytes:
    return msgspec.json.encode({"Pod": _pod("p", cpu), "Nodes": None, "NodeNames": None, **candidates})


def _uid(node: str, place: int) -> str:
    return f"{node}-{place}"


def _pod(name: str, cpu: str, **spec: Any) -> Document:
    container = {
        "name": "c",
        "image": "registry.example/app-7:v1",
        "resources": {"requests": {"cpu": cpu, "memory": "500Mi"}},
    }
    return {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"schedulerName": "default-scheduler", "containers": [container], **spec},
    }


def _node(number: int, name: str) -> Document:
    labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": f"z{number % 3}"}
    resources = {"cpu": "32", "memory": "131838992Ki", "ephemeral-storage": "203056560Ki", "pods": "110"}
    first = number % 5
    return {
        "metadata": {"name": name, "uid": f"u{number}", "resourceVersion": "1", "labels": labels},
        "spec": {"podCIDR": "10.0.0.0/24", "providerID": f"lab:///{name}"},
        "status": {
            "capacity": resources,
            "allocatable": resources,
            "images": [_image(image) for image in range(first, first + _IMAGES)],
            "nodeInfo": _NODE_INFO,
        },
    }


def _image(number: int) -> Document:
    repository = f"registry.example/team/app-{number}"
    return {
        "names": [f"{repository}@sha256:{number:064x}", f"{repository}:v1"],
        "sizeBytes": number << 22,
    }
