"""Dry run: which pods would have to leave a node for the pod to fit there, for many nodes at once.

Upstream copies one node after another, removes every pod of lower priority, and puts them back one by one, the most important
first, as long as the pod still fits (``SelectVictimsOnNode``). Here the nodes are rows of one selection::

    remove all pods of lower priority from all rows        filter once      rows that fail are no candidates
    put the 1st pod of every row back                      filter once      where the pod no longer fits: a victim
    put the 2nd pod of every row back                      filter once      …

Rows do not see one another, so a row gets the answer that it would get alone; plugins that count pods over several nodes keep
what changes on each row apart. Where one does not (``what_if.counts_pods``), a pod that leaves one row may change the verdict on
another, and each row is asked about alone.

Pods whose eviction would violate a disruption budget are put back first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from scheduler.framework.columns import Rows
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import WhatIf
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import Failure, FilterOutcome
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Reason, Rejections
from scheduler.framework.runner import PluginError
from scheduler.framework.status import Code
from scheduler.plugins.default_preemption.pick import Candidate
from scheduler.plugins.default_preemption.victims import Budgets, most_important_first

NO_VICTIMS: Final = Reason(
    "No preemption victims found for incoming pod", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What came of some rows.

    Attributes:
        candidates: by row number, in the order in which the rows were asked about.
        failures: the rows on which the pod cannot be made to fit.
    """

    candidates: dict[int, Candidate] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)


@dataclass(slots=True)
class _Row:
    """One row that is being put back in order: the pods still to be put back, and what is known of those that were.

    Attributes:
        waiting: the pods that were taken off, in the order in which they are put back.
        protected: how many of them, from the first on, violate a disruption budget.
        victims: those that have to go.
        violations: how many of those violate one.
    """

    waiting: list[PodInfo]
    protected: int
    victims: list[PodInfo] = field(default_factory=list)
    violations: int = 0


class DryRun:
    """Asks what would happen to the pod of ``cycle``. Nothing outside changes.

    Args:
        nodes: the cluster's table.
    """

    def __init__(self, cycle: Cycle, nodes: Nodes, what_if: WhatIf, budgets: Budgets) -> None:
        self._cycle = cycle
        self._nodes = nodes
        self._what_if = what_if
        self._budgets = budgets
        self._priority = cycle.pod_info.priority

    def with_victims(self, rows: Rows) -> BoolColumn:
        """bool[rows]: where any pod of lower priority runs."""
        index = self._nodes.pods_by(_priorities)
        lower = [priority for priority in index.keys() if priority < self._priority]  # noqa: SIM118  # no mapping
        return index.counts(lower, self._nodes.total)[rows] > 0

    def judge(self, rows: Rows) -> Verdicts:
        """Which pods have to leave these rows; on each of them runs a pod of lower priority."""
        if len(rows) > 1 and self._what_if.counts_pods(self._cycle):
            return self._one_by_one(rows)
        try:
            return self._together(rows)
        except PluginError as error:
            if len(rows) > 1:  # whose fault it is can be seen alone
                return self._one_by_one(rows)
            return Verdicts(failures=[failure(error.plugin, rows, Reason(str(error), Code.ERROR))])

    def _one_by_one(self, rows: Rows) -> Verdicts:
        together = Verdicts()
        for place in range(len(rows)):
            verdicts = self.judge(rows[place : place + 1])
            together.candidates.update(verdicts.candidates)
            together.failures.extend(verdicts.failures)
        return together

    def _together(self, rows: Rows) -> Verdicts:
        cycle, there = self._cycle.clone(), self._nodes.take(rows)
        removed = [self._remove_lower(cycle, there, row) for row in range(len(there))]
        outcome = self._what_if.filter(cycle, there)
        left = {row: self._in_order(pods) for row, pods in enumerate(removed) if outcome.alive[row]}
        for asked in _rounds(left):
            self._put_back(cycle, there, asked)
        verdicts = Verdicts(failures=[each._replace(rows=rows[each.rows]) for each in outcome.failures])
        for row, state in left.items():
            self._conclude(verdicts, rows[row : row + 1], there.names[row], state)
        return verdicts

    def _remove_lower(self, cycle: Cycle, there: Nodes, row: int) -> list[PodInfo]:
        pods = [pod for pod in there.pods(row) if pod.priority < self._priority]
        for pod in pods:
            self._what_if.remove_pod(cycle, there, row, pod)
        return pods

    def _in_order(self, pods: Sequence[PodInfo]) -> _Row:
        protected, others = self._budgets.split(most_important_first(pods))
        return _Row([*protected, *others], len(protected))

    def _put_back(self, cycle: Cycle, there: Nodes, asked: list[tuple[int, int, _Row]]) -> None:
        """Put one pod of every row back, and take it off again where the pod does not fit beside it."""
        for row, place, state in asked:
            self._what_if.add_pod(cycle, there, row, state.waiting[place])
        alive = self._what_if.filter(cycle, there).alive
        for row, place, state in asked:
            if not alive[row]:
                victim = state.waiting[place]
                self._what_if.remove_pod(cycle, there, row, victim)
                state.victims.append(victim)
                state.violations += place < state.protected

    def _conclude(self, verdicts: Verdicts, row: Rows, node: str, state: _Row) -> None:
        if not state.victims:
            reason = Reason(f'expected at least one victim pod on node "{node}"', Code.ERROR)
            verdicts.failures.append(failure("", row, reason))
            return
        victims = state.victims
        if 0 < state.protected < len(state.waiting):  # else they are in order
            victims = most_important_first(victims)
        verdicts.candidates[int(row[0])] = Candidate(node, tuple(victims), state.violations)


def failure(plugin: str, rows: Rows, reason: Reason) -> Failure:
    """These rows, rejected for one reason."""
    return Failure(plugin, rows, Rejections(np.ones(len(rows), np.uint64), (reason,)))


def empty_outcome(nodes: Nodes) -> FilterOutcome:
    """An outcome in which no row has been looked at."""
    return FilterOutcome(nodes, nodes.total, np.zeros(len(nodes), np.bool_))


def _rounds(left: dict[int, _Row]) -> Iterator[list[tuple[int, int, _Row]]]:
    """For each round (row, place, state) of the rows that have a pod left to put back."""
    longest = max((len(state.waiting) for state in left.values()), default=0)
    for place in range(longest):
        yield [(row, place, state) for row, state in left.items() if place < len(state.waiting)]


def _priorities(pod: PodInfo) -> tuple[int]:
    return (pod.priority,)
