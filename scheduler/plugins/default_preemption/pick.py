"""The pick: which candidate hurts least.

One key after another, as long as several candidates are equally good (upstream: ``pickOneNodeForPreemption``):

1. the fewest violations of disruption budgets;
2. the lowest highest priority among the victims;
3. the smallest sum of priorities, each raised above zero, so that fewer pods of negative priority are better than more;
4. the fewest victims;
5. the latest start of the oldest among the victims of the highest priority.

What is equal in all of them is equally good: upstream takes the first that its map yields, which is any.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scheduler.framework.pods import PodInfo
from scheduler.plugins.default_preemption.victims import started

_ABOVE_ZERO: Final = 2**31
"""Added to a priority, which is an int32."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which the pod would fit.

    Attributes:
        node: its name.
        victims: the pods that have to go, at least one, the most important first.
        violations: how many of them violate a disruption budget.
    """

    node: str
    victims: tuple[PodInfo, ...]
    violations: int


def equally_good(candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that hurt least, in the order given; any of them may be picked."""
    keys = [_harm(candidate) for candidate in candidates]
    least = min(keys, default=None)
    return [candidate for candidate, key in zip(candidates, keys, strict=True) if key == least]


def _harm(candidate: Candidate) -> tuple[int, int, int, int, float]:
    victims = candidate.victims
    # The first victim's, which is the highest: victims come in order of importance.
    highest = victims[0].priority
    oldest = min(pod.derived(started) for pod in victims if pod.priority == highest)
    return (
        candidate.violations,
        highest,
        sum(pod.priority + _ABOVE_ZERO for pod in victims),
        len(victims),
        -oldest,
    )
