"""ScheduleAnyway: the fewer matching pods in a node's domains, the better.

``score = sum over the constraints of (pods of the domain · log(number of domains + 2) + maxSkew - 1)``, rounded, half away from
zero. The logarithm keeps few large domains from outweighing many small ones; ``maxSkew`` waters differences down. For
``kubernetes.io/hostname`` the node itself is the domain: its own pods are counted, whatever its label says.

Domains are those of the nodes that are left to choose from; the pods in them are counted on all nodes. A node that lacks a key is
ignored: it scores 0 also after normalizing. Under the built-in default constraints nothing is ignored, a missing key only adds
nothing; there, nodes without the key count as one more domain, the one with the empty value.

Quirk: -1 stands for an ignored node, so that a node which comes to -1 by itself (``maxSkew`` 0) is taken for one.

Upstream: ``plugins/podtopologyspread/scoring.go``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from scheduler.framework.columns import AnyColumn
from scheduler.framework.facts import ABSENT
from scheduler.framework.integers import quotient
from scheduler.framework.interface import MAX_NODE_SCORE
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.pod_topology_spread.constraints import HOSTNAME, Constraint
from scheduler.plugins.pod_topology_spread.counting import Included, by_domain, having_all_keys, pods_by_row

_IGNORED: Final = -1
_INT64_MAX: Final = (1 << 63) - 1

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Weighed:
    """One constraint with what its score is made of.

    Attributes:
        constraint: the constraint.
        weight: the logarithm of the number of domains.
        pods: int64, the matching pods by value id of the topology key; by row of the whole table for the hostname.
    """

    constraint: Constraint
    weight: float
    pods: Column


@dataclass(frozen=True, slots=True)
class Preference:
    """The note that PreScore leaves to Score.

    Attributes:
        weighed: the constraints.
        require_all: whether nodes that lack a key are ignored.
        ignored: bool[rows left to choose from]: those that are.
    """

    weighed: Sequence[Weighed]
    require_all: bool
    ignored: BoolColumn

    def score(self, nodes: Nodes) -> Column:
        """int64[rows]: the more matching pods around, the higher; 0 for nodes that are ignored."""
        total: Floats = np.zeros(len(nodes), np.float64)
        for each in self.weighed:
            key = each.constraint.topology_key
            places = nodes.whole_rows if key == HOSTNAME else _domain_ids(nodes, key, self.require_all)
            score = each.pods[places] * each.weight + float(each.constraint.max_skew - 1)
            total += np.where(nodes.label_ids(key) != ABSENT, score, 0.0)
        if self.require_all:
            total[~having_all_keys(nodes, [each.constraint for each in self.weighed])] = 0.0
        return rounded(total)

    def normalized(self, scores: Column) -> Column:
        """int64[rows]: 100 for the fewest pods around, in proportion to the most; 0 for nodes that are ignored."""
        rated = scores[~self.ignored]
        lowest, highest = int(rated.min(initial=_INT64_MAX)), int(rated.max(initial=0))
        ignored = self.ignored | (scores == _IGNORED)
        if highest == 0:
            shares = np.full(len(scores), MAX_NODE_SCORE, np.int64)
        else:
            shares = quotient(MAX_NODE_SCORE * (highest + lowest - scores), highest)
        return np.where(ignored, 0, shares)


def preference(
    constraints: Sequence[Constraint],
    feasible: Nodes,
    namespace: str,
    matching: MatchingPods,
    included: Included,
    *,
    require_all: bool,
) -> Preference:
    """Count for the rows that are left to choose from.

    Args:
        constraints: the pod's.
        feasible: these rows.
        namespace: the pod's.
        matching: finds the matching pods.
        included: which nodes of the whole table count.
        require_all: whether nodes that lack a key are ignored.
    """
    whole = feasible.whole
    labelled = having_all_keys(whole, constraints) if require_all else np.ones(len(whole), np.bool_)
    scored = labelled[feasible.whole_rows]
    weighed = []
    for constraint in constraints:
        key = constraint.topology_key
        pods = pods_by_row(matching, whole, constraint, namespace)
        if key == HOSTNAME:
            size = int(np.count_nonzero(scored))
        else:
            size = int(np.count_nonzero(np.bincount(_domain_ids(feasible, key, require_all)[scored])))
            allowed = included.under(constraint)
            counted = labelled if allowed is None else labelled & allowed
            pods = by_domain(
                pods, _domain_ids(whole, key, require_all), len(whole.label_values(key)), counted
            )
        weighed.append(Weighed(constraint, math.log(size + 2), pods))
    return Preference(weighed, require_all, ~scored)


def _domain_ids(nodes: Nodes, key: str, require_all: bool) -> AnyColumn:
    """int32[rows]: the domain of each node; the empty value and a missing label are one domain."""
    ids, values = nodes.label_ids(key), nodes.label_values(key)
    # Where all keys are required, a node that lacks one is in no domain at all.
    if require_all or "" not in values:
        return ids
    return np.where(ids == values.index(""), ABSENT, ids)


def rounded(scores: Floats) -> Column:
    """int64[rows]: the nearest integer, half away from zero (Go's ``math.Round``)."""
    whole = np.trunc(scores)
    whole += np.copysign(np.abs(scores - whole) >= 0.5, scores)
    return whole.astype(np.int64)
