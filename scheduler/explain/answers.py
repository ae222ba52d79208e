"""The answer: what the scheduler would decide for the pod, in the shape in which kube-scheduler's own answers are recorded.

Each part is judged on its own, so that all of it is told: the filters over every node also when the pod has a nominated node that is
tried first; every plugin alone beside the first that rejects; the scores also when a single node is left.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any

import msgspec
import numpy as np

from scheduler.explain.preemption import preemption
from scheduler.explain.preemption import status_fields as _status
from scheduler.explain.world import World
from scheduler.framework.algorithm import Rotation, decide, find_feasible, prioritize
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import FilterError
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import Decision, FilterOutcome, FitError, Scores
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import PluginError
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.scheduling.cycle import deletion_note

Answer = dict[str, Any]


def answer(world: World) -> Answer:
    """Judge the pod; nothing in the world changes."""
    if world.pod.pod.metadata.deletion_timestamp:
        return {"skipped": deletion_note(world.pod.pod)}
    status = world.pre_enqueue(world.pod)
    if not status.ok:
        return {"preEnqueue": _status(status)}
    found: Answer = {}
    try:
        _judge(world, found)
    except PluginError as error:
        found["scheduleError"] = str(error)
    return found


def _judge(world: World, found: Answer) -> None:
    nodes = world.cluster.nodes
    if not len(nodes):
        found["scheduleError"] = _decide(world, Cycle(world.pod)).status.message
        return
    cycle = Cycle(world.pod)
    passed = _pre_filter(world, cycle, found)
    outcome, failure = _filtered(world, _without_nomination(world.pod))
    found["filter"] = {name: _verdict(outcome.status_of(name)) for name in nodes.names}
    if passed:
        found |= _each_on_its_own(world, cycle, outcome)
    if failure is not None:
        raise failure
    _rate(world, outcome, found)


def _pre_filter(world: World, cycle: Cycle, found: Answer) -> bool:
    """Whether PreFilter lets the pod through. Raises PluginError, with ``preFilter`` told."""
    names: frozenset[str] | None = None
    failure: PluginError | None = None
    try:
        status, names, _ = world.framework.pre_filter(cycle, world.cluster.nodes)
    except PluginError as error:
        failure, status = error, Status.failure(error).by(error.plugin)
    found["preFilter"] = {
        **_status(status),
        "nodeNames": None if names is None else sorted(names),
        "skippedFilter": sorted(cycle.skipped_filters),
    }
    if failure is not None:
        raise failure
    return status.ok


def _rate(world: World, outcome: FilterOutcome, found: Answer) -> None:
    cycle = Cycle(world.pod)
    own = find_feasible(world.framework, cycle, world.cluster.nodes, world.nominator, Rotation())
    feasible = sorted(name for name in own.nodes.names if own.status_of(name).ok)
    if not feasible:
        _explain(world, found)
        return
    found["feasible"] = feasible
    if len(own.nodes) == 1 and len(outcome.nodes) > 1:
        found["nominatedNodeOnly"] = True
    found |= _scores(world, cycle, feasible)


def _scores(world: World, cycle: Cycle, names: Iterable[str]) -> Answer:
    """What the score plugins say of these nodes, which the filters of this attempt passed. Raises PluginError."""
    rated = prioritize(world.framework, cycle, _in_order(world.cluster.nodes, names))
    order = rated.nodes.names
    found: Answer = {}
    if cycle.skipped_scores:
        found["skippedScore"] = sorted(cycle.skipped_scores)
    if rated.raw:
        found["rawScores"] = {name: _row(rated.raw, row) for row, name in enumerate(order)}
    found["scores"] = {name: _weighted(rated, row) for row, name in enumerate(order)}
    found["bestNodes"] = sorted(order[row] for row in rated.best_rows())
    return found


def _explain(world: World, found: Answer) -> None:
    cycle = Cycle(world.pod)
    decision = _decide(world, cycle)
    error = decision.status.error
    if isinstance(error, FitError):
        found["fitError"] = str(error)
        found["unschedulablePlugins"] = sorted(error.outcome.unschedulable_plugins)
        if error.outcome.pending_plugins:
            found["pendingPlugins"] = sorted(error.outcome.pending_plugins)
        if decision.post_filter is not None:
            found["preemption"] = preemption(world, cycle, decision)
    else:
        found["scheduleError"] = str(error)


def _decide(world: World, cycle: Cycle) -> Decision:
    return decide(world.framework, cycle, world.cluster.nodes, world.nominator, Random(0), Rotation())


def _filtered(world: World, pod: PodInfo) -> tuple[FilterOutcome, PluginError | None]:
    """The verdict on every node, and the error that a filter ended in."""
    try:
        nodes, nominator = world.cluster.nodes, world.nominator
        return find_feasible(world.framework, Cycle(pod), nodes, nominator, Rotation()), None
    except FilterError as error:
        return error.outcome, error


def _verdict(status: Status) -> Answer:
    found = _status(status)
    if status.code is Code.ERROR:
        found["reasons"] = [f'running "{status.plugin}" filter plugin: {each}' for each in status.reasons]
    return found


def _without_nomination(pod: PodInfo) -> PodInfo:
    """The same pod without its own nomination: then all nodes are looked at."""
    if not pod.pod.status.nominated_node_name:
        return pod
    status = msgspec.structs.replace(pod.pod.status, nominated_node_name="")
    return PodInfo(msgspec.structs.replace(pod.pod, status=status))


def _each_on_its_own(world: World, cycle: Cycle, outcome: FilterOutcome) -> Answer:
    """``pluginFilter``: what each filter alone says of the nodes that were looked at and rejected."""
    nodes = world.cluster.nodes
    found: Answer = {name: {} for name in outcome.nodes.names if not outcome.status_of(name).ok}
    for plugin in world.framework.plugins_at("filter") if found else ():
        if plugin.name in cycle.skipped_filters:
            continue
        rejections = world.framework.call(plugin, "Filter", cycle, plugin.filter, cycle, nodes)
        for row, name in enumerate(nodes.names):
            if name in found:
                found[name][plugin.name] = _status(SUCCESS if rejections is None else rejections.status(row))
    return {"pluginFilter": found} if found else {}


def _in_order(nodes: Nodes, names: Iterable[str]) -> Nodes:
    return nodes.take(np.sort(nodes.rows_of(names)))


def _weighted(rated: Scores, row: int) -> dict[str, int]:
    return {**_row(rated.weighted, row), "total": int(rated.total[row])}


def _row(columns: Any, row: int) -> dict[str, int]:
    return {plugin: int(column[row]) for plugin, column in columns.items()}
