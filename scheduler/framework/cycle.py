"""Cycle: one attempt to schedule one pod, and the notes that plugins keep from one extension point to the next."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from scheduler.apis.objects import Pod
from scheduler.framework.pods import PodInfo


class Cycle:
    """One attempt.

    Attributes:
        pod_info: the pod and its derived facts.
        state: plugins' notes, by plugin name: written in ``pre_filter`` / ``pre_score``, read in ``filter`` / ``score``.
            A value with a ``clone()`` method is cloned for a what-if, others are shared.
        skipped_filters: the plugins whose ``pre_filter`` said Skip: their ``filter`` is not called.
        skipped_scores: the same for ``pre_score`` and ``score``.
        skipped_pre_binds: the same for ``pre_bind_pre_flight`` and ``pre_bind``.
        record_plugin_metrics: whether each plugin's duration is measured in this attempt (a sample of them is).
    """

    __slots__ = (
        "pod_info",
        "record_plugin_metrics",
        "skipped_filters",
        "skipped_pre_binds",
        "skipped_scores",
        "state",
    )

    def __init__(self, pod_info: PodInfo, *, record_plugin_metrics: bool = False) -> None:
        self.pod_info = pod_info
        self.state: dict[str, Any] = {}
        self.skipped_filters: Collection[str] = frozenset()
        self.skipped_scores: frozenset[str] = frozenset()
        self.skipped_pre_binds: frozenset[str] = frozenset()
        self.record_plugin_metrics = record_plugin_metrics

    @property
    def pod(self) -> Pod:
        """The pod."""
        return self.pod_info.pod

    def clone(self) -> Cycle:
        """A copy for a what-if: what plugins note in it stays in it."""
        copy = Cycle(self.pod_info)
        copy.state = {
            name: note.clone() if hasattr(note, "clone") else note for name, note in self.state.items()
        }
        copy.skipped_filters = self.skipped_filters
        copy.skipped_scores = self.skipped_scores
        return copy
