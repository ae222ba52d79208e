"""DefaultPreemption's class: what it decides is ``evaluation``'s business, what is done about it the evictor's.

While the victims are being evicted, PreEnqueue keeps the preemptor out of the queue: it would find the node still full, and
preempt again. It is let in once the last victim's deletion has begun; the deletions themselves wake it up, through the plugins that
refused it, so the hint for them says Skip here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scheduler.apis.config.args import DefaultPreemptionArgs
from scheduler.apis.objects import Pod, PodDisruptionBudget
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.evictions import Preemption
from scheduler.framework.interface import Handle, PostFilterResult, WhatIf
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome
from scheduler.framework.status import Status
from scheduler.plugins.default_preemption.evaluation import Evaluation, evaluate
from scheduler.plugins.default_preemption.victims import Budgets

_RUNNING = Status.unresolvable("waiting for the preemption for this pod to be finished")


class DefaultPreemption:
    """Makes room for a pod that fits nowhere, at the cost of pods of lower priority."""

    name: Final = "DefaultPreemption"
    reads: Final = (PodDisruptionBudget,)

    def __init__(self, args: DefaultPreemptionArgs | None, handle: Handle) -> None:
        self._args = args or DefaultPreemptionArgs()
        self._budgets = Budgets(handle.catalog.pod_disruption_budgets)
        self._evictions = handle.evictions
        self._rng = handle.rng
        self._waits = handle.features.enabled("SchedulerAsyncPreemption")

    @property
    def budgets(self) -> Budgets:
        """The cluster's disruption budgets, for whoever asks what an eviction would violate."""
        return self._budgets

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Deleted pods may open the gate; whether they help is for the plugins to say that refused the pod."""
        if not self._waits:
            return ()
        deleted = ClusterEvent(EventResource.POD, ActionType.DELETE)
        return (ClusterEventWithHint(deleted, _leave_it_to_the_others),)

    def pre_enqueue(self, pod: Pod) -> Status | None:
        """Refuse a pod whose victims are being evicted."""
        return _RUNNING if self._waits and self._evictions.is_running(pod.metadata.uid) else None

    def post_filter(
        self, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome, what_if: WhatIf
    ) -> PostFilterResult:
        """Find victims and have them evicted. The evaluation is kept in ``cycle.state`` for whoever explains."""
        self._evictions.attempted()
        found = cycle.state[self.name] = self.evaluate(cycle, nodes, outcome, what_if)
        if found.selected:
            picked = found.selected[0]
            victims = tuple(victim.pod for victim in picked.victims)
            self._evictions.begin(Preemption(cycle.pod, picked.node, victims, self.name))
        return PostFilterResult(_announced(found.status), found.nominated)

    def evaluate(self, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome, what_if: WhatIf) -> Evaluation:
        """What ``post_filter`` would find; nothing is done about it."""
        return evaluate(cycle, nodes, outcome, what_if, self._budgets, self._args, self._rng)


def _announced(status: Status) -> Status:
    """The status, its message marked as preemption's."""
    return Status(status.code, (f"preemption: {status.message}",)) if status.reasons else status


def _leave_it_to_the_others(pod: Pod, old: Any, new: Any) -> QueueingHint:  # the protocol's
    return QueueingHint.SKIP
