"""NodeDeclaredFeatures: the node must declare the features that the pod uses.

Most pods use none and are skipped. No eviction makes a kubelet newer, so the refusal is unresolvable.

Quirk: without its feature gate the plugin may still be enabled by name; it skips every pod then.

Upstream: ``plugins/nodedeclaredfeatures``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scheduler.apis.objects import Node, Pod
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
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.distinct import where
from scheduler.plugins.helper.notes import without_note
from scheduler.plugins.node_declared_features.requirements import recognized, required

GATE: Final = "NodeDeclaredFeatures"
MISSING: Final = Reason("node(s) didn't match Pod's required features", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
_NEEDED: Final = "NodeDeclaredFeatures/needed"
_NO_NOTE: Final = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'


class NodeDeclaredFeatures:
    """Rejects nodes that cannot do what the pod needs."""

    name: Final = "NodeDeclaredFeatures"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._enabled = handle.features.enabled(GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node appeared or declares other features; the pod was changed."""
        if not self._enabled:
            return ()
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE)
        return (ClusterEventWithHint(node, after_node_change), ClusterEventWithHint(pod, after_pod_update))

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods that need no feature; note what the others need."""
        needed = cycle.pod_info.derived(required) if self._enabled else None
        if not needed:
            return Status.skip()
        cycle.state[_NEEDED] = needed
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows whose node does not declare all of them."""
        if not self._enabled:
            return None
        needed: frozenset[str] | None = cycle.state.get(_NEEDED)
        if needed is None:
            return without_note(nodes, _NO_NOTE)
        lacking = where(
            nodes.declared_feature_ids,
            nodes.declared_features,
            lambda declared: not needed <= recognized(declared),
        )
        return None if lacking is None else Rejections.where(lacking, MISSING)


def after_node_change(pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    """The node is new, or declares other features than before."""
    same = old is not None and old.status.declared_features == new.status.declared_features
    return QueueingHint.SKIP if same else QueueingHint.QUEUE


def after_pod_update(pod: Pod, old: Pod, new: Pod) -> QueueingHint:
    """The pod itself needs other features than before."""
    changed = new.metadata.uid == pod.metadata.uid and required(old) != required(new)
    return QueueingHint.QUEUE if changed else QueueingHint.SKIP
