"""The plugin: DoNotSchedule constraints reject nodes, ScheduleAnyway constraints rank them.

Quirks: without PreFilter, Filter is an error, since a node alone does not tell how pods are spread; so is Score without PreScore.
A selector that cannot be read fails the attempt, and only at the points that read its constraint.

Upstream: ``plugins/podtopologyspread/plugin.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler.apis.config.args import PodTopologySpreadArgs
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
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Column, Reason, Rejections
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.helper.taints import COMPARISON_GATE
from scheduler.plugins.pod_topology_spread import hints
from scheduler.plugins.pod_topology_spread.constraints import Constraint, Constraints
from scheduler.plugins.pod_topology_spread.counting import Included
from scheduler.plugins.pod_topology_spread.default_selector import OWNERS
from scheduler.plugins.pod_topology_spread.preferred import Preference, preference
from scheduler.plugins.pod_topology_spread.required import Spread

MATCH_LABEL_KEYS_GATE: Final = "MatchLabelKeysInPodTopologySpread"
_REQUIRED: Final = "PreFilterPodTopologySpread"
_PREFERRED: Final = "PreScorePodTopologySpread"
_NOT_COUNTED: Final = Reason(f'reading "{_REQUIRED}" from cycleState: not found', Code.ERROR)


class PodTopologySpread:
    """Rejects and ranks nodes by how evenly pods are spread over topology domains."""

    name: Final = "PodTopologySpread"
    rows_apart: Final = True

    def __init__(self, args: PodTopologySpreadArgs, handle: Handle) -> None:
        """The default constraints come from the arguments."""
        merges_keys = handle.features.enabled(MATCH_LABEL_KEYS_GATE)
        self._constraints = Constraints(args, handle.catalog, merges_keys=merges_keys)
        self.reads: tuple[type, ...] = OWNERS if self._constraints.have_defaults else ()
        self._comparisons = handle.features.enabled(COMPARISON_GATE)
        self._matching = MatchingPods()

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod came, went or changed its labels, or this pod its tolerations; a node came, went, changed its labels or taints."""
        pod = ClusterEvent(
            EventResource.POD,
            ActionType.ADD
            | ActionType.UPDATE_POD_LABEL
            | ActionType.UPDATE_POD_TOLERATION
            | ActionType.DELETE,
        )
        node = ClusterEvent(
            EventResource.NODE,
            ActionType.ADD | ActionType.DELETE | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_TAINT,
        )
        return (
            ClusterEventWithHint(pod, self.after_pod_change),
            ClusterEventWithHint(node, self.after_node_change),
        )

    def after_pod_change(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        """See ``hints``; a pod whose constraints cannot be read is tried again."""
        if not all(hints.involved(other, pod) for other in (old, new) if other is not None):
            return QueueingHint.SKIP
        constraints = self._readable(pod)
        if constraints is None:
            return QueueingHint.QUEUE
        return hints.after_pod_change(pod, constraints, old, new)

    def after_node_change(self, pod: Pod, old: Node | None, new: Node | None) -> QueueingHint:
        """See ``hints``; a pod whose constraints cannot be read is tried again."""
        constraints = self._readable(pod)
        return QueueingHint.QUEUE if constraints is None else hints.after_node_change(constraints, old, new)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count the matching pods by domain; skip pods without a constraint."""
        pod = cycle.pod
        try:
            constraints = self._constraints.required(pod)
        except ValueError as error:
            return Status.failure(ValueError(f"get constraints from pod: {error}"))
        if not constraints:
            return Status.skip()
        whole = nodes.whole
        included = Included(pod, whole, comparisons=self._comparisons)
        cycle.state[_REQUIRED] = Spread.counted(pod, constraints, whole, self._matching, included)
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> None:
        """A what-if put a pod on the row."""
        spread: Spread = cycle.state[_REQUIRED]
        spread.add(pod.pod, nodes, row, 1)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> None:
        """A what-if took a pod off the row."""
        spread: Spread = cycle.state[_REQUIRED]
        spread.add(pod.pod, nodes, row, -1)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows that lack a topology key, and those whose domain is too far ahead."""
        spread: Spread | None = cycle.state.get(_REQUIRED)
        if spread is None:
            return Rejections.where(np.ones(len(nodes), np.bool_), _NOT_COUNTED)
        return spread.rejections(nodes)

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count the matching pods by domain of the rows that are left; skip pods without a constraint."""
        pod = cycle.pod
        try:
            constraints = self._constraints.preferred(pod)
        except ValueError as error:
            return Status.failure(ValueError(f"calculating preScoreState: {error}"))
        if not constraints:
            return Status.skip()
        cycle.state[_PREFERRED] = preference(
            constraints,
            nodes,
            pod.metadata.namespace,
            self._matching,
            Included(pod, nodes.whole, comparisons=self._comparisons),
            require_all=self._constraints.require_all_keys(pod),
        )
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: how many matching pods lie in the row's domains, weighed."""
        return _noted(cycle).score(nodes)

    def normalize(self, cycle: Cycle, scores: Column) -> Column:
        """int64[rows]: 100 for the fewest."""
        return _noted(cycle).normalized(scores)

    def _readable(self, pod: Pod) -> Sequence[Constraint] | None:
        try:
            return self._constraints.required(pod)
        except ValueError:
            return None


def _noted(cycle: Cycle) -> Preference:
    note: Preference | None = cycle.state.get(_PREFERRED)
    if note is None:
        raise ValueError(f'error reading "{_PREFERRED}" from cycleState: not found')
    return note
