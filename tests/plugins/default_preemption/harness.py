"""Small clusters, the pod that fits nowhere in them, and what preemption says to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.explain.profiles import Workshop
from scheduler.explain.scenarios import answer_scenario, build_scenario
from scheduler.explain.world import World
from scheduler.features import Features
from scheduler.framework.registry import Registry
from scheduler.plugins import IN_TREE, PLANNED
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


def preemption(
    pod: PodBuilder, *objects: NodeBuilder | PodBuilder | Document, args: Document | None = None
) -> Document:
    """The ``preemption`` part of the answer."""
    found: Document = answer_scenario(scenario(pod, objects, args), WORKSHOP)
    part: Document = found["preemption"]
    return part


def world(pod: PodBuilder, objects: Sequence[NodeBuilder | PodBuilder | Document]) -> World:
    """The cluster, filled."""
    return build_scenario(scenario(pod, objects), WORKSHOP)


def scenario(
    pod: PodBuilder,
    objects: Sequence[NodeBuilder | PodBuilder | Document],
    args: Document | None = None,
) -> Document:
    """A scenario; ``args`` are the plugin's."""
    documents = [each if isinstance(each, dict) else each.doc() for each in objects]
    made: Document = {"name": "test", "objects": documents, "pod": pod.doc()}
    if args is not None:
        profile = {
            "schedulerName": "default-scheduler",
            "pluginConfig": [{"name": "DefaultPreemption", "args": args}],
        }
        made["config"] = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "profiles": [profile],
        }
    return made
