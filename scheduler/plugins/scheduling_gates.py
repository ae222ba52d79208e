"""SchedulingGates: a pod with ``spec.schedulingGates`` stays out of the queue until the last gate is removed.

Upstream: ``plugins/schedulinggates``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scheduler.apis.objects import Pod
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Handle
from scheduler.framework.status import Status
from scheduler.plugins.helper.hints import after_own_change


class SchedulingGates:
    """Keeps gated pods out of the queue."""

    name: Final = "SchedulingGates"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """The pod's own last gate was removed."""
        gates = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (ClusterEventWithHint(gates, after_own_change),)

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Refuse a pod that has gates."""
        gates = pod.spec.scheduling_gates
        if not gates:
            return None
        return Status.unresolvable(f"waiting for scheduling gates: [{' '.join(gate.name for gate in gates)}]")
