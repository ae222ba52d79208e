"""The status that the scheduler writes: conditions and the nomination of a pod, as one patch.

A failed attempt writes PodScheduled and the nomination, an eviction DisruptionTarget. Nothing is written when nothing changes, so that a pod that keeps failing for the same reason costs no API call (upstream:
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
    condition = _condition(pod, Condition(POD_SCHEDULED, "False", reason, message), wall)
    if condition:
        status.update(_conditions(pod, condition))
    if nominated is not None:
        status.update(nomination_patch(pod, nominated).get("status", {}))
    return {"status": status} if status else {}


def nomination_patch(pod: Pod, nominated: str) -> dict[str, Any]:
    """The patch that nominates the node, ``""`` for none; empty when it is nominated already."""
    if nominated == pod.status.nominated_node_name:
        return {}
    return {"status": {"nominatedNodeName": nominated or None}}


def condition_patch(pod: Pod, wanted: Condition, wall: datetime) -> dict[str, Any]:
    """The patch that gives the pod the condition (type, status, reason and message of it); empty when it has it already."""
    condition = _condition(pod, wanted, wall)
    return {"status": _conditions(pod, condition)} if condition else {}


def scheduled_condition(pod: Pod) -> Condition | None:
    """The pod's PodScheduled condition, None when it has none yet."""
    return _known(pod, POD_SCHEDULED)


def _conditions(pod: Pod, condition: dict[str, Any]) -> dict[str, Any]:
    """The condition in its place: behind the ones that the pod has already, unless it is one of them.

    Without an order, the API server puts what is new in front.
    """
    kinds = dict.fromkeys([*(each.type for each in pod.status.conditions), condition["type"]])
    return {"$setElementOrder/conditions": [{"type": kind} for kind in kinds], "conditions": [condition]}


def _known(pod: Pod, kind: str) -> Condition | None:
    return next((each for each in pod.status.conditions if each.type == kind), None)


def _condition(pod: Pod, wanted: Condition, wall: datetime) -> dict[str, Any] | None:
    """The condition, or None when the pod says so already; the transition time only moves when the status does."""
    known = _known(pod, wanted.type) or Condition()
    same_status = known.status == wanted.status
    if (
        same_status
        and (known.reason, known.message) == (wanted.reason, wanted.message)
        and known.observed_generation == pod.metadata.generation
    ):
        return None
    since = known.last_transition_time if same_status and known.last_transition_time else _rfc3339(wall)
    condition: dict[str, Any] = {
        "type": wanted.type,
        "status": wanted.status,
        "reason": wanted.reason,
        "message": wanted.message,
        "lastProbeTime": None,
        "lastTransitionTime": since,
    }
    if pod.metadata.generation:
        condition["observedGeneration"] = pod.metadata.generation
    return condition


def _rfc3339(wall: datetime) -> str:
    return wall.strftime("%Y-%m-%dT%H:%M:%SZ")
