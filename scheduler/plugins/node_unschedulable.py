"""NodeUnschedulable: cordoned nodes take no pods, except those that tolerate the taint which cordoning adds.

Upstream: ``plugins/nodeunschedulable``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scheduler.apis.objects import Node, Pod, Taint
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.interface import Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code
from scheduler.plugins.helper.taints import COMPARISON_GATE, NO_SCHEDULE, tolerated

UNSCHEDULABLE: Final = Reason("node(s) were unschedulable", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
CORDON: Final = Taint(key="node.kubernetes.io/unschedulable", effect=NO_SCHEDULE)


class NodeUnschedulable:
    """Rejects cordoned nodes."""

    name: Final = "NodeUnschedulable"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._comparisons = handle.features.enabled(COMPARISON_GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node appeared or was uncordoned; the pod learned to tolerate the cordon."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, after_node_change),
            ClusterEventWithHint(pod, self.after_toleration_change),
        )

    def after_toleration_change(self, pod: Pod, old: Any, new: Any) -> QueueingHint:
        """Tolerations are only ever added: the pod's own may now tolerate the cordon."""
        own = new.metadata.uid == pod.metadata.uid
        return QueueingHint.QUEUE if own and self._tolerates_cordon(new) else QueueingHint.SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The cordoned rows."""
        cordoned = nodes.unschedulable
        if not cordoned.any() or self._tolerates_cordon(cycle.pod):
            return None
        return Rejections.where(cordoned, UNSCHEDULABLE)

    def _tolerates_cordon(self, pod: Pod) -> bool:
        return tolerated(CORDON, pod.spec.tolerations, comparisons=self._comparisons)


def after_node_change(pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    """The node is not cordoned, and it is new or was cordoned before."""
    opened = not new.spec.unschedulable and (old is None or old.spec.unschedulable)
    return QueueingHint.QUEUE if opened else QueueingHint.SKIP
