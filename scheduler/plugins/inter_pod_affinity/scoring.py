"""What preferences are worth on each node: the waiting pod's for the running ones, and theirs for it.

Every term that means a pod gives its weight to the domain that the running pod's node is in, once per pod and term; weights of
anti-affinity are negative. A required affinity term of a running pod counts with ``hardPodAffinityWeight``. A node's score is
the sum over its domains.

Upstream: ``processExistingPod``, ``PreScore``, ``Score``.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scheduler.framework.columns import Rows
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.inter_pod_affinity.domains import Domains
from scheduler.plugins.inter_pod_affinity.namespaces import Namespaces, meaning
from scheduler.plugins.inter_pod_affinity.terms import WeightedTerm


class Tally:
    """Weights by topology key and row of the whole table.

    Attributes:
        touched: whether any pod was counted in any domain, be it with a weight of zero: otherwise there is nothing to score.
    """

    __slots__ = ("_nodes", "_weights", "touched")

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes.whole
        self._weights: dict[str, Column] = {}
        self.touched = False

    def add(self, key: str, rows: Rows, counts: Column, weight: int) -> None:
        """So many pods on these rows count, each with this weight."""
        column = self._weights.get(key)
        if column is None:
            column = self._weights[key] = np.zeros(len(self._nodes), np.int64)
        column[rows] += counts * np.int64(weight)
        if not self.touched:
            self.touched = bool(self._nodes.label_ids(key)[rows].any())

    def by_domain(self) -> Domains:
        """The weights added up."""
        return Domains.of(self._nodes, self._weights)


def count_liked_pods(
    tally: Tally, nodes: Nodes, terms: Iterable[WeightedTerm], namespaces: Namespaces, matching: MatchingPods
) -> None:
    """Count the running pods that the waiting pod's preferred terms mean."""
    for term, weight in terms:
        selector, where = meaning(term, namespaces)
        counts = matching.counts(nodes.whole, selector, where, skip_deleting=False)
        rows = np.flatnonzero(counts)
        tally.add(term.topology_key, rows, counts[rows], weight)
