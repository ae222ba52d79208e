"""Objects for tests in one line each: ``make_pod("p").req(cpu="1").obj()``, ``make_node("n").capacity(cpu="4").obj()``.

A builder fills in a manifest, field by field, and hands it over as the manifest (``doc``), the object (``obj``) or, for a
pod, its ``PodInfo`` (``info``). It knows no scheduling. Every pod gets a uid, so that pods can be told apart.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Self

from scheduler.apis.objects import Node, Pod, convert
from scheduler.framework.pods import PodInfo

Document = dict[str, Any]


def make_pod(name: str = "pod", namespace: str = "default") -> PodBuilder:
    """A pod without containers."""
    return PodBuilder(name, namespace)


def make_node(name: str = "node") -> NodeBuilder:
    """A node with room for 110 pods and nothing else."""
    return NodeBuilder(name)


class _Builder:
    def __init__(self, kind: str, metadata: Document) -> None:
        self._doc: Document = {
            "apiVersion": "v1",
            "kind": kind,
            "metadata": metadata,
            "spec": {},
            "status": {},
        }
        self._spec: Document = self._doc["spec"]
        self._status: Document = self._doc["status"]

    def doc(self) -> Document:
        """The manifest."""
        return copy.deepcopy(self._doc)

    def metadata(self, **fields: Any) -> Self:
        """Fields of ``metadata``, as the API spells them."""
        self._doc["metadata"].update(fields)
        return self

    def label(self, key: str, value: str) -> Self:
        """One label."""
        self._doc["metadata"].setdefault("labels", {})[key] = value
        return self

    def labels(self, labels: Mapping[str, str]) -> Self:
        """Some labels."""
        self._doc["metadata"].setdefault("labels", {}).update(labels)
        return self

    def spec(self, **fields: Any) -> Self:
        """Fields of ``spec``, as the API spells them."""
        self._spec.update(fields)
        return self

    def status(self, **fields: Any) -> Self:
        """Fields of ``status``, as the API spells them."""
        self._status.update(fields)
        return self


class PodBuilder(_Builder):
    """Builds a pod."""

    def __init__(self, name: str, namespace: str) -> None:
        super().__init__("Pod", {"name": name, "namespace": namespace, "uid": f"Pod/{namespace}/{name}"})

    def obj(self) -> Pod:
        """The object."""
        return convert(Pod, self._doc)

    def info(self) -> PodInfo:
        """The pod with its derived facts."""
        return PodInfo(self.obj())

    def container(self, requests: Mapping[str, Any] | None = None, **fields: Any) -> Self:
        """A container with these requests, and other fields as the API spells them."""
        return self._add_container("containers", requests, fields)

    def req(self, requests: Mapping[str, Any] | None = None, **amounts: Any) -> Self:
        """A container with these requests; names that are no Python names go into the mapping."""
        return self.container({**(requests or {}), **amounts})

    def init_req(self, requests: Mapping[str, Any] | None = None, **amounts: Any) -> Self:
        """An init container with these requests."""
        return self._add_container("initContainers", {**(requests or {}), **amounts}, {})

    def sidecar_req(self, requests: Mapping[str, Any] | None = None, **amounts: Any) -> Self:
        """An init container that keeps running, with these requests."""
        return self._add_container(
            "initContainers", {**(requests or {}), **amounts}, {"restartPolicy": "Always"}
        )

    def image(self, *names: str) -> Self:
        """One container per image."""
        for name in names:
            self.container(image=name)
        return self

    def host_port(self, port: int, protocol: str = "TCP", ip: str = "") -> Self:
        """A container that takes a port of the node."""
        return self.container(ports=[{"hostPort": port, "protocol": protocol, "hostIP": ip}])

    def node(self, name: str) -> Self:
        """Bound to this node."""
        return self.spec(nodeName=name)

    def nominated(self, name: str) -> Self:
        """Nominated to this node."""
        return self.status(nominatedNodeName=name)

    def priority(self, priority: int) -> Self:
        """The priority."""
        return self.spec(priority=priority)

    def gates(self, *names: str) -> Self:
        """Scheduling gates."""
        return self.spec(schedulingGates=[{"name": name} for name in names])

    def toleration(self, key: str = "", value: str = "", effect: str = "", operator: str = "Equal") -> Self:
        """One toleration."""
        toleration = {"key": key, "value": value, "effect": effect, "operator": operator}
        self._spec.setdefault("tolerations", []).append(toleration)
        return self

    def node_selector(self, labels: Mapping[str, str]) -> Self:
        """Labels that the node must have."""
        return self.spec(nodeSelector=dict(labels))

    def node_affinity(self, *terms: Document) -> Self:
        """Required node selector terms, of which one must match; as the API spells them."""
        self._node_affinity()["requiredDuringSchedulingIgnoredDuringExecution"] = {
            "nodeSelectorTerms": list(terms)
        }
        return self

    def node_preference(self, weight: int, term: Document) -> Self:
        """One preferred node selector term."""
        self._node_affinity().setdefault("preferredDuringSchedulingIgnoredDuringExecution", []).append(
            {"weight": weight, "preference": term}
        )
        return self

    def _node_affinity(self) -> Document:
        affinity: Document = self._spec.setdefault("affinity", {}).setdefault("nodeAffinity", {})
        return affinity

    def _add_container(self, field: str, requests: Mapping[str, Any] | None, fields: Document) -> Self:
        containers = self._spec.setdefault(field, [])
        container = {"name": f"{field[0]}{len(containers)}", **fields}
        if requests:
            container["resources"] = {"requests": dict(requests)}
        containers.append(container)
        return self


class NodeBuilder(_Builder):
    """Builds a node."""

    def __init__(self, name: str) -> None:
        super().__init__("Node", {"name": name, "uid": f"Node//{name}"})
        self.capacity(pods=110)

    def obj(self) -> Node:
        """The object."""
        return convert(Node, self._doc)

    def capacity(self, resources: Mapping[str, Any] | None = None, **amounts: Any) -> Self:
        """What the node has and may give; names that are no Python names go into the mapping."""
        for field in ("capacity", "allocatable"):
            self._status.setdefault(field, {}).update({**(resources or {}), **amounts})
        return self

    def taint(self, key: str, value: str = "", effect: str = "NoSchedule") -> Self:
        """One taint."""
        self._spec.setdefault("taints", []).append({"key": key, "value": value, "effect": effect})
        return self

    def unschedulable(self) -> Self:
        """Cordoned."""
        return self.spec(unschedulable=True)

    def image(self, *names: str, size: int = 0) -> Self:
        """An image that lies on the node, under these names."""
        self._status.setdefault("images", []).append({"names": list(names), "sizeBytes": size})
        return self
