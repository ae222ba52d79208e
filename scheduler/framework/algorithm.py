"""The scheduling algorithm: (cluster, pod, framework) -> decision. Pure: nothing outside the cycle changes.

::

    PreFilter ──refused──────────────────────────────┐
        │                                            ▼
    nominated node of the pod fits? ──yes──> it    PostFilter ──> Decision(Unschedulable, FitError)
        │ no                                         ▲
    Filter, nominated pods counted ──nothing left────┤
        │                                            │
    extenders' filter, if any ───────nothing left────┘
        │
    one left? ──yes──> it
        │ no
    PreScore, Score, Normalize, extenders' prioritize, if any ──> the best, at random among equals ──> Decision(node)

The loop, the webhook, explanations, simulation and benchmarks all come through here (upstream: ``schedulingAlgorithm``,
``schedulePod``, ``findNodesThatFitPod``).
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from random import Random

import numpy as np

from scheduler.framework.columns import Rows
from scheduler.framework.cycle import Cycle
from scheduler.framework.extenders import Extenders, score, sift
from scheduler.framework.filtering import Hypothesis, Nominated, filter_rows
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import (
    Decision,
    FilterOutcome,
    FitError,
    NoNodesAvailableError,
    Scores,
)
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.framework.status import SUCCESS, Code, Status

logger = logging.getLogger(__name__)

_MIN_FEASIBLE_NODES = 100


class Rotation:
    """Where sampling starts, so that every node gets its turn when not all are looked at."""

    __slots__ = ("start",)

    def __init__(self) -> None:
        self.start = 0


def decide(
    framework: Framework,
    cycle: Cycle,
    nodes: Nodes,
    nominated: Nominated,
    rng: Random,
    rotation: Rotation,
    extenders: Extenders | None = None,
) -> Decision:
    """Decide where the pod goes.

    Args:
        framework: the pod's profile.
        cycle: the attempt; plugins note in it.
        nodes: the whole cluster's table.
        nominated: the pods that were promised room.
        rng: chooses among the best.
        rotation: where sampling goes on; moved when not all nodes are looked at.
        extenders: who else is asked.

    A plugin's or an extender's failure is an Error status of the decision, never an exception.

    Raises:
        scheduler.framework.extenders.Overtaken: extenders were asked, and it has to be decided again.
    """
    if not len(nodes):
        error = NoNodesAvailableError()
        return Decision(Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (str(error),), error=error))
    try:
        outcome = find_feasible(framework, cycle, nodes, nominated, rotation, extenders)
        if not outcome.alive.any():
            what_if = Hypothesis(framework, nominated, extenders)
            return _no_fit(framework, cycle, nodes, outcome, what_if)
        return _choose(framework, cycle, outcome, rng, extenders)
    except PluginError as error:
        return Decision(Status.failure(error))


def find_feasible(
    framework: Framework,
    cycle: Cycle,
    nodes: Nodes,
    nominated: Nominated,
    rotation: Rotation,
    extenders: Extenders | None = None,
) -> FilterOutcome:
    """Run PreFilter, the filters and the extenders' filters.

    Raises:
        PluginError: a plugin failed, or answered Error for a node.
    """
    status, names, narrowing = framework.pre_filter(cycle, nodes)
    if not status.ok:
        return _refused(nodes, status, narrowing)
    own = _own_nomination(framework, cycle, nodes, nominated, extenders)
    if own is not None:
        return own
    outcome = _filter_narrowed(framework, cycle, nodes, nominated, names, narrowing)
    _sample(framework, outcome, rotation, extenders)
    if extenders is not None and extenders.filters:
        sift(extenders, cycle.pod_info, outcome)
    return outcome


def judge(
    framework: Framework, cycle: Cycle, nodes: Nodes, rows: Rows, nominated: Nominated
) -> FilterOutcome:
    """Run PreFilter over the cluster and the filters over some of its rows: over each of them, with no sampling.

    For whoever asks about given nodes instead of looking for one (the webhook).

    Raises:
        PluginError: a plugin failed, or answered Error for a node.
    """
    status, names, narrowing = framework.pre_filter(cycle, nodes)
    asked = nodes.take(rows)
    if not status.ok:
        return _refused(asked, status, narrowing)
    return _filter_narrowed(framework, cycle, asked, nominated, names, narrowing)


def _filter_narrowed(
    framework: Framework,
    cycle: Cycle,
    nodes: Nodes,
    nominated: Nominated,
    names: Collection[str] | None,
    narrowing: list[str],
) -> FilterOutcome:
    """Filter the rows that PreFilter left; ``names`` None: all of them."""
    if names is None:
        return filter_rows(framework, cycle, nodes, nominated)
    absent = Status.unresolvable(f"node(s) didn't satisfy plugin(s) [{' '.join(narrowing)}]")
    outcome = filter_rows(framework, cycle, nodes.take(nodes.rows_of(sorted(names))), nominated, absent)
    outcome.unschedulable_plugins.update(narrowing)
    return outcome


def _refused(nodes: Nodes, status: Status, narrowing: list[str]) -> FilterOutcome:
    if not status.rejected:
        raise PluginError(status.message) from status.error
    outcome = FilterOutcome(nodes, nodes.total, np.zeros(len(nodes), np.bool_))
    outcome.absent = status
    outcome.pre_filter_message = status.message
    outcome.add_plugin(status.plugin, status.code)
    outcome.unschedulable_plugins.update(narrowing)
    return outcome


def _own_nomination(
    framework: Framework, cycle: Cycle, nodes: Nodes, nominated: Nominated, extenders: Extenders | None
) -> FilterOutcome | None:
    """The outcome for the pod's own nominated node alone, when it fits there: it is likely the only one that does."""
    nominee = cycle.pod.status.nominated_node_name
    row = nodes.row_of(nominee)
    if row is None:
        return None
    try:
        outcome = filter_rows(framework, cycle, nodes.take(np.array([row], np.intp)), nominated)
        if extenders is not None and extenders.filters:
            sift(extenders, cycle.pod_info, outcome, nominated=True)
    except PluginError as error:
        logger.error("pod %s on its nominated node %s: %s", cycle.pod.full_name, nominee, error)
        return None
    return outcome if outcome.alive.any() else None


def _sample(
    framework: Framework, outcome: FilterOutcome, rotation: Rotation, extenders: Extenders | None
) -> None:
    """Keep the first feasible rows from where the last attempt stopped, as many as the percentage asks for."""
    count = len(outcome.nodes)
    wanted = _nodes_to_find(framework.percentage_of_nodes_to_score, count)
    if not framework.plugins_at("score") and not (extenders and (extenders.filters or extenders.scores)):
        wanted = 1
    if wanted >= count:
        return
    order = np.roll(np.arange(count), -(rotation.start % count))
    found = np.flatnonzero(outcome.alive[order])
    processed = count if len(found) < wanted else int(found[wanted - 1]) + 1
    outcome.alive[order[processed:]] = False
    rotation.start = (rotation.start + processed) % outcome.total


def _nodes_to_find(percentage: int, count: int) -> int:
    """How many feasible nodes suffice (upstream: ``numFeasibleNodesToFind``).

    Upstream's 0 means a share that shrinks with the cluster, because it judges nodes one by one. Columns make judging all of
    them cheap, so 0 means all of them here.
    """
    if count < _MIN_FEASIBLE_NODES or percentage == 0:
        return count
    return max(count * percentage // 100, _MIN_FEASIBLE_NODES)


def _no_fit(
    framework: Framework, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome, what_if: Hypothesis
) -> Decision:
    nominated: str | None = ""
    answer: Status | None = None
    if framework.plugins_at("postFilter"):
        result = framework.post_filter(cycle, nodes, outcome, what_if)
        answer = result.status
        outcome.post_filter_message = answer.message
        nominated = result.nominated_node
    error = FitError(outcome)
    status = Status(Code.UNSCHEDULABLE, (str(error),), error=error)
    return Decision(
        status, outcome=outcome, nominated=nominated, post_filter=answer, evaluated=len(outcome.nodes)
    )


def _choose(
    framework: Framework, cycle: Cycle, outcome: FilterOutcome, rng: Random, extenders: Extenders | None
) -> Decision:
    rows = np.flatnonzero(outcome.alive)
    decision = Decision(SUCCESS, outcome=outcome, evaluated=len(outcome.nodes), feasible=len(rows))
    if len(rows) == 1:
        decision.node = outcome.nodes.names[rows[0]]
        return decision
    scores = prioritize(
        framework, cycle, outcome.nodes if len(rows) == len(outcome.nodes) else outcome.nodes.take(rows)
    )
    if extenders is not None and extenders.scores:
        score(extenders, cycle.pod_info, outcome, scores)
    best = scores.best_rows()
    row = int(best[0] if len(best) == 1 else best[rng.randrange(len(best))])
    decision.node, decision.scores, decision.chosen = scores.nodes.names[row], scores, scores.at(row)
    return decision


def prioritize(framework: Framework, cycle: Cycle, nodes: Nodes) -> Scores:
    """Score rows that passed the filters; without score plugins each gets a total of 1.

    Raises:
        PluginError: a plugin failed.
    """
    if not framework.plugins_at("score"):
        return Scores(nodes, np.ones(len(nodes), np.int64))
    status = framework.pre_score(cycle, nodes)
    if not status.ok:
        raise PluginError(status.message) from status.error
    return framework.score(cycle, nodes)
