"""Promises: pods of other schedulers that were promised room on a node, for whoever judges on their behalf.

kube-scheduler's own loop counts the nominations in its own queue, and so does the loop here. A kube-scheduler that asks the webhook wants
its nominations counted: they are in the statuses of its pods, which wait in no queue of this process.
"""

from __future__ import annotations

from collections.abc import Collection

from scheduler.apis.objects import Pod
from scheduler.backend.nominator import Nominator
from scheduler.framework.filtering import Nominated
from scheduler.framework.pods import PodInfo


class Promises:
    """All nominations (see ``filtering.Nominated``): those of the own queue, and those of pods that others schedule.

    Args:
        own: the queue's.
    """

    def __init__(self, own: Nominated) -> None:
        self._own = own
        self._others = Nominator()

    def note(self, pod: Pod) -> None:
        """A pod that others schedule came, or changed, and is on no node."""
        self._others.delete(pod.metadata.uid)
        if pod.status.nominated_node_name:
            self._others.add(PodInfo(pod))

    def forget(self, uid: str) -> None:
        """The pod is gone, on a node, or ours by now."""
        self._others.delete(uid)

    @property
    def nodes_with_nominations(self) -> Collection[str]:
        """The names of the nodes that have any."""
        own, others = self._own.nodes_with_nominations, self._others.nodes_with_nominations
        return {*own, *others} if others else own

    def nominated_on(self, node: str) -> tuple[PodInfo, ...]:
        """The pods nominated to one node, the queue's first."""
        return self._own.nominated_on(node) + self._others.nominated_on(node)
