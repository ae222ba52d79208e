"""Evaluation: may the pod preempt, where, and whom? Pure; the answer holds everything that an explanation needs.

::

    eligible? ──no──> Unschedulable: why not                        the nomination stays
        │
    nodes that an eviction may help (Unschedulable, not Unresolvable)
        │
    dry run, from a random one on, until there are enough candidates
        │
    none? ──> Unschedulable: "0/N nodes are available: …"           the nomination is cleared
        │     Error, when a plugin failed                           the nomination stays
    other extenders, if any, drop candidates and change victims
        │
    none left? ──> Unschedulable: "no candidate node for preemption", or Error    the nomination stays
        │
    the pick ──> Success                                            the pod is nominated

Upstream: ``Evaluator.Preempt``, ``DryRunPreemption``, ``PodEligibleToPreemptOthers``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, Final

import numpy as np

from scheduler.apis.config.args import DefaultPreemptionArgs
from scheduler.apis.objects import Pod
from scheduler.framework.columns import Rows
from scheduler.framework.cycle import Cycle
from scheduler.framework.extenders import Victims
from scheduler.framework.interface import WhatIf
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome
from scheduler.framework.runner import PluginError
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.plugins.default_preemption.dry_run import NO_VICTIMS, DryRun, empty_outcome, failure
from scheduler.plugins.default_preemption.pick import Candidate, equally_good
from scheduler.plugins.default_preemption.victims import Budgets

DISRUPTION_TARGET: Final = "DisruptionTarget"
PREEMPTION_BY_SCHEDULER: Final = "PreemptionByScheduler"
_NEVER = "not eligible due to preemptionPolicy=Never."
_TERMINATING = "not eligible due to a terminating pod on the nominated node."
_NO_CANDIDATE = Status.unschedulable("no candidate node for preemption")
_NOT_HELPFUL = Status.unresolvable("Preemption is not helpful for scheduling")


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What preemption would do.

    Attributes:
        status: Success, or why nothing can be done.
        nominated: the nomination to write: a node, ``""`` to clear it, None to leave it.
        ineligible: why the pod may not preempt; empty when it may.
        potential: intp[...]: the rows of the cluster's table that an eviction may help.
        candidates: where the pod could be made to fit; those that violate no disruption budget first.
        dry_run: why it could not on the other nodes; None when there was no dry run.
        selected: the candidates that hurt least, of which the first is picked.
    """

    status: Status
    nominated: str | None = None
    ineligible: str = ""
    potential: Rows = field(default_factory=lambda: np.empty(0, np.intp))
    candidates: Sequence[Candidate] = ()
    dry_run: FilterOutcome | None = None
    selected: Sequence[Candidate] = ()

    def rejected(self) -> Iterator[tuple[str, Status]]:
        """The nodes on which evictions do not help, each with the reason, in no particular order."""
        if self.dry_run is None:
            return
        names = self.dry_run.nodes.names
        for one in self.dry_run.failures:
            for place, row in enumerate(one.rows.tolist()):
                yield names[row], one.rejections.status(place, one.plugin)


def evaluate(
    cycle: Cycle,
    nodes: Nodes,
    outcome: FilterOutcome,
    what_if: WhatIf,
    budgets: Budgets,
    args: DefaultPreemptionArgs,
    rng: Random,
) -> Evaluation:
    """Find the pods whose eviction makes room.

    Args:
        cycle: the attempt that failed; it stays as it is.
        nodes: the cluster's table.
        outcome: why each node was rejected.
        rng: says where the search for candidates starts.
    """
    ineligible = ineligibility(cycle.pod, nodes, outcome)
    if ineligible:
        return Evaluation(Status.unschedulable(ineligible), ineligible=ineligible)
    potential = helpable(nodes, outcome)
    start = rng.randrange(len(potential)) if len(potential) else 0
    wanted = candidates_wanted(len(potential), args)
    dry_run = DryRun(cycle, nodes, what_if, budgets)
    candidates, tried = _search(dry_run, nodes, np.roll(potential, -start), wanted)
    if candidates:
        try:
            candidates = _ask_extenders(cycle, nodes, what_if, candidates)
        except PluginError as error:
            return Evaluation(Status(Code.ERROR, (str(error),)), None, "", potential, (), tried)
        if not candidates:
            return Evaluation(_NO_CANDIDATE, None, "", potential, (), tried)
    return _concluded(potential, candidates, tried)


def _ask_extenders(
    cycle: Cycle, nodes: Nodes, what_if: WhatIf, candidates: list[Candidate]
) -> list[Candidate]:
    """What other extenders leave of the candidates (upstream: ``callExtenders``)."""
    found = [Victims(each.node, each.victims, each.violations) for each in candidates]
    return [Candidate(*each) for each in what_if.ask_extenders(cycle, nodes, found)]


def ineligibility(pod: Pod, nodes: Nodes, outcome: FilterOutcome) -> str:
    """Why the pod may not preempt others, empty when it may (upstream: ``PodEligibleToPreemptOthers``).

    A pod that has preempted already waits for its victims to end, unless no eviction could ever make it fit on that node.
    """
    if pod.spec.preemption_policy == "Never":
        return _NEVER
    nominee = pod.status.nominated_node_name
    row = nodes.row_of(nominee) if nominee else None
    if row is None or outcome.status_of(nominee).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return ""
    waits = any(
        other.priority < pod.priority and _terminating_by_preemption(other.pod) for other in nodes.pods(row)
    )
    return _TERMINATING if waits else ""


def _terminating_by_preemption(pod: Pod) -> bool:
    if not pod.metadata.deletion_timestamp:
        return False
    found = next((one for one in pod.status.conditions if one.type == DISRUPTION_TARGET), None)
    return found is not None and (found.status, found.reason) == ("True", PREEMPTION_BY_SCHEDULER)


def helpable(nodes: Nodes, outcome: FilterOutcome) -> Rows:
    """intp[...]: the rows of ``nodes`` whose status is Unschedulable (upstream: ``NodesForStatusCode``)."""
    may = np.zeros(len(nodes), np.bool_)
    if outcome.pre_filter_message:
        may[:] = outcome.absent.code is Code.UNSCHEDULABLE
        return np.flatnonzero(may)
    narrowed = outcome.nodes is not nodes
    if narrowed and outcome.absent.code is Code.UNSCHEDULABLE:
        may[:] = True
        may[nodes.rows_of(outcome.nodes.names)] = False
    for one in outcome.failures:
        _, firsts, kinds = np.unique(one.bits, return_index=True, return_inverse=True)
        codes = [one.rejections.status(int(first)).code is Code.UNSCHEDULABLE for first in firsts]
        rows = one.rows[np.array(codes, np.bool_)[kinds]]
        may[nodes.rows_of(outcome.nodes.names[row] for row in rows) if narrowed else rows] = True
    for name, status in outcome.own_statuses.items():
        row = nodes.row_of(name)
        if row is not None:
            may[row] = status.code is Code.UNSCHEDULABLE
    return np.flatnonzero(may)


def candidates_wanted(nodes: int, args: DefaultPreemptionArgs) -> int:
    """With how many candidates the search may end, if any of them violates no disruption budget."""
    share = nodes * args.min_candidate_nodes_percentage // 100
    return min(max(share, args.min_candidate_nodes_absolute), nodes)


def _search(dry_run: DryRun, nodes: Nodes, rows: Rows, wanted: int) -> tuple[list[Candidate], FilterOutcome]:
    """The candidates, those that violate no budget first, and why the other rows are none."""
    tried = empty_outcome(nodes)
    able = dry_run.with_victims(rows)
    if not able.all():
        tried.failures.append(failure("", rows[~able], NO_VICTIMS))
    rows = rows[able]
    harmless: list[Candidate] = []
    violating: list[Candidate] = []
    for start in range(0, len(rows), max(wanted, 1)):
        asked = rows[start : start + wanted]
        verdicts = dry_run.judge(asked)
        tried.failures.extend(verdicts.failures)
        for candidate in filter(None, map(verdicts.candidates.get, asked.tolist())):
            (violating if candidate.violations else harmless).append(candidate)
            if harmless and len(harmless) + len(violating) >= wanted > 0:
                return harmless + violating[:wanted], tried
    return harmless[:wanted] + violating[:wanted], tried


def _concluded(potential: Rows, candidates: Sequence[Candidate], tried: FilterOutcome) -> Evaluation:
    selected = equally_good(candidates)
    if selected:
        return Evaluation(SUCCESS, selected[0].node, "", potential, candidates, tried, selected)
    broken = _errors(tried)
    if broken:
        return Evaluation(Status(Code.ERROR, (broken,)), None, "", potential, (), tried)
    tried.absent = _NOT_HELPFUL
    return Evaluation(Status.unschedulable(tried.message()), "", "", potential, (), tried)


def _errors(tried: FilterOutcome) -> str:
    """The errors of the dry run as upstream joins them; empty when there was none."""
    reasons: dict[str, Any] = {}
    for one in tried.failures:
        reasons.update((each.message, None) for each in one.rejections.reasons if each.code is Code.ERROR)
    messages = list(reasons)
    return messages[0] if len(messages) == 1 else f"[{', '.join(messages)}]" if messages else ""
