"""Node selectors: alternatives of terms over a node's labels and name, with upstream's lazy treatment of faults.

A term that cannot be parsed does not spoil its siblings: it never matches, and its faults surface only for a node that
no other term matches (component-helpers `nodeaffinity.LazyErrorNodeSelector`). So a compiled selector keeps each term's
faults beside it, and the reader chooses:

* required affinity of pods: `match(...)`, or in columns any term without `errors`; faults are ignored;
* volumes and configuration: `errors` must be empty before use (`NewNodeSelector`);
* preferred terms: any fault refuses all of them (`NewPreferredSchedulingTerms`); terms of weight 0 are not even read.

Terms without expressions and fields match nothing and are dropped.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler.apis.fielderror import FieldError, invalid, not_supported
from scheduler.apis.objects import (
    LabelSelectorRequirement,
    NodeSelector,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from scheduler.apis.requirements import FieldRequirement, Operator, Requirement, child, requirement_errors

NODE_NAME_FIELD: Final = "metadata.name"
_OPERATORS: Final = tuple(operator.value for operator in Operator)
_FIELD_OPERATORS: Final = {"In": "=", "NotIn": "!="}


@dataclass(frozen=True, slots=True)
class CompiledTerm:
    """One term: every label and every field requirement must hold. With `errors` it matches nothing."""

    labels: tuple[Requirement, ...] = ()
    fields: tuple[FieldRequirement, ...] = ()
    errors: tuple[FieldError, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """Whether a node with these labels and this name satisfies the term."""
        if self.errors or not all(r.matches_value(labels.get(r.key)) for r in self.labels):
            return False
        return self.matches_name(name)

    def matches_name(self, name: str) -> bool:
        """Whether the field requirements hold; a node without a name is not asked for fields."""
        fields = {NODE_NAME_FIELD: name}
        return not name or all(requirement.matches(fields) for requirement in self.fields)


@dataclass(frozen=True, slots=True)
class CompiledNodeSelector:
    """The non-empty terms of a node selector, one of which must match."""

    terms: tuple[CompiledTerm, ...] = ()

    @property
    def errors(self) -> tuple[FieldError, ...]:
        """The faults of all terms."""
        return tuple(error for term in self.terms for error in term.errors)

    def match(self, labels: Mapping[str, str], name: str) -> tuple[bool, tuple[FieldError, ...]]:
        """Whether a node matches, and, only where no term does, the faults of the unreadable terms."""
        if any(term.matches(labels, name) for term in self.terms):
            return True, ()
        return False, self.errors


@dataclass(frozen=True, slots=True)
class WeightedTerm:
    """A preferred term and what it adds to a matching node's score."""

    weight: int
    term: CompiledTerm


def compile_node_selector(selector: NodeSelector, path: str = "") -> CompiledNodeSelector:
    """Never fails: faults stay with their terms, with places under `path`."""
    place = child(path, "nodeSelectorTerms")
    return CompiledNodeSelector(
        tuple(
            _term(term, f"{place}[{i}]")
            for i, term in enumerate(selector.node_selector_terms)
            if term.match_expressions or term.match_fields
        )
    )


def compile_preferred_terms(
    terms: Sequence[PreferredSchedulingTerm], path: str = ""
) -> tuple[tuple[WeightedTerm, ...], tuple[FieldError, ...]]:
    """The usable terms, or the faults of all of them: one of the two is empty."""
    found = [
        WeightedTerm(wanted.weight, _term(wanted.preference, f"{path}[{i}]"))
        for i, wanted in enumerate(terms)
        if wanted.weight and (wanted.preference.match_expressions or wanted.preference.match_fields)
    ]
    errors = tuple(error for weighted in found for error in weighted.term.errors)
    return ((), errors) if errors else (tuple(found), ())


def _term(term: NodeSelectorTerm, path: str) -> CompiledTerm:
    labels, label_errors = _label_requirements(term.match_expressions, child(path, "matchExpressions"))
    fields, field_errors = _field_requirements(term.match_fields, child(path, "matchFields"))
    return CompiledTerm(tuple(labels), tuple(fields), (*label_errors, *field_errors))


def _label_requirements(
    expressions: Sequence[LabelSelectorRequirement], path: str
) -> tuple[list[Requirement], list[FieldError]]:
    found: list[Requirement] = []
    errors: list[FieldError] = []
    for i, expression in enumerate(expressions):
        place = f"{path}[{i}]"
        if expression.operator not in _OPERATORS:
            errors.append(not_supported(child(place, "operator"), expression.operator, _OPERATORS))
            continue
        operator = Operator(expression.operator)
        errors += requirement_errors(expression.key, operator, expression.values, place)
        found.append(Requirement(expression.key, operator, expression.values))
    return found, errors


def _field_requirements(
    expressions: Sequence[LabelSelectorRequirement], path: str
) -> tuple[list[FieldRequirement], list[FieldError]]:
    found: list[FieldRequirement] = []
    errors: list[FieldError] = []
    for i, expression in enumerate(expressions):
        place = f"{path}[{i}]"
        op = _FIELD_OPERATORS.get(expression.operator)
        if op is None:
            errors.append(
                not_supported(child(place, "operator"), expression.operator, tuple(_FIELD_OPERATORS))
            )
        elif len(expression.values) != 1:
            values = list(expression.values) or None
            errors.append(invalid(child(place, "values"), values, "must have one element"))
        else:
            found.append(FieldRequirement(expression.key, op, expression.values[0]))
    return found, errors
