"""Where in an object a quantity cannot be read. Asked only once one could not, so a plain walk will do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from scheduler.apis import quantity
from scheduler.apis.quantity import QuantityError

_LISTS = frozenset({"requests", "limits", "overhead", "allocatable", "allocatedResources"})


def unreadable(obj: msgspec.Struct) -> str:
    """``spec.containers[0].resources.requests.cpu: "plenty": …``; the first of them, ``""`` when there is none."""
    return next(_faults(msgspec.to_builtins(obj), ""), "")


def _faults(value: Any, path: str, *, amounts: bool = False) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _faults(item, f"{path}.{key}" if path else key, amounts=key in _LISTS or amounts)
    elif isinstance(value, list | tuple):
        for place, item in enumerate(value):
            yield from _faults(item, f"{path}[{place}]")
    elif amounts:
        try:
            quantity.from_json(value)
        except QuantityError as error:
            yield f"{path}: {str(value)[:64]!r}: {error}"
