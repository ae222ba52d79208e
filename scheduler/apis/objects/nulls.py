"""Nulls as Go reads them: the zero value of whatever stands there.

A field that is null is absent, but a null *inside* a map or list is an entry with the zero value: ``requests: {cpu: null}`` asks for
no cpu, and says so, where ``requests: {}`` is silent and gets a default for scoring. So the nulls of a document can only be
taken out by somebody who knows its type.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from msgspec import inspect

Clean = Callable[[Any], Any]

_ZEROS: dict[type[inspect.Type], Any] = {
    inspect.StrType: "",
    inspect.IntType: 0,
    inspect.FloatType: 0.0,
    inspect.BoolType: False,
}


def without_nulls(kind: Any, document: Any) -> Any:
    """The document with its nulls replaced; what is of the wrong type is left for the decoder to find."""
    return _cleaner_of(kind)(document)


@cache
def _cleaner_of(kind: Any) -> Clean:
    return _cleaner(inspect.type_info(kind))


def _cleaner(kind: inspect.Type) -> Clean:
    """What takes the nulls out of a value of the type."""
    kind = _plain(kind)
    if isinstance(kind, inspect.StructType):
        return _struct(kind.cls)
    if isinstance(kind, inspect.DictType):
        return _mapping(_cleaner(kind.value_type), _zero(kind.value_type))
    if isinstance(kind, inspect.VarTupleType | inspect.ListType):
        return _sequence(_cleaner(kind.item_type), _zero(kind.item_type))
    return _unchanged


def _struct(cls: type[Any]) -> Clean:
    fields = {field.encode_name: _cleaner(field.type) for field in fields_of(cls)}

    def clean(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: fields.get(key, _unchanged)(item) for key, item in value.items() if item is not None}

    return clean


def _mapping(clean_item: Clean, zero: Any) -> Clean:
    def clean(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {key: zero if item is None else clean_item(item) for key, item in value.items()}

    return clean


def _sequence(clean_item: Clean, zero: Any) -> Clean:
    def clean(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return [zero if item is None else clean_item(item) for item in value]

    return clean


def _unchanged(value: Any) -> Any:
    return value


def fields_of(cls: type[Any]) -> tuple[inspect.Field, ...]:
    """The fields of a struct, with their types."""
    found = inspect.type_info(cls)
    return found.fields if isinstance(found, inspect.StructType) else ()


def _plain(kind: inspect.Type) -> inspect.Type:
    """The type without its metadata and without its being optional."""
    if isinstance(kind, inspect.Metadata):
        return _plain(kind.type)
    if isinstance(kind, inspect.UnionType):
        kinds = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
        return _plain(kinds[0])
    return kind


def _zero(kind: inspect.Type) -> Any:
    """Go's zero value, as JSON has it; for a quantity, which may be text or a number, 0."""
    if isinstance(kind, inspect.UnionType) and len(kind.types) > 1 and not kind.includes_none:
        return 0
    plain = _plain(kind)
    if isinstance(plain, inspect.StructType | inspect.DictType):
        return {}
    if isinstance(plain, inspect.VarTupleType | inspect.ListType):
        return []
    return _ZEROS.get(type(plain))
