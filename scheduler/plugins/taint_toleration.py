"""TaintToleration: taints keep away the pods that do not tolerate them, or make a node less liked.

``NoSchedule`` and ``NoExecute`` reject; each untolerated ``PreferNoSchedule`` counts against the node, and the counts are
normalized in reverse, so that the node with the fewest gets 100. For those, tolerations of another effect do not count.

Quirks: the score is never skipped, so nodes without any taint all score 100; a toleration without key but with the operator
``Equal`` matches every key whose value is equal.

Upstream: ``plugins/tainttoleration``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scheduler.apis.objects import Node, Pod, Toleration
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.facts import Taints
from scheduler.framework.interface import Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column, Reason, Rejections
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.distinct import gather, where
from scheduler.plugins.helper.hints import after_own_change
from scheduler.plugins.helper.normalize import default_normalize
from scheduler.plugins.helper.taints import COMPARISON_GATE, PREFER_NO_SCHEDULE, REPELLING, untolerated

UNTOLERATED: Final = Reason("node(s) had untolerated taint(s)", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
_SOFT: Final = "TaintToleration/soft"


class TaintToleration:
    """Rejects and ranks nodes by their taints."""

    name: Final = "TaintToleration"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._comparisons = handle.features.enabled(COMPARISON_GATE)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node appeared or its taints changed; the pod's tolerations changed."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT)
        pod = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
        return (
            ClusterEventWithHint(node, self.after_node_change),
            ClusterEventWithHint(pod, after_own_change),
        )

    def after_node_change(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        """The node repels the pod no longer."""
        repelled = old is None or self._repels(old.spec.taints, pod)
        opened = repelled and not self._repels(new.spec.taints, pod)
        return QueueingHint.QUEUE if opened else QueueingHint.SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows with a taint that keeps the pod away."""
        pod = cycle.pod
        repelled = where(nodes.taint_set_ids, nodes.taint_sets, lambda taints: self._repels(taints, pod))
        return None if repelled is None else Rejections.where(repelled, UNTOLERATED)

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Note the tolerations that soften taints."""
        cycle.state[_SOFT] = soft_tolerations(cycle.pod)
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: the number of ``PreferNoSchedule`` taints that the pod does not tolerate."""
        tolerations: Sequence[Toleration] | None = cycle.state.get(_SOFT)
        if tolerations is None:
            raise ValueError('failed to read "PreScoreTaintToleration" from cycleState: not found')

        def count(taints: Taints) -> int:
            return untolerated(taints, tolerations, (PREFER_NO_SCHEDULE,), comparisons=self._comparisons)

        return gather(nodes.taint_set_ids, nodes.taint_sets, count)

    def normalize(self, cycle: Cycle, scores: Column) -> Column:
        """int64[rows]: 100 for the fewest."""
        return default_normalize(scores, reverse=True)

    def _repels(self, taints: Taints, pod: Pod) -> bool:
        return untolerated(taints, pod.spec.tolerations, REPELLING, comparisons=self._comparisons) > 0


def soft_tolerations(pod: Pod) -> Sequence[Toleration]:
    """The tolerations that count for ``PreferNoSchedule``."""
    return [each for each in pod.spec.tolerations if each.effect in ("", PREFER_NO_SCHEDULE)]
