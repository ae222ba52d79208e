"""What came of an attempt, as data: which rows passed, who rejected the others and why.

Three values, each of the next wider scope:

* ``FilterOutcome``: the filters' verdict over the rows looked at, and what the rows that were not looked at get instead;
* ``Scores``: one column per score plugin over the rows that passed;
* ``Decision``: the node, or the status that goes into the pod's condition.

Explanations, the webhook's answers and the FailedScheduling event all read these; strings are built when they are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from scheduler.framework.columns import Rows
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Bits, BoolColumn, Column, Rejections
from scheduler.framework.status import SUCCESS, Code, Status


class Failure(NamedTuple):
    """The rows that one plugin was the first to reject: intp[n] row numbers and uint64[n] bits into its reasons."""

    plugin: str
    rows: Rows
    rejections: Rejections

    @property
    def bits(self) -> Bits:
        """uint64[n]: the reasons' bits, one entry per row of ``rows``."""
        return self.rejections.bits


@dataclass(slots=True)
class FilterOutcome:
    """The filters' verdict.

    Attributes:
        nodes: the rows that were looked at: the whole table, or what PreFilter left of it.
        total: the number of nodes in the cluster.
        alive: bool[rows of ``nodes``]: passed, and among those to be scored.
        failures: disjoint sets of rows, each owned by the first plugin that rejected them.
        absent: the status of nodes that were not looked at.
        pre_filter_message: why PreFilter refused the pod altogether, empty when it did not.
        post_filter_message: what the post-filter plugins had to say.
        unschedulable_plugins: the plugins that refused any node; the queue waits for an event that one of them asked for.
        pending_plugins: those among them that answered Pending.
        own_statuses: by node name: what was said of it after the filters, instead of their verdict.
        listed: the names of the rows alive as extenders listed them, in their order and as often; None without extenders.
    """

    nodes: Nodes
    total: int
    alive: BoolColumn
    failures: list[Failure] = field(default_factory=list)
    absent: Status = SUCCESS
    pre_filter_message: str = ""
    post_filter_message: str = ""
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    own_statuses: dict[str, Status] = field(default_factory=dict)
    listed: Sequence[str] | None = None

    def names_alive(self) -> list[str]:
        """The names of the rows alive, in the table's order."""
        names = self.nodes.names
        return [names[row] for row in np.flatnonzero(self.alive).tolist()]

    def status_of(self, node: str) -> Status:
        """The status of one node; Success when it passed."""
        own = self.own_statuses.get(node)
        if own is not None:
            return own
        row = self.nodes.row_of(node)
        if row is None or self.pre_filter_message:
            return self.absent
        for failure in self.failures:
            place = np.flatnonzero(failure.rows == row)
            if len(place):
                return failure.rejections.status(int(place[0]), failure.plugin)
        return SUCCESS

    def reason_counts(self) -> dict[str, int]:
        """How many nodes each reason rejects; a node that lacks two things counts under both."""
        counts: Counter[str] = Counter()
        failed = 0
        for failure in self.failures:
            failed += len(failure.rows)
            for bits, times in zip(*np.unique(failure.bits, return_counts=True), strict=True):
                counts.update(
                    {reason.message: int(times) for reason in failure.rejections.reasons_of(int(bits))}
                )
        for status in self.own_statuses.values():
            failed += 1
            counts.update(status.reasons)
        for reason in self.absent.reasons if failed < self.total else ():
            counts[reason] += self.total - failed
        return dict(counts)

    def message(self) -> str:
        """``0/5 nodes are available: 3 Insufficient cpu, 2 Too many pods. …`` (upstream: ``FitError.Error``)."""
        text = f"0/{self.total} nodes are available:"
        if self.pre_filter_message:
            text += f" {self.pre_filter_message}."
        else:
            reasons = sorted(f"{count} {reason}" for reason, count in self.reason_counts().items())
            text += f" {', '.join(reasons)}." if reasons else ""
        return f"{text} {self.post_filter_message}" if self.post_filter_message else text

    def add_plugin(self, plugin: str, code: Code) -> None:
        """Remember who rejected the pod: the queue waits for events that this plugin asked for."""
        if not plugin:
            return
        if code.rejects:
            self.unschedulable_plugins.add(plugin)
        if code is Code.PENDING:
            self.pending_plugins.add(plugin)

    def reject_node(self, node: str, status: Status) -> None:
        """Give one node a status after the filters (Reserve and Permit refuse the node that was chosen)."""
        self.own_statuses[node] = status
        self.add_plugin(status.plugin, status.code)

    def overrule(self, statuses: Mapping[str, Status]) -> None:
        """Let these statuses, by node name, stand instead of what the filters said (extenders may name any node)."""
        names = self.nodes.names
        for place, one in enumerate(self.failures):
            stays = [names[row] not in statuses for row in one.rows.tolist()]
            if not all(stays):
                kept = np.flatnonzero(stays)
                self.failures[place] = Failure(one.plugin, one.rows[kept], one.rejections.take(kept))
        self.failures = [one for one in self.failures if len(one.rows)]
        self.own_statuses.update(statuses)


class FitError(Exception):
    """The pod fits nowhere; the text is the FailedScheduling event's."""

    def __init__(self, outcome: FilterOutcome) -> None:
        super().__init__(outcome.message())
        self.outcome = outcome


class NoNodesAvailableError(Exception):
    """There is no node at all."""

    def __init__(self) -> None:
        super().__init__("no nodes available to schedule pods")


@dataclass(slots=True)
class Scores:
    """The scores of the rows that passed.

    Attributes:
        nodes: these rows.
        raw: int64[rows] per plugin, before normalizing and weighing.
        weighted: int64[rows] per plugin, as they enter the total.
        total: int64[rows].
    """

    nodes: Nodes
    total: Column
    raw: Mapping[str, Column] = field(default_factory=dict)
    weighted: Mapping[str, Column] = field(default_factory=dict)

    def best_rows(self) -> Rows:
        """intp[...]: the rows with the highest total."""
        return np.flatnonzero(self.total == self.total.max())

    def at(self, row: int) -> dict[str, int]:
        """One row's weighted score per plugin."""
        return {plugin: int(column[row]) for plugin, column in self.weighted.items()}


@dataclass(slots=True)
class Decision:
    """Where the pod goes, or why nowhere.

    Attributes:
        status: Success with a ``node``; otherwise what the failure handler writes, ``error`` set to its cause.
        nominated: the node to write into ``status.nominatedNodeName``; ``""`` clears it, None leaves it.
        outcome: the filters' verdict; None when it did not come to one.
        scores: None when a single node was left, which is taken without scoring.
        chosen: the node's weighted score per plugin, empty when there are no scores.
        post_filter: what the PostFilter plugins answered; None when none was asked.
        evaluated: the number of nodes whose filters were read.
        feasible: the number of those that were left to choose from.
    """

    status: Status
    node: str = ""
    outcome: FilterOutcome | None = None
    scores: Scores | None = None
    chosen: Mapping[str, int] = field(default_factory=dict)
    nominated: str | None = ""
    post_filter: Status | None = None
    evaluated: int = 0
    feasible: int = 0

    def drop_columns(self) -> None:
        """Let go of ``outcome`` and ``scores``, whose rows are those of a table that goes on changing; they are large, too."""
        self.outcome = self.scores = None
