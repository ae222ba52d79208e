"""Originals: objects that keep the JSON they came from, for who has to hand them on whole.

The structs of this package hold what scheduling reads. An extender gets pods and nodes as the API server has them, with every field,
so where extenders are configured informers decode into these classes. Everywhere else they are pods and nodes like any other.

As kube-scheduler does when it decodes, ``kind`` and ``apiVersion`` are left out, and so is ``metadata.managedFields``, which nobody decides by
and which can be half of an object.
"""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.apis.objects.decode import decode
from scheduler.apis.objects.node import Node
from scheduler.apis.objects.pod import Pod

_DROPPED = ("kind", "apiVersion")


class OriginalPod(Pod, frozen=True):
    """A pod; ``original``: JSON, empty when it was not kept."""

    original: bytes = b""


class OriginalNode(Node, frozen=True):
    """A node; ``original``: JSON, empty when it was not kept."""

    original: bytes = b""


def decode_original_node(raw: bytes | msgspec.Raw) -> OriginalNode:
    """A node that keeps its JSON. Raises DecodeError."""
    node = decode(OriginalNode, raw)
    msgspec.structs.force_setattr(node, "original", _trimmed(raw))
    return node


def decode_original_pod(raw: bytes | msgspec.Raw, *, placed: bool) -> OriginalPod:
    """A pod that keeps its JSON; ``placed``: also when it has a node. Raises DecodeError."""
    pod = decode(OriginalPod, raw)
    kept = placed or not pod.spec.node_name
    msgspec.structs.force_setattr(pod, "original", _trimmed(raw) if kept else b"")
    return pod


def original_of(obj: Pod | Node) -> bytes:
    """The object's JSON: the original, or as much as is known of it.

    A pod that is assumed to run on a node has it in its JSON, too.
    """
    original: bytes = getattr(obj, "original", b"")
    if not original:
        return msgspec.json.encode(obj)
    if isinstance(obj, Pod) and obj.spec.node_name:
        return _with_node(original, obj.spec.node_name)
    return original


def _trimmed(raw: bytes | msgspec.Raw) -> bytes:
    document = _members(raw)
    for key in _DROPPED:
        document.pop(key, None)
    if "metadata" in document:
        metadata = _members(document["metadata"])
        metadata.pop("managedFields", None)
        document["metadata"] = metadata
    return msgspec.json.encode(document)


def _with_node(original: bytes, node: str) -> bytes:
    document = _members(original)
    spec = _members(document["spec"]) if "spec" in document else {}
    if "nodeName" in spec:
        return original
    return msgspec.json.encode({**document, "spec": {**spec, "nodeName": node}})


def _members(raw: Any) -> dict[str, Any]:
    return msgspec.json.decode(raw, type=dict[str, msgspec.Raw] | None) or {}
