"""Filtering: all rows at once, with the pods counted that were promised room on some of them.

::

    rows with nominated pods ──put on a copy──> filters ──fail──> rejected
                │ pass
    all rows ───┴───> filters ──> FilterOutcome

The same filters answer what-ifs, for preemption and whoever else asks what would be if other pods were there (``Hypothesis``).
(upstream: ``RunFilterPluginsWithNominatedPods``)
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.framework.extenders import Extenders, Victims
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import Failure, FilterOutcome
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Reason
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.framework.status import SUCCESS, Status


class Nominated(Protocol):
    """Pods that were promised room on a node (by preemption, or by ``status.nominatedNodeName``) and are not placed yet."""

    @property
    def nodes_with_nominations(self) -> Collection[str]:
        """The names of the nodes that have any."""
        ...

    def nominated_on(self, node: str) -> tuple[PodInfo, ...]:
        """The pods nominated to one node."""
        ...


class FilterError(PluginError):
    """A filter answered Error for some nodes; ``outcome`` has the verdict on all of them."""

    def __init__(self, text: str, plugin: str, outcome: FilterOutcome) -> None:
        super().__init__(text, plugin)
        self.outcome = outcome


def filter_rows(
    framework: Framework, cycle: Cycle, nodes: Nodes, nominated: Nominated, absent: Status = SUCCESS
) -> FilterOutcome:
    """Filter all rows; those with nominated pods have to pass both with these pods and without them.

    Args:
        absent: the status of nodes that are not among the rows.

    Raises:
        FilterError: a filter answered Error for some rows.
        PluginError: a plugin failed.
    """
    alive = np.ones(len(nodes), np.bool_)
    outcome = FilterOutcome(nodes, nodes.total, alive, absent=absent)
    with framework.timed("Filter"):
        outcome.failures += _filter_with_nominated(framework, cycle, nodes, nominated, alive)
        outcome.failures += framework.filter(cycle, nodes, alive)
        errors = [error for failure in outcome.failures for error in _account(outcome, failure)]
    if errors:
        text, plugin = min(errors)
        raise FilterError(text, plugin, outcome)
    return outcome


def _filter_with_nominated(
    framework: Framework, cycle: Cycle, nodes: Nodes, nominated: Nominated, alive: BoolColumn
) -> list[Failure]:
    """The rows that fail when the pods nominated to them are taken for placed (upstream: ``addGENominatedPods``)."""
    guests = {
        row: waiting
        for node in nominated.nodes_with_nominations
        if (row := nodes.row_of(node)) is not None
        and (waiting := _rivals(cycle.pod_info, nominated.nominated_on(node)))
    }
    if not guests:
        return []
    # A plugin that does not keep rows apart must count the guests of one node at a time.
    groups = [[row] for row in guests] if framework.counts_pods(cycle) else [list(guests)]
    failures: list[Failure] = []
    for rows in groups:
        index = np.array(rows, np.intp)
        waiting_there = [guests[row] for row in rows]
        for failure in _filter_with_guests(framework, cycle, nodes.take(index), waiting_there):
            failures.append(failure._replace(rows=index[failure.rows]))
            alive[index[failure.rows]] = False
    return failures


def _filter_with_guests(
    framework: Framework, cycle: Cycle, what_if: Nodes, guests: list[list[PodInfo]]
) -> list[Failure]:
    """The rows of ``what_if`` that fail once the guests, a list for each row, are on them."""
    hypothesis = cycle.clone()
    for row, waiting in enumerate(guests):
        for pod in waiting:
            what_if.add_pod(row, pod)
            _raise_failure(framework.add_pod(hypothesis, pod, what_if, row))
    return framework.filter(hypothesis, what_if, np.ones(len(what_if), np.bool_))


def _raise_failure(status: Status) -> None:
    if not status.ok:
        raise PluginError(status.message)


def _rivals(pod: PodInfo, waiting: tuple[PodInfo, ...]) -> list[PodInfo]:
    """The pods that come before this one: it must not take the room made for them."""
    return [other for other in waiting if other.priority >= pod.priority and other.uid != pod.uid]


def _account(outcome: FilterOutcome, failure: Failure) -> list[tuple[str, str]]:
    """Note who refused; what is no refusal is returned, each with its plugin."""
    reasons = failure.rejections.reasons_of(int(np.bitwise_or.reduce(failure.bits)))
    errors = [_described(reason) for reason in reasons if not reason.code.rejects]
    if not reasons:
        errors.append("it gave no reason")
    for reason in reasons:
        outcome.add_plugin(failure.plugin, reason.code)
    return [(f'running "{failure.plugin}" filter plugin: {error}', failure.plugin) for error in errors]


def _described(reason: Reason) -> str:
    return reason.message or f"unexpected status {reason.code.label}"


class Hypothesis:
    """The filters for a what-if (see ``interface.WhatIf``)."""

    __slots__ = ("_extenders", "_framework", "_nominated")

    def __init__(
        self, framework: Framework, nominated: Nominated, extenders: Extenders | None = None
    ) -> None:
        self._framework = framework
        self._nominated = nominated
        self._extenders = extenders

    def counts_pods(self, cycle: Cycle) -> bool:
        """Whether a pod on one row may change the verdict on another."""
        return self._framework.counts_pods(cycle)

    def add_pod(self, cycle: Cycle, nodes: Nodes, row: int, pod: PodInfo) -> None:
        """Put a pod on a row."""
        nodes.add_pod(row, pod)
        _raise_failure(self._framework.add_pod(cycle, pod, nodes, row))

    def remove_pod(self, cycle: Cycle, nodes: Nodes, row: int, pod: PodInfo) -> None:
        """Take a pod off a row."""
        known = nodes.remove_pod(row, pod)
        _raise_failure(self._framework.remove_pod(cycle, known, nodes, row))

    def filter(self, cycle: Cycle, nodes: Nodes) -> FilterOutcome:
        """Filter the rows, nominated pods counted."""
        return filter_rows(self._framework, cycle, nodes, self._nominated)

    def ask_extenders(self, cycle: Cycle, nodes: Nodes, candidates: Sequence[Victims]) -> Sequence[Victims]:
        """Have the extenders look at the candidates of a preemption; without extenders they stay as they are."""
        if self._extenders is None:
            return candidates
        return self._extenders.preempt(cycle.pod_info, nodes, candidates)
