"""Stage: the real scheduling loop, one turn at a time, in one thread, on a clock of its own.

::

    step ──> a pod was tried ──────────────> what it left to workers, and again
         └─> nothing to try: workers? ─────> and again
                             somebody waits? ─> the clock moves on to when
                             nobody ──────────> the end

Whatever the loop leaves to workers (bindings, evictions, status patches) is done between two turns, in order. So a simulation gives the
same result every time, but for the seed with which ties between equal nodes are broken.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

from prometheus_client import CollectorRegistry

from scheduler.apis.objects import Pod
from scheduler.app.build import SchedulerHandle, build_frameworks, build_scheduler
from scheduler.app.cli.inputs import Deciders
from scheduler.app.cli.simulate.memory import Memory
from scheduler.explain.objects import Objects
from scheduler.framework.catalog import Catalog
from scheduler.framework.evictions import Evictions
from scheduler.framework.live import Live
from scheduler.framework.nodes import Nodes
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.scheduling.parts import Clocks, Outside
from scheduler.scheduling.scheduler import Scheduler

_EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
_TICK = 1e-6
"""Seconds that pass whenever somebody looks at the clock, so that what comes first is earlier."""
_TURNS_PER_POD = 20
_TURNS_AT_LEAST = 1000
_NEVER = math.inf


class Later:
    """A crew that does nothing until it is told to."""

    def __init__(self, works: deque[Callable[[], None]]) -> None:
        self._works = works

    def submit(self, work: Callable[[], None]) -> None:
        """Remember it."""
        self._works.append(work)

    def stop(self, timeout: float | None) -> int:  # noqa: ARG002  # the protocol's
        """Nothing runs by itself."""
        return 0


class Stage:
    """A scheduler over an in-memory cluster.

    Args:
        objects: the cluster; pods on a node are there, the others stay outside.
        who: the configuration that decides.
        seed: breaks ties among equal nodes.

    Attributes:
        memory: what has become of everything.
        exhausted: the loop was stopped since it went round in circles.
    """

    def __init__(self, objects: Objects, who: Deciders, seed: int) -> None:
        self.memory = Memory()
        self.exhausted = False
        self._time = 0.0
        self._works: deque[Callable[[], None]] = deque()
        self._waiting = WaitingPods(self._now)
        self._scheduler = self._build(who, Random(seed))
        self.memory.fill(objects, self._scheduler, [pod for pod in objects.pods if pod.spec.node_name])
        self._scheduler.lead()

    @property
    def nodes(self) -> Nodes:
        """The nodes as the scheduler has them. Read it between two runs."""
        with self._scheduler.current():
            return self._scheduler.cluster.nodes

    def knows(self, scheduler_name: str) -> bool:
        """Whether a profile is responsible for pods of that ``schedulerName``."""
        return scheduler_name in self._scheduler.frameworks

    def run(self, *pods: Pod, progress: Callable[[int], None] = lambda placed: None) -> None:  # noqa: ARG005
        """Create the pods, and schedule until nothing moves any more; ``progress`` is told the number of pods placed so far."""
        for pod in pods:
            self.memory.add(pod)
        turns = _TURNS_AT_LEAST + _TURNS_PER_POD * len(self._scheduler.queue) + _TURNS_PER_POD * len(pods)
        for _ in range(turns):
            pause = self._scheduler.step()
            worked = self._work()
            progress(len(self.memory.placements))
            if pause is not None and not worked and not self._pass_time(pause):
                return
        self.exhausted = True

    def reason(self, pod: Pod) -> str:
        """Why a pod has no node."""
        if not self.knows(pod.spec.scheduler_name):
            return f"no profile has the schedulerName {pod.spec.scheduler_name}"
        queued = self._scheduler.queue.get(pod)
        if queued is not None and queued.gated:
            return f"{queued.gating_plugin}: {', '.join(queued.gating_reasons)}"
        return self.memory.messages.get(pod.full_name, "it was not tried")

    def _work(self) -> bool:
        """Do what was left to workers; False: there was nothing."""
        if not self._works:
            return False
        while self._works:
            self._works.popleft()()
        return True

    def _pass_time(self, pause: float) -> bool:
        """Move the clock to when somebody wakes up; False: nobody will."""
        counts = self._scheduler.queue.pending_counts()
        if not counts["active"] and not counts["backoff"] and self._waiting.next_deadline() is None:
            return False
        self._time += max(pause, _TICK)
        return pause < _NEVER

    def _wait(self, seconds: float) -> bool:
        """Somebody waits for others, who are us."""
        self._time += seconds
        with self._scheduler.current():
            return False

    def _now(self) -> float:
        self._time += _TICK
        return self._time

    def _build(self, who: Deciders, rng: Random) -> Scheduler:
        memory, catalog, metrics = self.memory, Catalog(), Metrics(CollectorRegistry())
        live = Live(memory.lookup, memory.nodes.get, now=self._now, wait=self._wait)
        handle = SchedulerHandle(who.features, memory, self._waiting, catalog, Evictions(), rng, live)
        frameworks = build_frameworks(who.component, who.registry, handle, metrics)
        return build_scheduler(
            who.component,
            frameworks,
            self._waiting,
            Outside(memory, dict.fromkeys(frameworks, memory), memory.lookup, live),
            metrics,
            Clocks(self._now, lambda: _EPOCH + timedelta(seconds=self._time)),
            rng,
            features=who.features,
            max_in_unschedulable=_NEVER,
            catalog=catalog,
            evictions=handle.evictions,
            crew=lambda name, threads: Later(self._works),  # noqa: ARG005
        )
