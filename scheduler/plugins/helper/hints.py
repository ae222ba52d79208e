"""What several queueing hints ask of a changed pod."""

from __future__ import annotations

from typing import Any

from scheduler.apis.objects import Pod
from scheduler.framework.events import QueueingHint


def after_own_change(pod: Pod, old: Any, new: Any) -> QueueingHint:
    """The hint of an event that helps only the pod to which it happened."""
    return QueueingHint.QUEUE if new.metadata.uid == pod.metadata.uid else QueueingHint.SKIP


def held_room(pod: Pod) -> bool:
    """Whether a pod that went away had a node, or was promised one."""
    return bool(pod.spec.node_name or pod.status.nominated_node_name)
