"""Adapter: a plugin that judges one node at a time becomes a columnar one.

``filter_node`` and ``score_node`` are easier to write than columns, and for a plugin that asks something else than the table
they cost nothing extra. The adapter calls them row by row and gathers the answers, so the runtime knows columns only.

The adapter law: a plugin written per node, adapted, answers exactly what its columnar twin answers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import FilterPlugin, NodeFilterPlugin, NodeScorePlugin, ScorePlugin
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import MAX_REASONS, Column, Reason, Rejections
from scheduler.framework.status import Status


def columnar(plugin: Any) -> Any:
    """The plugin itself when it is columnar already, otherwise a columnar plugin around it.

    What it does at every other extension point stays as it is. A plugin that has both forms of a point keeps its own column.
    """
    adapts_filter = isinstance(plugin, NodeFilterPlugin) and not isinstance(plugin, FilterPlugin)
    adapts_score = isinstance(plugin, NodeScorePlugin) and not isinstance(plugin, ScorePlugin)
    if not (adapts_filter or adapts_score):
        return plugin
    adapter = PerNode(plugin)
    if adapts_filter:
        adapter.provide("filter", adapter.filter_rows)
    if adapts_score:
        adapter.provide("score", adapter.score_rows)
    return adapter


class PerNode:
    """A plugin with the members of another one, and with columns where the other judges single nodes.

    Members become attributes of the instance rather than being looked up dynamically: which points a plugin implements is
    checked by its attributes, and newer Pythons do not see dynamic ones.
    """

    def __init__(self, plugin: Any) -> None:
        self._plugin = plugin
        for member in dir(plugin):
            if not member.startswith("_"):
                self.provide(member, getattr(plugin, member))

    def provide(self, member: str, value: Any) -> None:
        """Give the adapter a member."""
        self.__dict__[member] = value

    def filter_rows(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows whose node is rejected."""
        judge = self._plugin.filter_node
        statuses: list[tuple[int, Status]] = []
        for row in range(len(nodes)):
            status = judge(cycle, NodeInfo(nodes, row))
            if status is not None and not status.ok:
                statuses.append((row, status))
        return _rejections(statuses, len(nodes)) if statuses else None

    def score_rows(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: each node's score."""
        judge = self._plugin.score_node
        rows = range(len(nodes))
        return np.fromiter((judge(cycle, NodeInfo(nodes, row)) for row in rows), np.int64, len(nodes))

    def __repr__(self) -> str:
        return f"PerNode({self._plugin!r})"


def _rejections(statuses: list[tuple[int, Status]], rows: int) -> Rejections:
    """One column of bits for statuses that may each list several reasons, in any order."""
    reasons: list[Reason] = []
    places: dict[Reason, list[int]] = {}
    masks: dict[tuple[Reason, ...], int] = {}
    found: list[tuple[int, int]] = []
    for row, status in statuses:
        listed = tuple(Reason(message, status.code) for message in status.reasons or ("",))
        mask = masks.get(listed)
        if mask is None:
            mask = masks[listed] = _mask(listed, reasons, places)
        found.append((row, mask))
    bits = np.zeros(rows, np.uint64 if len(reasons) <= MAX_REASONS else object)
    for row, mask in found:
        bits[row] = mask
    return Rejections(bits, reasons)


def _mask(listed: tuple[Reason, ...], reasons: list[Reason], places: dict[Reason, list[int]]) -> int:
    """The bits of the listed reasons, ascending in the order listed; reasons that are missing there are appended.

    Args:
        reasons: all reasons so far; ``places`` tells where each of them stands.
    """
    mask = 0
    start = 0
    for reason in listed:
        known = places.setdefault(reason, [])
        place = next((place for place in known if place >= start), len(reasons))
        if place == len(reasons):
            reasons.append(reason)
            known.append(place)
        mask |= 1 << place
        start = place + 1
    return mask
