"""Taints and tolerations (upstream: ``v1.Toleration.ToleratesTaint``, ``corev1.FindMatchingUntoleratedTaint``)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from scheduler.apis.objects import Taint, Toleration
from scheduler.apis.requirements import parse_int64

NO_SCHEDULE: Final = "NoSchedule"
NO_EXECUTE: Final = "NoExecute"
PREFER_NO_SCHEDULE: Final = "PreferNoSchedule"
REPELLING: Final = frozenset((NO_SCHEDULE, NO_EXECUTE))
"""The effects that keep pods off a node; ``PreferNoSchedule`` only costs it score."""

COMPARISON_GATE: Final = "TaintTolerationComparisonOperators"
"""The feature gate for the operators ``Lt`` and ``Gt``."""

_DECIMAL = re.compile(r"0|-?[1-9][0-9]*")


def tolerated(taint: Taint, tolerations: Iterable[Toleration], *, comparisons: bool) -> bool:
    """Whether any of the tolerations tolerates the taint; ``comparisons`` allows the operators ``Lt`` and ``Gt``."""
    return any(_tolerates(toleration, taint, comparisons) for toleration in tolerations)


def untolerated(
    taints: Iterable[Taint],
    tolerations: Sequence[Toleration],
    effects: Collection[str],
    *,
    comparisons: bool,
) -> int:
    """How many taints of these effects are not tolerated."""
    return sum(
        taint.effect in effects and not tolerated(taint, tolerations, comparisons=comparisons)
        for taint in taints
    )


def _tolerates(toleration: Toleration, taint: Taint, comparisons: bool) -> bool:
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    operator = toleration.operator
    if operator in ("", "Equal"):
        return toleration.value == taint.value
    if operator == "Exists":
        return True
    return comparisons and operator in ("Lt", "Gt") and _compares(operator, taint.value, toleration.value)


def _compares(operator: str, taint_value: str, tolerated_value: str) -> bool:
    taint, bound = _integer(taint_value), _integer(tolerated_value)
    if taint is None or bound is None:
        return False
    return taint < bound if operator == "Lt" else taint > bound


def _integer(text: str) -> int | None:
    return parse_int64(text) if _DECIMAL.fullmatch(text) else None
