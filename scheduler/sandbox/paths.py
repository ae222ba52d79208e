"""Reading a field by the steps of its path, as selectors, tables and rules name fields: `status.phase`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def at(value: Any, steps: Iterable[str]) -> Any:
    """The value behind the steps (`"status.phase".split(".")`), None where one of them leads nowhere."""
    for step in steps:
        value = value.get(step) if isinstance(value, dict) else None
    return value
