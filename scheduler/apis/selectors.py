"""Label selectors: which objects are meant.

An API `LabelSelector` compiles to a `Selector`, a conjunction of `Requirement`s. Two borders matter to every plugin that
uses one (apimachinery `metav1.LabelSelectorAsSelector`): a selector that is *absent* matches nothing, a selector that is
*empty* matches everything.

Node selectors, which are alternatives of such conjunctions, are in `node_selectors`; the text forms of query strings in
`selector_text`. Both are re-exported here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scheduler.apis.fielderror import quote
from scheduler.apis.node_selectors import (
    CompiledNodeSelector,
    CompiledTerm,
    WeightedTerm,
    compile_node_selector,
    compile_preferred_terms,
)
from scheduler.apis.objects import LabelSelector
from scheduler.apis.requirements import (
    FieldRequirement,
    Operator,
    Requirement,
    SelectorError,
    new_requirement,
)
from scheduler.apis.selector_text import parse_field_selector, parse_requirements

__all__ = [
    "EVERYTHING",
    "NOTHING",
    "CompiledNodeSelector",
    "CompiledTerm",
    "FieldRequirement",
    "Operator",
    "Requirement",
    "Selector",
    "SelectorError",
    "WeightedTerm",
    "compile_label_selector",
    "compile_node_selector",
    "compile_preferred_terms",
    "parse_field_selector",
    "parse_label_selector",
    "selector_from_set",
]

_LABEL_OPERATORS: Final = frozenset({Operator.IN, Operator.NOT_IN, Operator.EXISTS, Operator.DOES_NOT_EXIST})


@dataclass(frozen=True, slots=True)
class Selector:
    """All `requirements` must hold. With `nothing` set it matches no object at all. Hashable."""

    requirements: tuple[Requirement, ...] = ()
    nothing: bool = False

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels is selected."""
        return not self.nothing and all(r.matches_value(labels.get(r.key)) for r in self.requirements)

    @property
    def empty(self) -> bool:
        """Whether the selector restricts nothing."""
        return not self.nothing and not self.requirements

    def __str__(self) -> str:
        return ",".join(str(requirement) for requirement in self.requirements)


EVERYTHING: Final = Selector()
NOTHING: Final = Selector(nothing=True)


def compile_label_selector(selector: LabelSelector | None) -> Selector:
    """The selector of an API object. Raises `SelectorError` for what upstream refuses: keys, values, operators."""
    if selector is None:
        return NOTHING
    found = [
        new_requirement(key, Operator.IN, (value,), exact=True)
        for key, value in sorted(selector.match_labels.items())
    ]
    for expression in selector.match_expressions:
        if expression.operator not in _LABEL_OPERATORS:
            raise SelectorError(f"{quote(expression.operator)} is not a valid label selector operator")
        found.append(new_requirement(expression.key, Operator(expression.operator), expression.values))
    return _selector(found)


def selector_from_set(labels: Mapping[str, str]) -> Selector:
    """The selector that wants exactly these labels (a pod's `nodeSelector`), unchecked, as upstream leaves it."""
    return _selector([Requirement(key, Operator.IN, (value,)) for key, value in labels.items()])


def parse_label_selector(text: str) -> Selector:
    """The selector of a query string, e.g. `a=b,c in (d,e),!f,g!=h`. Raises `SelectorError`."""
    return _selector(parse_requirements(text))


def _selector(requirements: list[Requirement]) -> Selector:
    return Selector(tuple(sorted(requirements, key=lambda requirement: requirement.key)))
