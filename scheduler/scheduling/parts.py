"""Parts: what the stages of an attempt share. The Scheduler makes them once and hands them to each stage.

::

    Scheduler ── Parts ──> SchedulingCycle ──> BindingCycle
                   │             │                  │
                   ├─────────────┴───> FailureHandler <
                   └──> ClusterEvents, BackgroundEvictor
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from scheduler.apis.objects import Pod
from scheduler.backend.cluster import ClusterState
from scheduler.backend.queue import SchedulingQueue
from scheduler.framework.live import Live
from scheduler.framework.port import Port, Recorder
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.scheduling.decisions import Decisions
from scheduler.scheduling.prebinding import PreBindings
from scheduler.scheduling.status_writer import StatusWriter
from scheduler.scheduling.workers import Crew

Report = Callable[[Callable[[], None]], None]
"""Has a function run by the scheduling thread, under the lock."""

_BINDERS = 16
_PREPARERS = 1024
"""Many, since a pod whose volumes are being made occupies one for minutes; they are threads that sleep."""
_EVICTORS = 16
_WRITERS = 4
"""Few, so that the statuses of many refused pods leave most of the client's rate to bindings."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The clocks that are passed in: ``now`` in monotonic seconds, ``wall`` aware."""

    now: Callable[[], float]
    wall: Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Outside:
    """What the scheduler touches of the world outside.

    Attributes:
        port: the API server.
        recorders: one per profile, by ``schedulerName``.
        lookup: the pod as last seen, by namespace and name; None when it is gone.
        live: what plugins that wait may ask; the same object that the plugins' handle has.
    """

    port: Port
    recorders: Mapping[str, Recorder]
    lookup: Callable[[str, str], Pod | None]
    live: Live = field(default_factory=Live)


class Crews:
    """Who does what blocks, by kind of work.

    Args:
        crew: makes one, by name and number of threads.
    """

    def __init__(self, crew: Callable[[str, int], Crew]) -> None:
        self.binders = crew("binding", _BINDERS)
        self.preparers = crew("pre-binding", _PREPARERS)
        self.writers = crew("status", _WRITERS)
        self.evictors = crew("eviction", _EVICTORS)

    def stop(self, patience: float | None) -> int:
        """Begin nothing more; how many works have not ended within ``patience`` seconds each."""
        everybody = (self.writers, self.evictors, self.binders, self.preparers)
        for each in everybody:
            each.stop(0)  # all of them, before any of them is waited for
        return sum(each.stop(patience) for each in everybody)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts.

    Attributes:
        frameworks: the profiles by ``schedulerName``, as they are now.
        recorders: one per profile, those of profiles that are gone included.
        lookup: the pod as the informer has it now, by namespace and name; None when it is gone.
        statuses: writes what is to be said about a pod.
        pre_bindings: where preemption may call pods back from PreBind.
        report: has a function run by the scheduling thread.
    """

    frameworks: Mapping[str, Framework]
    cluster: ClusterState
    queue: SchedulingQueue
    waiting: WaitingPods
    decisions: Decisions
    recorders: Mapping[str, Recorder]
    port: Port
    lookup: Callable[[str, str], Pod | None]
    statuses: StatusWriter
    crews: Crews
    pre_bindings: PreBindings
    metrics: Metrics
    clocks: Clocks
    report: Report
