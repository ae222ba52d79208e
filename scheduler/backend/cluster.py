"""ClusterState: the nodes, the pods on them, and the pods that the scheduler has just put there.

A pod is *assumed* from the decision until the API server confirms it, so that the next decision counts it although binding is
still under way. What a pod is to this class (upstream: ``backend/cache``)::

                       add
        ┌───────────────────────────────────────┐  ┌────┐
        │                                       ▼  ▼    │ add or update again
     unknown ── assume ──► assumed ── add ──► added ────┘
      ▲  ▲                  │  │                │
      │  └────── forget ────┘  │                │
      └─ delete, or Succeeded/Failed ───────────┘

* An assumed pod never expires: binding ends in a confirmation, or in ``forget_pod`` (upstream: a TTL of 0).
* The API server has the last word: a pod confirmed on another node than assumed is moved there.
* Pods and nodes come by different watches, in any order. A pod of an unknown node is kept aside and takes its place when the
  node comes; when a node goes, its pods are kept aside until they go too.
* A missed event is made good by the next one: an update of an unknown pod adds it, adding a known pod updates it.

A plain data structure of one owner: no lock, no threads.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import msgspec

from scheduler.apis.objects import Node, Pod
from scheduler.backend.changes import same_demand
from scheduler.backend.consistency import differences
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import PodInfo

logger = logging.getLogger(__name__)

_CHURN_BEFORE_COMPACTION = 1024


class ClusterState:
    """What the scheduler believes of the cluster.

    Attributes:
        nodes: the table of nodes, assumed pods included. Read it; change it only through this class.
        moves: grows whenever a pod comes to a node, leaves it or changes there.
    """

    def __init__(self) -> None:
        self.nodes = NodeTable()
        self.moves = 0
        self._pods: dict[str, PodInfo] = {}
        self._assumed: set[str] = set()
        self._homeless: dict[str, dict[str, PodInfo]] = {}
        self._churn = 0

    # Nodes

    def add_node(self, node: Node) -> None:
        """Add a node, or replace the one of that name. Pods that waited for it take their place.

        Raises:
            scheduler.apis.quantity.QuantityError: an allocatable quantity cannot be read; nothing was changed.
        """
        row = self.nodes.set_node(node)
        for info in self._homeless.pop(node.metadata.name, {}).values():
            self.nodes.add_pod(row, info)
        self._changed()

    def update_node(self, old: Node, new: Node) -> None:
        """Replace a node, known or not. Raises as ``add_node``."""
        if old.metadata.name != new.metadata.name:
            self.delete_node(old)
        self.add_node(new)

    def delete_node(self, node: Node) -> bool:
        """Remove a node; its pods are kept aside until they are deleted. False: it was unknown."""
        name = node.metadata.name
        if self.nodes.row_of(name) is None:
            return False
        pods = self.nodes.remove_node(name)
        if pods:
            self._homeless[name] = {info.uid: info for info in pods}
        self._changed()
        return True

    # Pods that the API server tells of

    def add_pod(self, pod: Pod) -> None:
        """A pod is on a node: confirm it if it was assumed, add it if it was unknown. One that has ended holds nothing.

        Raises:
            scheduler.apis.quantity.QuantityError: a request cannot be read; nothing was changed.
            ValueError: the pod has no node.
        """
        if not pod.spec.node_name:
            raise ValueError(f"pod {pod.full_name} is not assigned to a node")
        if pod.terminal:
            self.delete_pod(pod)
            return
        self._place(pod)

    def update_pod(self, old: Pod, new: Pod) -> None:
        """A pod on a node has changed. Raises as ``add_pod``."""
        self.add_pod(new)
        if old.metadata.uid != new.metadata.uid:
            self.delete_pod(old)

    def delete_pod(self, pod: Pod) -> bool:
        """The pod is gone; its uid tells which, for its node may be out of date. False: it was unknown."""
        return self._drop(pod.metadata.uid)

    # Pods that the scheduler places

    def assume_pod(self, pod: Pod | PodInfo, node_name: str) -> Pod:
        """Count a pod as running on a node, before the API server knows.

        Returns:
            The assumed pod: as it was, with ``spec.node_name`` set.

        Raises:
            ValueError: the pod is on a node already.
        """
        info = pod if isinstance(pod, PodInfo) else PodInfo(pod)
        if info.uid in self._pods:
            raise ValueError(f"pod {info.pod.full_name} is on a node already, so it cannot be assumed")
        spec = msgspec.structs.replace(info.pod.spec, node_name=node_name)
        assumed = info.with_pod(msgspec.structs.replace(info.pod, spec=spec))
        self._enter(assumed)
        self._assumed.add(info.uid)
        return assumed.pod

    def forget_pod(self, uid: str) -> bool:
        """Take back an assumption. False: the pod is unknown, or confirmed by now, and stays where it is."""
        return uid in self._assumed and self._drop(uid)

    def is_assumed(self, uid: str) -> bool:
        """Whether the pod is assumed and not yet confirmed."""
        return uid in self._assumed

    # What is there

    def get_pod(self, uid: str) -> Pod | None:
        """The pod on a node, assumed ones included, also when its node is unknown."""
        info = self._pods.get(uid)
        return None if info is None else info.pod

    def pods(self) -> Iterator[PodInfo]:
        """Every pod on a node, assumed ones included."""
        return iter(self._pods.values())

    def counts(self) -> dict[str, int]:
        """``nodes`` (unknown ones with pods included), ``pods``, ``assumed_pods``: the sizes that metrics show. May be read from any thread."""
        return {
            "nodes": len(self.nodes) + len(self._homeless),
            "pods": len(self._pods),
            "assumed_pods": len(self._assumed),
        }

    def verify(self) -> list[str]:
        """Recompute everything from the pods and name each difference; empty when all is well. For tests and debugging."""
        unknown = [f"assumed pod {uid} is unknown" for uid in self._assumed - self._pods.keys()]
        return unknown + differences(self.nodes, self._pods, self._homeless)

    # Places

    def _place(self, pod: Pod) -> None:
        known = self._pods.get(pod.metadata.uid)
        node = pod.spec.node_name
        if known is not None and known.pod.spec.node_name == node and same_demand(known.pod, pod):
            self._renew(known.with_pod(pod))
        else:
            info = PodInfo(pod)
            if known is not None:
                self._leave(known)
                if known.pod.spec.node_name != node:
                    logger.warning(
                        "pod %s is on node %s, not on %s", pod.full_name, node, known.pod.spec.node_name
                    )
            self._enter(info)
            self._changed()
        self._assumed.discard(pod.metadata.uid)

    def _drop(self, uid: str) -> bool:
        known = self._pods.get(uid)
        if known is None:
            return False
        self._leave(known)
        self._assumed.discard(uid)
        return True

    def _enter(self, info: PodInfo) -> None:
        self.moves += 1
        node = info.pod.spec.node_name
        row = self.nodes.row_of(node)
        if row is None:
            self._homeless.setdefault(node, {})[info.uid] = info
        else:
            self.nodes.add_pod(row, info)
        self._pods[info.uid] = info

    def _renew(self, info: PodInfo) -> None:
        self.moves += 1
        node = info.pod.spec.node_name
        row = self.nodes.row_of(node)
        if row is None:
            self._homeless[node][info.uid] = info
        else:
            self.nodes.replace_pod(row, info)
        self._pods[info.uid] = info

    def _leave(self, info: PodInfo) -> None:
        self.moves += 1
        node = info.pod.spec.node_name
        row = self.nodes.row_of(node)
        if row is not None:
            self.nodes.remove_pod(row, info)
        else:
            pods = self._homeless[node]
            del pods[info.uid]
            if not pods:
                del self._homeless[node]
        del self._pods[info.uid]

    def _changed(self) -> None:
        # Only events get here, between two decisions: ids that a decision has read must stay what they are.
        self._churn += 1
        if self._churn >= _CHURN_BEFORE_COMPACTION:
            self._churn = 0
            self.nodes.compact()
