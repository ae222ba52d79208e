"""What came of a simulation, for programs: the JSON of ``-o json``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.app.cli.simulate.memory import Placement
from scheduler.app.cli.simulate.usage import Usages


@dataclass(frozen=True, slots=True)
class Waiting:
    """A pod that has no node, and why."""

    pod: str
    reason: str


@dataclass(frozen=True, slots=True)
class Full:
    """How many copies fit, and what keeps the next one out.

    Attributes:
        limit: empty when as many as were asked for fit.
    """

    copies: int
    limit: str


@dataclass(frozen=True, slots=True)
class Result:
    """The whole of it.

    Attributes:
        placed: in the order in which they were bound.
        evicted: the pods that had to go, each with the node that it was on.
        before, after: how full the nodes are.
        full: with ``--until-full``.
    """

    placed: Sequence[Placement]
    pending: Sequence[Waiting]
    evicted: Sequence[Placement]
    before: Usages
    after: Usages
    full: Full | None = None

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        found: dict[str, Any] = {
            "placed": [{"pod": each.pod, "node": each.node} for each in self.placed],
            "pending": [{"pod": each.pod, "reason": each.reason} for each in self.pending],
            "evicted": [{"pod": each.pod, "node": each.node} for each in self.evicted],
            "utilisation": {node: self._of_node(node) for node in self.after},
        }
        if self.full is not None:
            found["untilFull"] = {"copies": self.full.copies, "limitedBy": self.full.limit}
        return found

    def _of_node(self, node: str) -> dict[str, Any]:
        before = self.before[node]
        return {
            resource: {
                "allocatable": usage.allocatable,
                "before": before[resource].requested if resource in before else 0,
                "after": usage.requested,
            }
            for resource, usage in self.after[node].items()
        }
