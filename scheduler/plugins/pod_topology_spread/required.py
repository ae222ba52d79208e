"""DoNotSchedule: a node's domain must not get too far ahead of the emptiest one.

``skew = pods of the node's domain + 1 if the pod matches itself - pods of the emptiest domain``; more than ``maxSkew`` rejects. A
node without the topology key is rejected for good. Domains are those of the nodes that have every key and that the policies let
count; with fewer of them than ``minDomains``, the emptiest one is taken to have no pods.

In a what-if a row sees its own domain as its pods have changed it, and all others as they are (see ``helper.own_changes``).

Quirk: a what-if counts every pod that matches, also those that PreFilter did not count: a pod that is being deleted, or any pod
where the selector selects everything. Taken away, they make a domain emptier than it is.

Upstream: ``plugins/podtopologyspread/filtering.go``.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Final

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.columns import AnyColumn
from scheduler.framework.facts import ABSENT
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column, Reason, Rejections
from scheduler.framework.status import Code
from scheduler.plugins.helper.own_changes import OwnChanges
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
        known: bool[values of the topology key]: those that some node that counts has.
        changes: what a what-if changed, for each row.
    """

    __slots__ = ("_lowest", "changes", "constraint", "counted", "known", "pods")

    def __init__(self, constraint: Constraint, nodes: Nodes, counted: BoolColumn, matched: Column) -> None:
        self.constraint = constraint
        self.counted = counted
        key = constraint.topology_key
        ids, values = nodes.label_ids(key), len(nodes.label_values(key))
        self.pods = by_domain(matched, ids, values, counted)
        self.known = np.zeros(values, np.bool_)
        self.known[ids[counted]] = True
        self.changes = OwnChanges()
        self._lowest = _two_lowest(self.pods[self.known])

    def clone(self) -> Domains:
        """A copy with changes of its own."""
        clone = copy(self)
        clone.changes = self.changes.clone()
        return clone

    def ahead(self, nodes: Nodes, ids: AnyColumn) -> Column:
        """int64[rows]: by how many pods the row's domain, of these ids, is ahead of the emptiest one."""
        own = self.changes.of(nodes)
        mine: Column = self.pods[ids]
        few = np.count_nonzero(self.known) < self.constraint.min_domains
        if own is None:
            return mine - (0 if few else self._lowest[0])
        lowest, second = self._lowest
        others = np.where(self.known[ids] & (mine == lowest), second, lowest)
        mine = mine + own
        return mine if few else mine - np.where(self.known[ids], np.minimum(mine, others), others)


class Spread:
    """How the pods that matter to one pod are spread: the note that PreFilter leaves to Filter."""

    __slots__ = ("_domains", "_pod")

    def __init__(self, pod: Pod, domains: Sequence[Domains]) -> None:
        self._pod = pod
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
        return cls(pod, domains)

    def clone(self) -> Spread:
        """A copy for a what-if."""
        return Spread(self._pod, [domains.clone() for domains in self._domains])

    def add(self, other: Pod, nodes: Nodes, row: int, amount: int) -> None:
        """Another pod came to a row (1) or went (-1)."""
        if other.metadata.namespace != self._pod.metadata.namespace:
            return
        for domains in self._domains:
            counted = domains.counted[nodes.whole_rows[row]]
            if counted and domains.constraint.selector.matches(other.metadata.labels):
                domains.changes.add(nodes, row, amount)

    def rejections(self, nodes: Nodes) -> Rejections | None:
        """The rows that a constraint rejects, each for the first that does."""
        passing = np.ones(len(nodes), np.bool_)
        unlabelled, skewed = np.zeros(len(nodes), np.bool_), np.zeros(len(nodes), np.bool_)
        for domains in self._domains:
            ids = nodes.label_ids(domains.constraint.topology_key)
            lacking, ahead = ids == ABSENT, domains.ahead(nodes, ids) > self._most(domains)
            unlabelled |= passing & lacking
            skewed |= passing & ahead & ~lacking
            passing &= ~(lacking | ahead)
        return Rejections.collect(((unlabelled, UNLABELLED), (skewed, SKEWED)))

    def _most(self, domains: Domains) -> int:
        """By how many pods a domain may be ahead for one more to be no skew."""
        constraint = domains.constraint
        return constraint.max_skew - constraint.selector.matches(self._pod.metadata.labels)


def _two_lowest(pods: Column) -> tuple[int, int]:
    """The pods of the two emptiest domains, which may be equally many."""
    lowest = pods.min(initial=_NO_DOMAIN)
    if np.count_nonzero(pods == lowest) > 1:
        return int(lowest), int(lowest)
    return int(lowest), int(pods[pods > lowest].min(initial=_NO_DOMAIN))
