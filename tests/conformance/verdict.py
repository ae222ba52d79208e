"""What came of the comparison of one vector."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Verdict:
    """What came of one vector.

    Attributes:
        name: the scenario's name.
        compared: the fields that were compared.
        differences: a line per difference.
    """

    name: str
    compared: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def check(self, name: str, expected: Any, actual: Any) -> None:
        """Compare one field; of a mapping, its entries."""
        self.compared.append(name)
        if expected == actual:
            return
        if isinstance(expected, dict) and isinstance(actual, dict):
            for key in sorted(expected.keys() | actual.keys()):
                if expected.get(key) != actual.get(key):
                    self._differ(f"{name}[{key}]", expected.get(key), actual.get(key))
        else:
            self._differ(name, expected, actual)

    def _differ(self, name: str, expected: Any, actual: Any) -> None:
        self.differences.append(f"{self.name}: {name}: expected {expected!r}, got {actual!r}")
