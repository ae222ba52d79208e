"""The verdict: is everything judged, and did it come out as expected?

"All that can be placed is placed" means: every pod is bound, or gated, or was refused by every node. Manifests may say more: a pod with the
annotation ``wharfinger.dev/expect: pending`` has to stay pending, and where any pod carries it, all pods without it have to be bound.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.apis.objects import Pod
from scheduler.app.cli.demo.ledger import state_of
from scheduler.scheduling.conditions import scheduled_condition

EXPECT = "wharfinger.dev/expect"
PENDING = "pending"


def settled(pods: Sequence[Pod]) -> bool:
    """Whether no pod waits any more."""
    return all(state_of(pod) != "waiting" for pod in pods)


def unjudged(pods: Sequence[Pod]) -> list[str]:
    """One line per pod that still waits."""
    return [
        f"{pod.full_name} was not judged ({_last_condition(pod)})"
        for pod in pods
        if state_of(pod) == "waiting"
    ]


def surprises(pods: Sequence[Pod]) -> list[str]:
    """One line per pod that came out otherwise than expected."""
    complete = any(_expects_pending(pod) for pod in pods)
    lines = []
    for pod in pods:
        state = state_of(pod)
        if _expects_pending(pod) and state == "bound":
            lines.append(f"{pod.full_name} was bound to {pod.spec.node_name}, expected to stay pending")
        elif complete and not _expects_pending(pod) and state != "bound":
            lines.append(f"{pod.full_name} is {state}, expected to be bound")
    return lines


def _expects_pending(pod: Pod) -> bool:
    return pod.metadata.annotations.get(EXPECT) == PENDING


def _last_condition(pod: Pod) -> str:
    told = scheduled_condition(pod)
    if told is not None:
        return f"{told.reason}: {told.message}"
    return f"schedulerName {pod.spec.scheduler_name}: no attempt yet"
