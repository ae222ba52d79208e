"""What preferences are worth on each node: the waiting pod's for the running ones, and theirs for it.

Every term that means a pod gives its weight to the domain that the running pod's node is in, once per pod and term; weights of
anti-affinity are negative. A required affinity term of a running pod counts with ``hardPodAffinityWeight``. A node's score is
the sum over its domains.

Upstream: ``processExistingPod``, ``PreScore``, ``Score``.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import TypeVar

import numpy as np

from scheduler.framework.nodes import Nodes
from scheduler.framework.pod_index import PodIndex
from scheduler.framework.rejections import Column
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.inter_pod_affinity.domains import Domains
from scheduler.plugins.inter_pod_affinity.namespaces import Namespaces, meaning
from scheduler.plugins.inter_pod_affinity.terms import WeightedTerm

K = TypeVar("K", bound=Hashable)


class Weights:
    """Weights by topology key and row of the whole table, as they are added up.

    Attributes:
        touched: whether any pod was counted in any domain, be it with a weight of zero: otherwise there is nothing to score.
    """

    __slots__ = ("_by_key", "_nodes", "touched")

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes.whole
        self._by_key: dict[str, Column] = {}
        self.touched = False

    def add_liked(
        self, terms: Iterable[WeightedTerm], namespaces: Namespaces, matching: MatchingPods
    ) -> None:
        """Count the running pods that the waiting pod's preferred terms mean."""
        for term, weight in terms:
            selector, where = meaning(term, namespaces)
            counts = matching.counts(self._nodes, selector, where, skip_deleting=False)
            self._add(term.topology_key, counts, weight)

    def add_liking(
        self, index: PodIndex[K], keys: Collection[K], weighted: Callable[[K], tuple[str, int]]
    ) -> None:
        """Count the running pods with these terms; ``weighted`` gives a term's topology key and weight."""
        alike: dict[tuple[str, int], list[K]] = {}
        for key in keys:
            alike.setdefault(weighted(key), []).append(key)
        for (topology_key, weight), same in alike.items():
            self._add(topology_key, index.counts(same, len(self._nodes)), weight)

    def by_domain(self) -> Domains:
        """The weights, by domain."""
        return Domains.of(self._nodes, self._by_key)

    def _add(self, key: str, counts: Column, weight: int) -> None:
        known = self._by_key.get(key)
        worth = counts * np.int64(weight)
        self._by_key[key] = worth if known is None else known + worth
        if not self.touched:
            self.touched = bool(self._nodes.label_ids(key)[counts > 0].any())
