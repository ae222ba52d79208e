"""PrioritySort: the pod with the highest priority first, among equals the one that has waited longest.

Upstream: ``plugins/queuesort``.
"""

from __future__ import annotations

from typing import Any, Final

from scheduler.framework.interface import Handle, QueuedPod


class PrioritySort:
    """Orders the active queue."""

    name: Final = "PrioritySort"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""

    def sort_key(self, queued: QueuedPod) -> tuple[int, float]:
        """(descending priority, time of entry)."""
        return -queued.pod_info.priority, queued.timestamp
