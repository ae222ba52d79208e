"""Which nodes count for a constraint, and how many matching pods lie in each of its domains.

A domain is a value of the topology key, known by its id (``nodes.label_ids``). Everything here is over the whole table::

    rows             n0   n1   n2   n3   n4
    zone             a    b    a    -    c        ids          1  2  1  0  3
    counts?          yes  yes  yes  no   no       domains      a  b              (c has no node that counts)
    matching pods    2    0    1    4    0        pods         3  0

The matching pods are those in the pod's own namespace that are not being deleted. A selector that selects everything counts
none of them, a quirk of upstream's (``countPodsMatchSelector``).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.columns import AnyColumn
from scheduler.framework.facts import ABSENT, Taints
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.plugins.helper.distinct import where
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.helper.taints import REPELLING, untolerated
from scheduler.plugins.node_affinity import required_affinity
from scheduler.plugins.pod_topology_spread.constraints import Constraint


class Included:
    """Which nodes count for one pod, by the policies of its constraints; each policy is judged once.

    Args:
        pod: the pod to be placed.
        nodes: the whole table.
        comparisons: whether tolerations may compare (see ``helper.taints``).
    """

    def __init__(self, pod: Pod, nodes: Nodes, *, comparisons: bool) -> None:
        self._pod = pod
        self._nodes = nodes
        self._comparisons = comparisons

    def under(self, constraint: Constraint) -> BoolColumn | None:
        """bool[rows]: the nodes that the constraint's policies let count; None for all of them."""
        affine = self._affine if constraint.honors_affinity else None
        tolerated = self._tolerated if constraint.honors_taints else None
        if affine is None or tolerated is None:
            return tolerated if affine is None else affine
        return affine & tolerated

    @cached_property
    def _affine(self) -> BoolColumn | None:
        """The nodes that node selector and required node affinity allow; terms that cannot be read match nothing."""
        required = required_affinity(self._pod)
        return required.matching(self._nodes) if required.restricts else None

    @cached_property
    def _tolerated(self) -> BoolColumn | None:
        tolerations, comparisons = self._pod.spec.tolerations, self._comparisons

        def repels(taints: Taints) -> bool:
            return untolerated(taints, tolerations, REPELLING, comparisons=comparisons) > 0

        repelled = where(self._nodes.taint_set_ids, self._nodes.taint_sets, repels)
        return None if repelled is None else ~repelled


def having_all_keys(nodes: Nodes, constraints: Sequence[Constraint]) -> BoolColumn:
    """bool[rows]: the nodes that have the topology key of every constraint."""
    found = np.ones(len(nodes), np.bool_)
    for constraint in constraints:
        found &= nodes.label_ids(constraint.topology_key) != ABSENT
    return found


def pods_by_row(matching: MatchingPods, nodes: Nodes, constraint: Constraint, namespace: str) -> Column:
    """int64[rows of the whole table]: the matching pods on each node."""
    if constraint.selector.empty:
        return np.zeros(nodes.total, np.int64)
    return matching.counts(nodes, constraint.selector, (namespace,), skip_deleting=True)


def by_domain(pods: Column, ids: AnyColumn, domains: int, counted: BoolColumn) -> Column:
    """int64[domains]: the pods on the rows that count, summed up by domain."""
    rows = np.flatnonzero(pods * counted)
    total: Column = np.zeros(domains, np.int64)
    np.add.at(total, ids[rows], pods[rows])
    return total
