"""What an API server would not have stored: quantities and times that cannot be read.

Decoding leaves them as text: most are never looked at, and looking at each of 50,000 pods would take seconds. Who takes objects
from people, instead of from a server, has them verified first.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache
from typing import Any

from msgspec import inspect

from scheduler.apis.objects.decode import DecodeError
from scheduler.apis.objects.nulls import fields_of
from scheduler.apis.quantity import QuantityError, from_json

Check = Callable[[Any, str], None]

_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def verify(obj: Any) -> None:
    """Look at every quantity and every time of a decoded object.

    Raises:
        DecodeError: one cannot be read; the text ends with its place, as decoding itself puts it.
    """
    kind: Any = type(obj)
    check = _check_of(kind)
    if check is not None:
        check(obj, "$")


@cache
def _check_of(cls: Any) -> Check | None:
    checks = [
        (field.name, field.encode_name, check)
        for field in fields_of(cls)
        if (check := _check(field.type)) is not None
    ]

    def check_fields(obj: Any, path: str) -> None:
        for name, wire_name, check in checks:
            check(getattr(obj, name), f"{path}.{wire_name}")

    return check_fields if checks else None


def _check(kind: inspect.Type) -> Check | None:
    """What to look at in a value of the type; None when there is nothing."""
    if isinstance(kind, inspect.Metadata):
        return _time if (kind.extra or {}).get("format") == "date-time" else _check(kind.type)
    if isinstance(kind, inspect.UnionType):
        return _check_union(kind)
    if isinstance(kind, inspect.StructType):
        cls: Any = kind.cls
        return _check_of(cls)
    if isinstance(kind, inspect.DictType):
        return _each(_check(kind.value_type), dict.items)
    if isinstance(kind, inspect.VarTupleType):
        return _each(_check(kind.item_type), enumerate)
    return None


def _check_union(kind: inspect.UnionType) -> Check | None:
    kinds = [each for each in kind.types if not isinstance(each, inspect.NoneType)]
    check = _quantity if len(kinds) > 1 else _check(kinds[0])
    if check is None or len(kinds) == len(kind.types):
        return check

    def check_present(value: Any, path: str) -> None:
        if value is not None:
            check(value, path)

    return check_present


def _each(check: Check | None, items_of: Callable[[Any], Any]) -> Check | None:
    if check is None:
        return None

    def check_items(value: Any, path: str) -> None:
        for key, item in items_of(value):
            check(item, f"{path}[{key}]" if isinstance(key, int) else f"{path}.{key}")

    return check_items


def _quantity(value: Any, path: str) -> None:
    try:
        from_json(value)
    except QuantityError as error:
        raise DecodeError(f"{error} - at `{path}`") from error


def _time(value: str, path: str) -> None:
    if not value:
        return
    readable = _RFC_3339.fullmatch(value) is not None
    if readable:
        try:
            datetime.strptime(value[:19], "%Y-%m-%dT%H:%M:%S")  # noqa: DTZ007  # only whether there is such a moment
        except ValueError:
            readable = False
    if not readable:
        raise DecodeError(f"{value!r} is not a time such as 2006-01-02T15:04:05Z - at `{path}`")
