"""Decisions: the last attempt of each pod, kept so that "why is it there?" and "why is it pending?" have an answer.

Bounded: when it is full, the pod whose attempt lies furthest back is forgotten. Pods that are gone are forgotten at once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from scheduler.scheduling.attempt import Attempt

_LIMIT = 10_000


@dataclass(frozen=True, slots=True)
class Record:
    """What became of one attempt.

    Attributes:
        result: ``scheduled``, ``unschedulable`` or ``error``.
        node: the node chosen, ``""`` when none was.
        message: the reason in kube-scheduler's words, ``""`` when scheduled.
        scores: the chosen node's weighted score per plugin; empty when it was the only one that fit.
        total: their sum.
        evaluated: nodes looked at.
        feasible: nodes that passed the filters.
        attempts: attempts so far.
    """

    namespace: str
    name: str
    result: str
    node: str = ""
    message: str = ""
    scores: Mapping[str, int] = field(default_factory=dict)
    total: int = 0
    evaluated: int = 0
    feasible: int = 0
    attempts: int = 0

    def as_json(self) -> dict[str, Any]:
        """The record as ``GET /decisions`` shows it."""
        return {name: getattr(self, name) for name in self.__slots__}


class Decisions:
    """Records by pod uid; any thread may read."""

    def __init__(self, limit: int = _LIMIT) -> None:
        self._limit = limit
        self._lock = Lock()
        self._records: OrderedDict[str, Record] = OrderedDict()

    def keep(self, attempt: Attempt, result: str, message: str = "") -> None:
        """Remember an attempt."""
        decision, meta = attempt.decision, attempt.queued.pod.metadata
        record = Record(
            namespace=meta.namespace,
            name=meta.name,
            result=result,
            node=decision.node if result == "scheduled" else "",
            message=message,
            scores=decision.chosen,
            total=sum(decision.chosen.values()),
            evaluated=decision.evaluated,
            feasible=decision.feasible,
            attempts=attempt.queued.attempts,
        )
        with self._lock:
            self._records[meta.uid] = record
            self._records.move_to_end(meta.uid)
            if len(self._records) > self._limit:
                self._records.popitem(last=False)

    def forget(self, uid: str) -> None:
        """The pod is gone."""
        with self._lock:
            self._records.pop(uid, None)

    def all(self) -> list[Record]:
        """Every record, the latest attempt last."""
        with self._lock:
            return list(self._records.values())
