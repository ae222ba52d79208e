"""DoNotSchedule: a node's domain must not get too far ahead of the emptiest one.

``skew = pods of the node's domain + 1 if the pod matches itself - pods of the emptiest domain``; more than ``maxSkew`` rejects. A
node without the topology key is rejected for good. Domains are those of the nodes that have every key and that the policies let
count; with fewer of them than ``minDomains``, the emptiest one is taken to have no pods.

Quirk: a what-if counts every pod that matches, also those that PreFilter did not count: a pod that is being deleted, or any pod
where the selector selects everything. Taken away, they make a domain emptier than it is.

Upstream: ``plugins/podtopologyspread/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.facts import ABSENT
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column, Reason, Rejections
from scheduler.framework.status import Code
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.pod_topology_spread.constraints import Constraint
from scheduler.plugins.pod_topology_spread.counting import Included, by_domain, having_all_keys, pods_by_row

SKEWED: Final = Reason("node(s) didn't match pod topology spread constraints")
UNLABELLED: Final = Reason(
    "node(s) didn't match pod topology spread constraints (missing required label)",
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
)
_NO_DOMAIN: Final = (1 << 31) - 1
"""The pods of the emptiest domain when there is none."""


class Domains:
    """The domains of one constraint, and the matching pods in each.

    Attributes:
        constraint: the constraint.
        counted: bool[rows of the whole table]: the nodes whose pods count.
        pods: int64[values of the topology key], by the value's id.
    """

    __slots__ = ("_ids", "_lowest", "constraint", "counted", "pods")

    def __init__(self, constraint: Constraint, nodes: Nodes, counted: BoolColumn, matched: Column) -> None:
        self.constraint = constraint
        self.counted = counted
        key = constraint.topology_key
        ids, values = nodes.label_ids(key), len(nodes.label_values(key))
        self.pods = by_domain(matched, ids, values, counted)
        known = np.zeros(values, np.bool_)
        known[ids[counted]] = True
        self._ids = np.flatnonzero(known)
        self._lowest: int | None = None

    def add(self, nodes: Nodes, row: int, amount: int) -> None:
        """A matching pod came to a row of the whole table (1) or went (-1)."""
        self.pods[nodes.label_ids(self.constraint.topology_key)[row]] += amount
        self._lowest = None

    @property
    def emptiest(self) -> int:
        """The pods of the emptiest domain, as the skew takes them."""
        if len(self._ids) < self.constraint.min_domains:
            return 0
        if self._lowest is None:
            self._lowest = int(self.pods[self._ids].min(initial=_NO_DOMAIN))
        return self._lowest

    def clone(self) -> Domains:
        """A copy that counts on its own."""
        copy = object.__new__(Domains)
        copy.constraint, copy.counted = self.constraint, self.counted
        copy.pods, copy._ids, copy._lowest = self.pods.copy(), self._ids, self._lowest
        return copy


class Spread:
    """How the pods that matter to one pod are spread: the note that PreFilter leaves to Filter."""

    __slots__ = ("_domains", "_nodes", "_pod")

    def __init__(self, pod: Pod, nodes: Nodes, domains: Sequence[Domains]) -> None:
        self._pod = pod
        self._nodes = nodes
        self._domains = domains

    @classmethod
    def counted(
        cls,
        pod: Pod,
        constraints: Sequence[Constraint],
        nodes: Nodes,
        matching: MatchingPods,
        included: Included,
    ) -> Spread:
        """Count over ``nodes``, the whole table."""
        labelled = having_all_keys(nodes, constraints)
        domains = []
        for constraint in constraints:
            allowed = included.under(constraint)
            rows = labelled if allowed is None else labelled & allowed
            matched = pods_by_row(matching, nodes, constraint, pod.metadata.namespace)
            domains.append(Domains(constraint, nodes, rows, matched))
        return cls(pod, nodes, domains)

    def clone(self) -> Spread:
        """A copy for a what-if."""
        return Spread(self._pod, self._nodes, [domains.clone() for domains in self._domains])

    def add(self, other: Pod, node: str, amount: int) -> None:
        """Another pod came to a node (1) or went (-1)."""
        row = self._nodes.row_of(node)
        if row is None or other.metadata.namespace != self._pod.metadata.namespace:
            return
        for domains in self._domains:
            if domains.counted[row] and domains.constraint.selector.matches(other.metadata.labels):
                domains.add(self._nodes, row, amount)

    def rejections(self, nodes: Nodes) -> Rejections | None:
        """The rows that a constraint rejects, each for the first that does."""
        passing = np.ones(len(nodes), np.bool_)
        unlabelled, skewed = np.zeros(len(nodes), np.bool_), np.zeros(len(nodes), np.bool_)
        for domains in self._domains:
            ids = nodes.label_ids(domains.constraint.topology_key)
            lacking, ahead = ids == ABSENT, domains.pods[ids] > self._most(domains)
            unlabelled |= passing & lacking
            skewed |= passing & ahead & ~lacking
            passing &= ~(lacking | ahead)
        return Rejections.collect(((unlabelled, UNLABELLED), (skewed, SKEWED)))

    def _most(self, domains: Domains) -> int:
        """The pods that a domain may have for one more to be no skew."""
        constraint = domains.constraint
        itself = constraint.selector.matches(self._pod.metadata.labels)
        return constraint.max_skew + domains.emptiest - itself
