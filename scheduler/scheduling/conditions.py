"""The status that a failed attempt writes: the PodScheduled condition and the nomination, as one patch.

Nothing is written when nothing changes, so that a pod that keeps failing for the same reason costs no API call (upstream:
``podutil.UpdatePodCondition``, ``updatePod``).
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from scheduler.apis.objects import Condition, Pod

POD_SCHEDULED = "PodScheduled"
REASON_UNSCHEDULABLE = "Unschedulable"
REASON_SCHEDULER_ERROR = "SchedulerError"


def status_patch(
    pod: Pod, reason: str, message: str, nominated: str | None, wall: datetime
) -> dict[str, Any]:
    """The strategic merge patch that brings the pod's status up to date; empty when it is.

    Args:
        pod: the pod as last seen.
        reason: of the condition, Unschedulable or SchedulerError.
        message: of the condition.
        nominated: the node to nominate, ``""`` to clear the nomination, None to leave it.
        wall: now, aware.
    """
    status: dict[str, Any] = {}
    condition = _condition(pod, reason, message, wall)
    if condition:
        status["conditions"] = [condition]
    if nominated is not None:
        status.update(nomination_patch(pod, nominated).get("status", {}))
    return {"status": status} if status else {}


def nomination_patch(pod: Pod, nominated: str) -> dict[str, Any]:
    """The patch that nominates the node, ``""`` for none; empty when it is nominated already."""
    if nominated == pod.status.nominated_node_name:
        return {}
    return {"status": {"nominatedNodeName": nominated or None}}


def scheduled_condition(pod: Pod) -> Condition | None:
    """The pod's PodScheduled condition, None when it has none yet."""
    return next((each for each in pod.status.conditions if each.type == POD_SCHEDULED), None)


def _condition(pod: Pod, reason: str, message: str, wall: datetime) -> dict[str, Any] | None:
    """PodScheduled=False, or None when the pod says so already; the transition time only moves when the status does."""
    known = scheduled_condition(pod) or Condition()
    same_status = known.status == "False"
    if (
        same_status
        and (known.reason, known.message) == (reason, message)
        and known.observed_generation == pod.metadata.generation
    ):
        return None
    since = known.last_transition_time if same_status and known.last_transition_time else _rfc3339(wall)
    condition: dict[str, Any] = {
        "type": POD_SCHEDULED,
        "status": "False",
        "reason": reason,
        "message": message,
        "lastProbeTime": None,
        "lastTransitionTime": since,
    }
    if pod.metadata.generation:
        condition["observedGeneration"] = pod.metadata.generation
    return condition


def _rfc3339(wall: datetime) -> str:
    return wall.strftime("%Y-%m-%dT%H:%M:%SZ")
