"""The ledger: every pod of the cluster, what has become of it, and when.

::

    waiting ──> bound
       │
       ├──> unschedulable   PodScheduled=False, reason Unschedulable: looked at and refused
       └──> gated           spec.schedulingGates is not empty: not looked at

Only what the API server says counts. The informer's thread writes, the demo's main thread reads.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from scheduler.apis.objects import Pod
from scheduler.scheduling.conditions import REASON_UNSCHEDULABLE, scheduled_condition

State = Literal["waiting", "bound", "unschedulable", "gated"]


@dataclass(frozen=True, slots=True)
class Placement:
    """A pod that was given a node while we watched.

    Attributes:
        at: seconds on the ledger's clock.
    """

    at: float
    pod: str
    node: str


def state_of(pod: Pod) -> State:
    """What has become of the pod."""
    if pod.spec.node_name:
        return "bound"
    if pod.spec.scheduling_gates:
        return "gated"
    told = scheduled_condition(pod)
    refused = told is not None and told.status == "False" and told.reason == REASON_UNSCHEDULABLE
    return "unschedulable" if refused else "waiting"


class Ledger:
    """A handler for an informer of pods. Thread-safe."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._changed = threading.Condition()
        self._pods: dict[str, Pod] = {}
        self._placements: list[Placement] = []
        self._bound_before: dict[str, Placement] = {}

    def on_add(self, pod: Pod, initial: bool) -> None:
        """A pod exists. Who placed one that was bound before we looked, the manifest or the scheduler, is told by ``claim``."""
        with self._changed:
            if pod.spec.node_name and initial:
                self._bound_before[pod.full_name] = Placement(self._now(), pod.full_name, pod.spec.node_name)
            elif pod.spec.node_name:
                self._place(pod)
            self._pods[pod.full_name] = pod
            self._changed.notify_all()

    def on_update(self, old: Pod, new: Pod) -> None:
        """A pod changed."""
        with self._changed:
            if new.spec.node_name and not old.spec.node_name:
                self._place(new)
            self._pods[new.full_name] = new
            self._changed.notify_all()

    def on_delete(self, pod: Pod) -> None:
        """A pod is gone."""
        with self._changed:
            self._pods.pop(pod.full_name, None)
            self._changed.notify_all()

    def _place(self, pod: Pod) -> None:
        self._placements.append(Placement(self._now(), pod.full_name, pod.spec.node_name))

    def claim(self, names: Iterable[str]) -> None:
        """These pods were placed by the scheduler, even if that was before we looked."""
        with self._changed:
            early = [self._bound_before.pop(name) for name in names if name in self._bound_before]
            self._placements[:0] = early

    def pods(self) -> list[Pod]:
        """All pods, by name."""
        with self._changed:
            return [self._pods[name] for name in sorted(self._pods)]

    def placements(self, since: int = 0) -> list[Placement]:
        """The placements in their order, from the ``since``-th on."""
        with self._changed:
            return self._placements[since:]

    def counts(self) -> Counter[State]:
        """How many pods are in each state."""
        with self._changed:
            return Counter(map(state_of, self._pods.values()))

    def wait(self, seconds: float) -> None:
        """Return when something has changed, or after that time."""
        with self._changed:
            self._changed.wait(seconds)


def rate(placements: list[Placement]) -> float:
    """Pods per second from the first placement to the last; 0 when there are fewer than two."""
    if len(placements) < 2:
        return 0.0
    return (len(placements) - 1) / max(placements[-1].at - placements[0].at, 1e-3)
