"""PodTopologySpread once more, with dictionaries of topology values and a look at every pod (see ``reference``)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping

from scheduler.apis.objects import LabelSelector, Pod, TopologySpreadConstraint
from scheduler.apis.selectors import compile_label_selector, compile_node_selector
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.status import SKIP, Status
from tests.laws.reference import tolerates

HOSTNAME = "kubernetes.io/hostname"


class PodTopologySpread:
    name = "PodTopologySpread"

    def __init__(self, cluster: NodeTable) -> None:
        self._nodes = [NodeInfo(cluster, row) for row in range(len(cluster))]
        self._weights: list[float] = []

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        return None if of(cycle.pod, "DoNotSchedule") else SKIP

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        pod, mine = cycle.pod, cycle.pod.metadata.labels
        constraints = of(pod, "DoNotSchedule")
        for each in constraints:
            if each.topology_key not in node.labels:
                return Status.unresolvable(
                    "node(s) didn't match pod topology spread constraints (missing required label)"
                )
            counts = self._counts(pod, each, constraints)
            wanted = 1 if each.min_domains is None else each.min_domains
            lowest = 0 if len(counts) < wanted else min(counts.values(), default=2**31 - 1)
            here = counts.get(node.labels[each.topology_key], 0)
            if here + selects(each, mine, mine) - lowest > each.max_skew:
                return Status.unschedulable("node(s) didn't match pod topology spread constraints")
        return None

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        constraints = of(cycle.pod, "ScheduleAnyway")
        rated = [node for node in self._nodes if has_keys(node, constraints)]
        self._weights = [
            math.log(2 + len(rated if key == HOSTNAME else {node.labels[key] for node in rated}))
            for key in (each.topology_key for each in constraints)
        ]
        return None if constraints else SKIP

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        pod, score = cycle.pod, 0.0
        constraints = of(pod, "ScheduleAnyway")
        if not has_keys(node, constraints):
            return 0
        for each, weight in zip(constraints, self._weights, strict=True):
            if each.topology_key == HOSTNAME:
                count = matching(pod, each, node)
            else:
                count = self._counts(pod, each, constraints)[node.labels[each.topology_key]]
            score += float(count) * weight + float(each.max_skew - 1)
        return int(math.copysign(math.floor(abs(score) + 0.5), score))

    def _counts(
        self, pod: Pod, constraint: TopologySpreadConstraint, constraints: list[TopologySpreadConstraint]
    ) -> Counter[str]:
        counts: Counter[str] = Counter()
        for node in self._nodes:
            if has_keys(node, constraints) and included(pod, constraint, node):
                counts[node.labels[constraint.topology_key]] += matching(pod, constraint, node)
        return counts


def of(pod: Pod, action: str) -> list[TopologySpreadConstraint]:
    return [each for each in pod.spec.topology_spread_constraints if each.when_unsatisfiable == action]


def has_keys(node: NodeInfo, constraints: list[TopologySpreadConstraint]) -> bool:
    return all(each.topology_key in node.labels for each in constraints)


def included(pod: Pod, constraint: TopologySpreadConstraint, node: NodeInfo) -> bool:
    if constraint.node_affinity_policy != "Ignore" and not allowed(pod, node):
        return False
    if constraint.node_taints_policy != "Honor":
        return True
    return all(
        taint.effect == "PreferNoSchedule" or any(tolerates(each, taint) for each in pod.spec.tolerations)
        for taint in node.taints
    )


def allowed(pod: Pod, node: NodeInfo) -> bool:
    affinity = pod.spec.affinity
    required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
    if required is not None and not compile_node_selector(required).match(node.labels, node.name)[0]:
        return False
    return all(node.labels.get(key) == value for key, value in pod.spec.node_selector.items())


def matching(pod: Pod, constraint: TopologySpreadConstraint, node: NodeInfo) -> int:
    found = 0
    for other in node.pods:
        meta = other.pod.metadata
        if meta.deletion_timestamp or meta.namespace != pod.metadata.namespace:
            continue
        found += selects(constraint, pod.metadata.labels, meta.labels) and not selects_all(constraint, pod)
    return found


def selects_all(constraint: TopologySpreadConstraint, pod: Pod) -> bool:
    keys = [key for key in constraint.match_label_keys if key in pod.metadata.labels]
    return constraint.label_selector == LabelSelector() and not keys


def selects(constraint: TopologySpreadConstraint, own: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    shared = [key for key in constraint.match_label_keys if key in own]
    return compile_label_selector(constraint.label_selector).matches(labels) and all(
        labels.get(key) == own[key] for key in shared
    )
