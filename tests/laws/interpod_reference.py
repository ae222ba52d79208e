"""InterPodAffinity once more: every term held against every pod on every node (see ``reference``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler.apis.objects import LabelSelector, Pod, PodAffinity, PodAffinityTerm
from scheduler.apis.selectors import SelectorError, compile_label_selector
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.status import SKIP, Status

Places = list[tuple[Pod, Mapping[str, str]]]
"""Running pods, each with the labels of its node."""


class InterPodAffinity:
    name = "InterPodAffinity"

    def __init__(
        self, cluster: NodeTable, namespaces: Mapping[str, Mapping[str, str]], hard_weight: int
    ) -> None:
        rows = [NodeInfo(cluster, row) for row in range(len(cluster))]
        self._running: Places = [(pod.pod, node.labels) for node in rows for pod in node.pods]
        self._namespaces = namespaces
        self._hard_weight = hard_weight

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        if unreadable(cycle.pod):
            return Status.unresolvable("unreadable")
        requires = required(cycle.pod, "affinity") or required(cycle.pod, "anti")
        averse = any(
            term.topology_key in labels
            for pod, labels in self._running
            for term in required(pod, "anti")
            if self._running_means(term, pod, cycle.pod)
        )
        return None if requires or averse else SKIP

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        me = cycle.pod
        if not self._has_company(me, node):
            return Status.unresolvable("node(s) didn't match pod affinity rules")
        for term in required(me, "anti"):
            for pod, labels in self._running:
                if same_place(term, labels, node.labels) and self._waiting_means(term, me, pod):
                    return Status.unschedulable("node(s) didn't match pod anti-affinity rules")
        for pod, labels in self._running:
            for term in required(pod, "anti"):
                if same_place(term, labels, node.labels) and self._running_means(term, pod, me):
                    return Status.unschedulable("node(s) didn't satisfy existing pods anti-affinity rules")
        return None

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        if unreadable(cycle.pod):
            return Status.failure(ValueError("unreadable"))
        scored = any(term.topology_key in labels for term, _, labels in self._preferences(cycle.pod))
        return None if scored else SKIP

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        return sum(
            weight
            for term, weight, labels in self._preferences(cycle.pod)
            if same_place(term, labels, node.labels)
        )

    def _has_company(self, me: Pod, node: NodeInfo) -> bool:
        terms = required(me, "affinity")
        if any(term.topology_key not in node.labels for term in terms):
            return False
        company = [
            labels
            for pod, labels in self._running
            if all(self._waiting_means(term, me, pod) for term in terms)
        ]
        if all(any(same_place(term, labels, node.labels) for labels in company) for term in terms):
            return True
        somewhere = any(term.topology_key in labels for labels in company for term in terms)
        return not somewhere and all(self._waiting_means(term, me, me) for term in terms)

    def _preferences(self, me: Pod) -> Iterator[tuple[PodAffinityTerm, int, Mapping[str, str]]]:
        for pod, labels in self._running:
            for term, weight in preferred(me):
                if self._waiting_means(term, me, pod):
                    yield term, weight, labels
            theirs = list(preferred(pod))
            if self._hard_weight:
                theirs += [(term, self._hard_weight) for term in required(pod, "affinity")]
            for term, weight in theirs:
                if self._running_means(term, pod, me):
                    yield term, weight, labels

    def _waiting_means(self, term: PodAffinityTerm, me: Pod, pod: Pod) -> bool:
        name = pod.metadata.namespace
        selector = term.namespace_selector
        selected = selector == LabelSelector() or (
            name in self._namespaces and compile_label_selector(selector).matches(self._namespaces[name])
        )
        return (listed(term, me, name) or selected) and selects(term, pod)

    def _running_means(self, term: PodAffinityTerm, owner: Pod, me: Pod) -> bool:
        name = me.metadata.namespace
        selected = compile_label_selector(term.namespace_selector).matches(self._namespaces.get(name, {}))
        return (listed(term, owner, name) or selected) and selects(term, me)


def listed(term: PodAffinityTerm, owner: Pod, namespace: str) -> bool:
    if not term.namespaces and term.namespace_selector is None:
        return namespace == owner.metadata.namespace
    return namespace in term.namespaces


def selects(term: PodAffinityTerm, pod: Pod) -> bool:
    return compile_label_selector(term.label_selector).matches(pod.metadata.labels)


def same_place(term: PodAffinityTerm, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    key = term.topology_key
    return key in one and key in other and one[key] == other[key]


def required(pod: Pod, kind: str) -> Sequence[PodAffinityTerm]:
    terms = side(pod, kind).required
    return terms if all(map(readable, terms)) else ()


def preferred(pod: Pod) -> Iterator[tuple[PodAffinityTerm, int]]:
    for kind, sign in (("affinity", 1), ("anti", -1)):
        terms = side(pod, kind).preferred
        if all(readable(each.pod_affinity_term) for each in terms):
            yield from ((each.pod_affinity_term, sign * each.weight) for each in terms)


def unreadable(pod: Pod) -> bool:
    sides = (side(pod, "affinity"), side(pod, "anti"))
    terms = [term for each in sides for term in each.required]
    terms += [term.pod_affinity_term for each in sides for term in each.preferred]
    return not all(map(readable, terms))


def side(pod: Pod, kind: str) -> PodAffinity:
    affinity = pod.spec.affinity
    found = (
        None
        if affinity is None
        else affinity.pod_affinity
        if kind == "affinity"
        else affinity.pod_anti_affinity
    )
    return PodAffinity() if found is None else found


def readable(term: PodAffinityTerm) -> bool:
    try:
        compile_label_selector(term.label_selector)
        compile_label_selector(term.namespace_selector)
    except SelectorError:
        return False
    return True
