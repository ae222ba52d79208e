"""Nominator: pods for which room was made on a node, and which have yet to move in.

A nominated pod counts as if it already ran there when pods of the same or lower priority are judged. The nomination is
known here before the API server has heard of it, so that the next attempt sees it (upstream: ``backend/queue/nominator.go``).
"""

from __future__ import annotations

from collections.abc import Collection

from scheduler.apis.objects import Pod
from scheduler.framework.pods import PodInfo


class Nominator:
    """Nominated pods by node; a pod, known by its uid, has at most one nomination."""

    def __init__(self) -> None:
        self._by_node: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._node_of)

    def add(self, pod_info: PodInfo, node: str | None = None) -> None:
        """Nominate a pod, instead of any nomination that it had.

        Args:
            pod_info: the pod; the caller has seen that it still exists and has no node.
            node: where; None for the node that the pod's own status names, ``""`` for none.
        """
        self.delete(pod_info.uid)
        target = pod_info.pod.status.nominated_node_name if node is None else node
        if target:
            self._node_of[pod_info.uid] = target
            self._by_node.setdefault(target, {})[pod_info.uid] = pod_info

    def update(self, old: Pod, new: PodInfo) -> None:
        """The pod changed. Its status decides, unless it knows of no nomination yet: then the one made here stands."""
        kept = None
        if not old.status.nominated_node_name and not new.pod.status.nominated_node_name:
            kept = self._node_of.get(old.metadata.uid)
        self.delete(old.metadata.uid)
        self.add(new, kept)

    def delete(self, uid: str) -> None:
        """Drop the pod's nomination, if it has one."""
        node = self._node_of.pop(uid, None)
        if node is None:
            return
        pods = self._by_node[node]
        del pods[uid]
        if not pods:
            del self._by_node[node]

    def node_of(self, uid: str) -> str:
        """Where the pod is nominated; ``""`` when nowhere."""
        return self._node_of.get(uid, "")

    def nominated_on(self, node: str) -> tuple[PodInfo, ...]:
        """The pods nominated to run on the node, in the order of their nomination."""
        return tuple(self._by_node.get(node, {}).values())

    @property
    def nodes_with_nominations(self) -> Collection[str]:
        """The nodes on which any pod is nominated."""
        return self._by_node.keys()
