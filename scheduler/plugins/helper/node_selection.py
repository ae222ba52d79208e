"""Node selectors over the table: one column per requirement, judged on the distinct values of its label.

A term is the conjunction of its requirements, a selector the disjunction of its terms. Nothing here looks at a node: a label
requirement is a gather over ``label_ids``, a field requirement names at most one row.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from scheduler.apis.node_selectors import NODE_NAME_FIELD
from scheduler.apis.selectors import CompiledTerm, FieldRequirement, Operator, Requirement
from scheduler.framework.facts import ABSENT
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn
from scheduler.plugins.helper.distinct import where


def matching_any(nodes: Nodes, terms: Iterable[CompiledTerm]) -> BoolColumn:
    """bool[rows]: the nodes that match one of the terms; terms with faults match nothing."""
    found = np.zeros(len(nodes), np.bool_)
    for term in terms:
        if not term.errors:
            found |= matching_term(nodes, term)
    return found


def matching_term(nodes: Nodes, term: CompiledTerm) -> BoolColumn:
    """bool[rows]: the nodes that match a term without faults."""
    found = matching_labels(nodes, term.labels)
    for requirement in term.fields:
        found &= _matching_field(nodes, requirement)
    return found


def matching_labels(nodes: Nodes, requirements: Iterable[Requirement]) -> BoolColumn:
    """bool[rows]: the nodes whose labels satisfy every requirement."""
    found = np.ones(len(nodes), np.bool_)
    for requirement in requirements:
        found &= _matching_label(nodes, requirement)
    return found


def _matching_label(nodes: Nodes, requirement: Requirement) -> BoolColumn:
    """``requirement.matches_value`` over all rows; the common operators need no call per value."""
    ids, operator = nodes.label_ids(requirement.key), requirement.operator
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        has: BoolColumn = ids != ABSENT
        return has if operator is Operator.EXISTS else ~has
    listed = operator in (Operator.IN, Operator.NOT_IN)
    holds = frozenset(requirement.values).__contains__ if listed else requirement.matches_value
    found = where(ids, nodes.label_values(requirement.key), holds)
    if found is None:
        found = np.zeros(len(nodes), np.bool_)
    return ~found if operator is Operator.NOT_IN else found


def _matching_field(nodes: Nodes, requirement: FieldRequirement) -> BoolColumn:
    """``metadata.name`` is the only field that nodes have; every other one reads as empty."""
    if requirement.path != NODE_NAME_FIELD:
        return np.full(len(nodes), requirement.matches({}), np.bool_)
    wanted = requirement.op == "="
    found = np.full(len(nodes), not wanted, np.bool_)
    row = nodes.row_of(requirement.value)
    if row is not None:
        found[row] = wanted
    return found
