"""The atoms of selectors: one key, one operator, some values.

Label selectors, node selectors and selector texts all compile to `Requirement`s. A requirement looks at one label only,
so that the columnar side can judge it once per distinct value of that label (`matches_value`) and gather the answers by
row; the whole-object form is `matches`. `FieldRequirement` is its counterpart for fields such as `metadata.name`.

The rules are those of apimachinery `labels.Requirement` and `fields.Selector`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from scheduler.apis.fielderror import FieldError, aggregate, invalid
from scheduler.apis.names import label_key_faults, label_value_faults

_INTEGER = re.compile(r"[+-]?[0-9]{1,64}")
_INT64_END: Final = 1 << 63


class SelectorError(ValueError):
    """A selector that upstream refuses. `errors` names every faulty place; a faulty text has a message only."""

    def __init__(self, message: str, errors: Sequence[FieldError] = ()) -> None:
        super().__init__(message)
        self.errors: tuple[FieldError, ...] = tuple(errors)


class Operator(StrEnum):
    """The operators, in the API's words. `=` and `==` are `In` with one value, `!=` is `NotIn` with one value."""

    IN = "In"
    NOT_IN = "NotIn"
    EXISTS = "Exists"
    DOES_NOT_EXIST = "DoesNotExist"
    GT = "Gt"
    LT = "Lt"


_SIGN: Final = {Operator.IN: "=", Operator.NOT_IN: "!=", Operator.GT: ">", Operator.LT: "<"}
_WORD: Final = {Operator.IN: "in", Operator.NOT_IN: "notin"}


@dataclass(frozen=True, slots=True)
class Requirement:
    """A demand on the label `key`. Hashable, so that compiled columns can be kept per requirement."""

    key: str
    operator: Operator
    values: tuple[str, ...] = ()

    def matches_value(self, value: str | None) -> bool:
        """Whether the label's value satisfies this; `None` means that the label is absent.

        An absent label satisfies `NotIn` and `DoesNotExist`. `Gt` and `Lt` compare 64-bit integers; what is not one
        never matches.
        """
        operator = self.operator
        if operator is Operator.IN:
            return value is not None and value in self.values
        if operator is Operator.NOT_IN:
            return value is None or value not in self.values
        if operator is Operator.EXISTS:
            return value is not None
        if operator is Operator.DOES_NOT_EXIST:
            return value is None
        return value is not None and self._compares(value)

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether an object with these labels satisfies this."""
        return self.matches_value(labels.get(self.key))

    def _compares(self, value: str) -> bool:
        left = parse_int64(value)
        right = parse_int64(self.values[0]) if len(self.values) == 1 else None
        if left is None or right is None:
            return False
        return left > right if self.operator is Operator.GT else left < right

    def __str__(self) -> str:
        if self.operator is Operator.EXISTS:
            return self.key
        if self.operator is Operator.DOES_NOT_EXIST:
            return f"!{self.key}"
        if len(self.values) == 1:
            return f"{self.key}{_SIGN[self.operator]}{self.values[0]}"
        return f"{self.key} {_WORD[self.operator]} ({','.join(sorted(self.values))})"


@dataclass(frozen=True, slots=True)
class FieldRequirement:
    """A demand on the field `path` (`metadata.name`, `spec.nodeName`): `op` is `=` or `!=`. An absent field is empty."""

    path: str
    op: str
    value: str

    def matches(self, fields: Mapping[str, str]) -> bool:
        """Whether an object with these fields satisfies this."""
        return (fields.get(self.path, "") == self.value) is (self.op == "=")

    def __str__(self) -> str:
        escaped = re.sub(r"([\\,=])", r"\\\1", self.value)
        return f"{self.path}{self.op}{escaped}"


def parse_int64(text: str) -> int | None:
    """The 64-bit integer that Go's ParseInt reads from `text` in base 10, or None."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -_INT64_END <= number < _INT64_END else None


def requirement_errors(
    key: str, operator: Operator, values: Sequence[str], path: str = "", *, exact: bool = False
) -> list[FieldError]:
    """Everything that is wrong with a requirement, under `path`. `exact` words it for `=`, `==` and `!=`."""
    errors = [*label_key_errors(key, child(path, "key"))]
    place = child(path, "values")
    rule = _count_rule(operator, len(values), exact=exact)
    if rule:
        errors.append(invalid(place, list(values) or None, rule))
    for i, value in enumerate(values):
        if operator in (Operator.GT, Operator.LT) and parse_int64(value) is None:
            detail = "for 'Gt', 'Lt' operators, the value must be an integer"
            errors.append(invalid(f"{place}[{i}]", value, detail))
    for i, value in enumerate(values):
        faults = label_value_faults(value)
        if faults:
            errors.append(invalid(f"{place}[{i}][{key}]", value, "; ".join(faults)))
    return errors


def label_key_errors(key: str, path: str) -> list[FieldError]:
    """At most one error, which holds all that is wrong with the key."""
    faults = label_key_faults(key)
    return [invalid(path, key, "; ".join(faults))] if faults else []


def new_requirement(
    key: str, operator: Operator, values: Sequence[str] = (), *, exact: bool = False
) -> Requirement:
    """A valid requirement. Raises `SelectorError` with every fault."""
    errors = requirement_errors(key, operator, values, exact=exact)
    if errors:
        raise SelectorError(aggregate(errors), errors)
    return Requirement(key, operator, tuple(values))


def child(path: str, name: str) -> str:
    """The path of a field of the struct at `path`."""
    return f"{path}.{name}" if path else name


def _count_rule(operator: Operator, count: int, *, exact: bool) -> str:
    if exact:
        return "" if count == 1 else "exact-match compatibility requires one single value"
    if operator in (Operator.IN, Operator.NOT_IN):
        return "" if count else "for 'in', 'notin' operators, values set can't be empty"
    if operator in (Operator.GT, Operator.LT):
        return "" if count == 1 else "for 'Gt', 'Lt' operators, exactly one value is required"
    return "values set must be empty for exists and does not exist" if count else ""
