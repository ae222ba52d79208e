"""What preemption would do for a pod that fits nowhere, in the shape in which kube-scheduler's own answers are recorded."""

from __future__ import annotations

from typing import Any

from scheduler.explain.world import World
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import Hypothesis
from scheduler.framework.outcome import Decision
from scheduler.framework.status import Status
from scheduler.plugins.default_preemption import Candidate, DefaultPreemption, Evaluation

Answer = dict[str, Any]


def preemption(world: World, cycle: Cycle, decision: Decision) -> Answer:
    """``eligible``, ``potentialNodes``, ``candidates`` and so on; empty when the profile has no PostFilter plugin.

    Args:
        cycle: the attempt that ended with ``decision``.
    """
    status = decision.post_filter
    if status is None:
        return {}
    evaluation = _evaluation(world, cycle, decision)
    found = {} if evaluation is None else _evaluated(world, evaluation)
    picked = found.get("selected")
    return {
        **found,
        "code": status.code.label,
        "message": status.message,
        "nominatedNodeName": picked[0] if picked and status.ok else decision.nominated,
    }


def _evaluation(world: World, cycle: Cycle, decision: Decision) -> Evaluation | None:
    """The one that was made in the attempt, or would have been made if no plugin had stopped it; None without the plugin."""
    for plugin in world.framework.plugins_at("postFilter"):
        if isinstance(plugin, DefaultPreemption) and decision.outcome is not None:
            made: Evaluation | None = cycle.state.get(plugin.name)
            what_if = Hypothesis(world.framework, world.nominator)
            return made or plugin.evaluate(cycle, world.cluster.nodes, decision.outcome, what_if)
    return None


def _evaluated(world: World, evaluation: Evaluation) -> Answer:
    if evaluation.ineligible:
        return {"eligible": False, "ineligibleReason": evaluation.ineligible}
    names = world.cluster.nodes.names
    lists: Answer = {
        "potentialNodes": sorted(names[row] for row in evaluation.potential),
        "candidates": {each.node: _candidate(each) for each in evaluation.candidates},
        "rejected": {node: status_fields(status) for node, status in evaluation.rejected()},
        "selected": sorted(each.node for each in evaluation.selected),
    }
    return {"eligible": True, **{name: found for name, found in lists.items() if found}}


def _candidate(candidate: Candidate) -> Answer:
    victims = [victim.pod.full_name for victim in candidate.victims]
    return {"victims": victims, "numPDBViolations": candidate.violations}


def status_fields(status: Status) -> Answer:
    """A status: ``code``, and ``plugin`` and ``reasons`` where there are any."""
    found: Answer = {"code": status.code.label}
    if status.plugin:
        found["plugin"] = status.plugin
    if status.reasons:
        found["reasons"] = list(status.reasons)
    return found
