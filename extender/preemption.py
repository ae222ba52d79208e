"""Preempt: what the caller would evict, node by node, changed so that the profile's filters hold afterwards.

::

    the caller's victims leave their node        filter once      where the pod fits: nothing has to be added
    where it does not: a dry run over the        DryRun           no pod of lower priority helps: the node is dropped;
      pods of lower priority that are left                        else those that have to go are added
    put the caller's victims back one by one     filter …         where the pod still fits beside one: it is spared
      (complete profiles only)

Three things decide what may be changed:

* The caller knows filters that an extender-only profile lacks, so **only a profile with all of kube-scheduler's filters spares**
  victims; others keep every one of them.
* kube-scheduler up to 1.37 fails the whole preemption over a node without victims. So a node that came with victims keeps at
  least one: where the pod would fit without any eviction, the proposal stays as it came.
* A victim that is not on the node here has gone already, or has just come; the caller knows it, so it stays a victim.

A node that is unknown here is dropped, and so are all nodes when PreFilter refuses the pod for good. Victims come in order of
importance, the first being the one whose priority the caller compares.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

import numpy as np

from extender.scene import set_scene
from extender.schemas import PreemptionCall, Proposal
from scheduler.apis.config.defaults import default_plugins, implements_in_tree
from scheduler.apis.objects import PodDisruptionBudget
from scheduler.features import Features
from scheduler.framework.catalog import Collection as CatalogCollection
from scheduler.framework.columns import Rows
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import Hypothesis
from scheduler.framework.interface import WhatIf
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.framework.status import Code, Status
from scheduler.plugins.default_preemption import DefaultPreemption
from scheduler.plugins.default_preemption.dry_run import DryRun
from scheduler.plugins.default_preemption.victims import Budgets, most_important_first
from scheduler.scheduling.world import State

logger = logging.getLogger(__name__)

Proposals = Mapping[str, Proposal]

_UNKNOWN = Status.unschedulable("node is not known to this scheduler")
_NOT_HELPFUL = Status.unresolvable("Preemption is not helpful for scheduling")


@dataclass(frozen=True, slots=True)
class Candidates:
    """The answer.

    Attributes:
        kept: the nodes on which the pod will fit, and who has to go.
        dropped: why the other nodes are none.
    """

    kept: dict[str, Proposal] = field(default_factory=dict)
    dropped: dict[str, Status] = field(default_factory=dict)


def reconsider(state: State, framework: Framework, call: PreemptionCall) -> Candidates:
    """Judge the proposals; called under the lock of the state.

    Raises:
        PluginError: a plugin failed.
    """
    nodes, rows, _ = set_scene(state, call.pod, call.proposals)
    found = Candidates()
    found.dropped.update((name, _UNKNOWN) for name in call.proposals if nodes.row_of(name) is None)
    cycle = Cycle(call.pod)
    refusal, rows = _pre_filtered(framework, cycle, nodes, rows)
    if refusal is not None:
        left = {nodes.names[row] for row in rows}
        found.dropped.update(
            (name, refusal) for name in call.proposals if name not in left | found.dropped.keys()
        )
    what_if = Hypothesis(framework, state.nominated)
    room = _Room(nodes, what_if, call.proposals, _budgets(framework), spares=_is_complete(framework))
    # A pod that leaves one node may change the verdict on another: then each node is asked about alone.
    alone = len(rows) > 1 and what_if.counts_pods(cycle)
    for group in np.split(rows, len(rows)) if alone else [rows] if len(rows) else []:
        room.judge(cycle, group, found)
    return found


def _pre_filtered(framework: Framework, cycle: Cycle, nodes: Nodes, rows: Rows) -> tuple[Status | None, Rows]:
    """The rows that evictions may help after PreFilter, and why not the others; an Unschedulable refusal leaves all of them."""
    status, names, _ = framework.pre_filter(cycle, nodes)
    if status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
        return status, rows[:0]
    if not (status.ok or status.rejected):
        raise PluginError(status.message) from status.error
    if names is None:
        return None, rows
    return _NOT_HELPFUL, rows[[nodes.names[row] in names for row in rows]]


def _budgets(framework: Framework) -> Budgets | None:
    """The disruption budgets, which only a profile with DefaultPreemption has watched."""
    plugin = framework.plugins.get(DefaultPreemption.name)
    return plugin.budgets if isinstance(plugin, DefaultPreemption) else None


def _is_complete(framework: Framework) -> bool:
    """Whether the profile has every filter that kube-scheduler has by default."""
    wanted = {name for name, _ in default_plugins(Features.default()) if implements_in_tree(name, "filter")}
    return wanted <= {plugin.name for plugin in framework.plugins_at("filter")}


@dataclass(slots=True)
class _Eviction:
    """One row of a group that is being judged.

    Attributes:
        gone: the caller's victims that are on the node; they have left it.
        added: pods that have to leave as well.
        refusal: why nobody's leaving helps.
        spared: those of ``gone`` that may stay.
    """

    gone: list[PodInfo]
    added: Sequence[PodInfo] = ()
    refusal: Status | None = None
    spared: list[PodInfo] = field(default_factory=list)


class _Room:
    """Makes room on nodes of one table, for one pod."""

    def __init__(
        self, nodes: Nodes, what_if: WhatIf, proposals: Proposals, budgets: Budgets | None, *, spares: bool
    ) -> None:
        self._nodes = nodes
        self._what_if = what_if
        self._proposals = proposals
        self._known_budgets = budgets
        self._budgets = budgets or Budgets(CatalogCollection[PodDisruptionBudget]())
        self._spares = spares

    def judge(self, cycle: Cycle, rows: Rows, found: Candidates) -> None:
        """Judge some rows, each as if the others stayed as they are."""
        there, hypothesis = self._nodes.take(rows), cycle.clone()
        evictions = [
            _Eviction(self._evict(hypothesis, there, row, self._proposals[name].uids))
            for row, name in enumerate(there.names)
        ]
        alive = self._what_if.filter(hypothesis, there).alive
        if not alive.all():
            self._evict_more(hypothesis, there, np.flatnonzero(~alive), evictions)
        if self._spares:
            self._spare(hypothesis, there, evictions)
        for name, eviction in zip(there.names, evictions, strict=True):
            if eviction.refusal is not None:
                found.dropped[name] = eviction.refusal
            else:
                found.kept[name] = self._concluded(self._proposals[name], eviction)

    def _evict(self, cycle: Cycle, there: Nodes, row: int, uids: Collection[str]) -> list[PodInfo]:
        pods = [pod for pod in there.pods(row) if pod.uid in uids]
        for pod in pods:
            self._what_if.remove_pod(cycle, there, row, pod)
        return pods

    def _evict_more(self, cycle: Cycle, there: Nodes, rows: Rows, evictions: Sequence[_Eviction]) -> None:
        """Find who else has to leave these rows, and have them leave."""
        verdicts = DryRun(cycle, there, self._what_if, self._budgets).judge(rows)
        for failure in verdicts.failures:
            for place, row in enumerate(failure.rows.tolist()):
                status = failure.rejections.status(place, failure.plugin)
                evictions[row].refusal = status
                if status.code is Code.ERROR:
                    logger.warning("preempt: node %.300r: %s", there.names[row], status.message)
        for row, candidate in verdicts.candidates.items():
            evictions[row].added = candidate.victims
            for pod in candidate.victims:
                self._what_if.remove_pod(cycle, there, row, pod)

    def _spare(self, cycle: Cycle, there: Nodes, evictions: Sequence[_Eviction]) -> None:
        """Put the caller's victims back as long as the pod still fits, those that violate a budget and are important first."""
        waiting = [self._in_order(one.gone) if one.refusal is None else [] for one in evictions]
        for turn in zip_longest(*waiting):
            asked = [(row, pod) for row, pod in enumerate(turn) if pod is not None]
            for row, pod in asked:
                self._what_if.add_pod(cycle, there, row, pod)
            alive = self._what_if.filter(cycle, there).alive
            for row, pod in asked:
                if alive[row]:
                    evictions[row].spared.append(pod)
                else:
                    self._what_if.remove_pod(cycle, there, row, pod)

    def _in_order(self, pods: Sequence[PodInfo]) -> list[PodInfo]:
        protected, others = self._budgets.split(most_important_first(pods))
        return [*protected, *others]

    def _concluded(self, proposal: Proposal, eviction: _Eviction) -> Proposal:
        """The proposal, with the victims that were added and without those that were spared."""
        spared = {pod.uid for pod in eviction.spared}
        uids = [uid for uid in proposal.uids if uid not in spared]
        added = eviction.added
        if not (added or (spared and uids)):
            return proposal
        known = most_important_first([*(pod for pod in eviction.gone if pod.uid not in spared), *added])
        order = [pod.uid for pod in known]
        order += [uid for uid in uids if uid not in set(order)]
        return Proposal(tuple(order), self._violations(proposal, known, len(order)))

    def _violations(self, proposal: Proposal, victims: Sequence[PodInfo], count: int) -> int:
        if self._known_budgets is None:
            return min(proposal.violations, count)
        return len(self._known_budgets.split(victims)[0])
