"""Small clusters, the pod that fits nowhere in them, and what preemption says to it."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from scheduler.apis.config.args import DefaultPreemptionArgs
from scheduler.explain.profiles import Workshop
from scheduler.explain.scenarios import answer_scenario, build_scenario
from scheduler.explain.world import World
from scheduler.features import Features
from scheduler.framework.algorithm import Rotation, find_feasible
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import Hypothesis
from scheduler.framework.registry import Registry
from scheduler.plugins import IN_TREE, PLANNED
from scheduler.plugins.default_preemption import DefaultPreemption, Evaluation
from scheduler.plugins.default_preemption.evaluation import evaluate
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod

Document = dict[str, Any]
WORKSHOP = Workshop(Registry(IN_TREE, PLANNED), Features.default())


def node(name: str, cpu: str = "4") -> NodeBuilder:
    """A node with so much cpu."""
    return make_node(name).capacity(cpu=cpu).label("kubernetes.io/hostname", name)


def victim(name: str, where: str, priority: int = 0, cpu: str = "2", start: str = "") -> PodBuilder:
    """A pod that runs; ``start`` is a time of one day."""
    pod = make_pod(name).node(where).priority(priority).req(cpu=cpu)
    return pod.status(startTime=f"2026-01-01T{start}Z") if start else pod


def preemptor(priority: int = 100, cpu: str = "4") -> PodBuilder:
    """A pod that needs room."""
    return make_pod("preemptor").priority(priority).req(cpu=cpu)


def budget(name: str, allowed: int, selector: Document | None, **status: Any) -> Document:
    """A disruption budget."""
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"selector": selector},
        "status": {"disruptionsAllowed": allowed, **status},
    }


def preemption(pod: PodBuilder, *objects: NodeBuilder | PodBuilder | Document) -> Document:
    """The ``preemption`` part of the answer, which is about all nodes."""
    found: Document = answer_scenario(scenario(pod, objects), WORKSHOP)
    part: Document = found["preemption"]
    return part


def search(
    pod: PodBuilder, args: DefaultPreemptionArgs, *objects: NodeBuilder | PodBuilder | Document
) -> Evaluation:
    """What an attempt would find, which looks no further than the arguments say."""
    found = world(pod, objects)
    cycle, nodes = Cycle(found.pod), found.cluster.nodes
    outcome = find_feasible(found.framework, cycle, nodes, found.nominator, Rotation())
    (plugin,) = (
        each for each in found.framework.plugins_at("postFilter") if isinstance(each, DefaultPreemption)
    )
    what_if = Hypothesis(found.framework, found.nominator)
    return evaluate(cycle, nodes, outcome, what_if, plugin.budgets, args, Random(0))


def world(pod: PodBuilder, objects: Sequence[NodeBuilder | PodBuilder | Document]) -> World:
    """The cluster, filled."""
    return build_scenario(scenario(pod, objects), WORKSHOP)


def scenario(pod: PodBuilder, objects: Sequence[NodeBuilder | PodBuilder | Document]) -> Document:
    """A scenario."""
    documents = [each if isinstance(each, dict) else each.doc() for each in objects]
    return {"name": "test", "objects": documents, "pod": pod.doc()}
