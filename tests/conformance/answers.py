"""What this scheduler answers to a scenario, in the shape in which kube-scheduler's answers are recorded."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import signature
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np

from scheduler.framework.algorithm import Rotation, decide, find_feasible, prioritize
from scheduler.framework.cycle import Cycle
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome, FitError, Scores
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import PluginError
from scheduler.framework.status import SUCCESS, Status
from scheduler.scheduling.cycle import SchedulingCycle
from tests.conformance.scenario import Document, ScenarioError, World, build

Answer = dict[str, Any]


def answer(scenario: Document, feasible: Sequence[str] | None = None) -> Answer:
    """Judge the scenario.

    Args:
        scenario: the recorded scenario.
        feasible: the nodes to score, when plugins that do not exist yet left fewer than ours did.
    """
    try:
        world = build(scenario)
    except ScenarioError as error:
        return {"error": str(error)}
    if world.pod.pod.metadata.deletion_timestamp:
        return {"skipped": _skipped(world)}
    status = world.pre_enqueue(world.pod)
    if not status.ok:
        return {"preEnqueue": _status(status)}
    found: Answer = {}
    try:
        _judge(world, feasible, found)
    except PluginError as error:
        found["scheduleError"] = str(error)
    return found


def _judge(world: World, feasible: Sequence[str] | None, found: Answer) -> None:
    framework, nodes = world.framework, world.cluster.nodes
    if not len(nodes):
        found["scheduleError"] = _decide(world).status.message
        return
    cycle = Cycle(world.pod)
    status, names, _ = framework.pre_filter(cycle, nodes)
    found["preFilter"] = {
        **_status(status),
        "nodeNames": None if names is None else sorted(names),
        "skippedFilter": sorted(cycle.skipped_filters),
    }
    outcome = _filtered(world, _without_nomination(world.pod))
    found["filter"] = {name: _status(outcome.status_of(name)) for name in nodes.names}
    if status.ok:
        found["pluginFilter"] = _each_on_its_own(world, cycle)
    _rate(world, outcome, feasible, found)


def _rate(world: World, outcome: FilterOutcome, feasible: Sequence[str] | None, found: Answer) -> None:
    own = _filtered(world, world.pod)
    found["feasible"] = sorted(name for name in own.nodes.names if own.status_of(name).ok)
    if len(own.nodes) == 1 and len(outcome.nodes) > 1 and found["feasible"]:
        found["nominatedNodeOnly"] = True
    wanted = found["feasible"] if feasible is None else feasible
    if not wanted:
        _explain(world, found)
        return
    cycle = Cycle(world.pod)
    _add_scores(cycle, prioritize(world.framework, cycle, _in_order(world.cluster.nodes, wanted)), found)


def _add_scores(cycle: Cycle, scores: Scores, found: Answer) -> None:
    names = scores.nodes.names
    found["skippedScore"] = sorted(cycle.skipped_scores)
    found["rawScores"] = {name: _row(scores.raw, row) for row, name in enumerate(names)}
    found["scores"] = {
        name: {**_row(scores.weighted, row), "total": int(scores.total[row])}
        for row, name in enumerate(names)
    }
    found["bestNodes"] = sorted(names[row] for row in scores.best_rows())


def _explain(world: World, found: Answer) -> None:
    error = _decide(world).status.error
    if isinstance(error, FitError):
        found["fitError"] = str(error)
        found["unschedulablePlugins"] = sorted(error.outcome.unschedulable_plugins)
        found["pendingPlugins"] = sorted(error.outcome.pending_plugins)
    else:
        found["scheduleError"] = str(error)


def _decide(world: World) -> Any:
    return decide(
        world.framework, Cycle(world.pod), world.cluster.nodes, world.nominator, Random(0), Rotation()
    )


def _filtered(world: World, pod: PodInfo) -> FilterOutcome:
    return find_feasible(world.framework, Cycle(pod), world.cluster.nodes, world.nominator, Rotation())


def _without_nomination(pod: PodInfo) -> PodInfo:
    """The same pod without its own nomination: then all nodes are looked at."""
    if not pod.pod.status.nominated_node_name:
        return pod
    status = msgspec.structs.replace(pod.pod.status, nominated_node_name="")
    return PodInfo(msgspec.structs.replace(pod.pod, status=status))


def _each_on_its_own(world: World, cycle: Cycle) -> Answer:
    nodes = world.cluster.nodes
    found: Answer = {name: {} for name in nodes.names}
    for plugin in world.framework.plugins_at("filter"):
        if plugin.name in cycle.skipped_filters:
            continue
        rejections = plugin.filter(cycle, nodes)
        for row, name in enumerate(nodes.names):
            found[name][plugin.name] = _status(SUCCESS if rejections is None else rejections.status(row))
    return found


def _in_order(nodes: Nodes, names: Iterable[str]) -> Nodes:
    return nodes.take(np.sort(nodes.rows_of(names)))


def _skipped(world: World) -> str:
    """The event text with which the scheduling loop drops a pod that is being deleted."""
    notes: list[str] = []
    recorder = SimpleNamespace(eventf=lambda *event: notes.append(event[-1]))
    profile = world.framework.profile_name
    # The cycle reads only these of its parts for a pod that is being deleted.
    parts: dict[str, Any] = dict.fromkeys(signature(SchedulingCycle).parameters)
    parts["frameworks"] = {profile: world.framework}
    parts["recorders"] = {profile: recorder}
    parts["queue"] = SimpleNamespace(done=lambda uid: None)
    queued: Any = SimpleNamespace(pod=world.pod.pod, pod_info=world.pod)
    SchedulingCycle(**parts).run(queued)
    return notes[0]


def _status(status: Status) -> Answer:
    found: Answer = {"code": status.code.label}
    if status.plugin:
        found["plugin"] = status.plugin
    if status.reasons:
        found["reasons"] = list(status.reasons)
    return found


def _row(columns: Any, row: int) -> dict[str, int]:
    return {plugin: int(column[row]) for plugin, column in columns.items()}
