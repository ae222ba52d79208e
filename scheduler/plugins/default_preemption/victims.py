"""Victims: which of two pods is more important, and which pods a disruption budget protects.

Importance orders by priority, then by how long a pod has been running: the older is the more important, one that has not
started counts as started now (upstream: ``util.MoreImportantPod``). Equals come in the order in which Go's ``sort.Slice`` leaves
them (see ``helper.gosort``), for it decides who is evicted. Pods that have not started are never equal upstream, since "now" is
later each time it is asked: each of them comes before the other, as upstream's sort is told, too.

A budget is spent pod by pod, in that order: the first pods that it covers are within ``disruptionsAllowed``, the others
violate it. Three quirks of upstream's ``filterPodsWithPDBViolation``: a budget whose selector is empty covers nothing, a pod
without labels is covered by none, and one that stands in ``disruptedPods`` costs nothing, since the API server has counted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple

from scheduler.apis.objects import Pod, PodDisruptionBudget
from scheduler.apis.selectors import Selector, SelectorError, compile_label_selector
from scheduler.framework.catalog import Collection
from scheduler.framework.pods import PodInfo
from scheduler.plugins.helper.gosort import go_sorted


def most_important_first(pods: Sequence[PodInfo]) -> list[PodInfo]:
    """The pods in order of importance."""
    ranks = [(-pod.priority, pod.derived(started)) for pod in pods]
    places = range(len(pods))
    if len(set(ranks)) == len(ranks):
        order = sorted(places, key=ranks.__getitem__)
    else:
        order = go_sorted(places, lambda one, other: _precedes(ranks[one], ranks[other]))
    return [pods[place] for place in order]


def _precedes(one: tuple[int, float], other: tuple[int, float]) -> bool:
    """Whether a rank is more important than another, as upstream answers when it sorts."""
    return one < other or (one == other and one[1] == inf)


def started(pod: Pod) -> float:
    """When the pod started, in seconds since the epoch; infinity when it has not, or not at a time that can be read."""
    try:
        moment = datetime.fromisoformat(pod.status.start_time)
    except ValueError:
        return inf
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


class _Budget(NamedTuple):
    """A disruption budget that covers something."""

    selector: Selector
    allowed: int
    disrupted: frozenset[str]

    def covers(self, pod: Pod) -> bool:
        """Whether the eviction of the pod, which is in its namespace, is a disruption to be counted."""
        labels = pod.metadata.labels
        return bool(labels) and pod.metadata.name not in self.disrupted and self.selector.matches(labels)


class Budgets:
    """The cluster's disruption budgets, their selectors compiled once.

    Args:
        collection: the catalog's.
    """

    def __init__(self, collection: Collection[PodDisruptionBudget]) -> None:
        self._collection = collection
        self._version = -1
        self._by_namespace: dict[str, list[_Budget]] = {}

    def split(self, pods: Sequence[PodInfo]) -> tuple[list[PodInfo], list[PodInfo]]:
        """The pods whose eviction would violate a budget, and the others, each in the order given.

        All are taken to be evicted in this order; where a budget runs out decides.
        """
        self._refresh()
        violating: list[PodInfo] = []
        others: list[PodInfo] = []
        left: dict[tuple[str, int], int] = {}
        for pod in pods:
            (violating if self._spend(pod.pod, left) else others).append(pod)
        return violating, others

    def _spend(self, pod: Pod, left: dict[tuple[str, int], int]) -> bool:
        """Whether the pod violates a budget; every budget that covers it has one disruption fewer left."""
        namespace = pod.metadata.namespace
        violated = False
        for place, budget in enumerate(self._by_namespace.get(namespace, ())):
            if budget.covers(pod):
                left[namespace, place] = left.get((namespace, place), budget.allowed) - 1
                violated = violated or left[namespace, place] < 0
        return violated

    def _refresh(self) -> None:
        if self._version != self._collection.version:
            self._by_namespace = _compiled(self._collection.all())
            self._version = self._collection.version


def _compiled(budgets: Iterable[PodDisruptionBudget]) -> dict[str, list[_Budget]]:
    """The budgets that cover anything, by namespace."""
    found: dict[str, list[_Budget]] = {}
    for budget in budgets:
        try:
            selector = compile_label_selector(budget.spec.selector)
        except SelectorError:
            continue  # as upstream: one that cannot be read covers nothing
        if selector.nothing or selector.empty:
            continue
        status = budget.status
        found.setdefault(budget.metadata.namespace, []).append(
            _Budget(selector, status.disruptions_allowed, frozenset(status.disrupted_pods))
        )
    return found
