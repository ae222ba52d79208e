"""Whatever the cluster: no node is ever oversubscribed, and nobody is evicted for a pod that does not outrank it."""

from __future__ import annotations

import argparse
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.app.cli import inputs
from scheduler.app.cli.simulate.stage import Stage
from scheduler.app.cli.simulate.usage import measure
from scheduler.explain.objects import Objects
from tests.builders import make_node, make_pod

_WHO = inputs.deciders(argparse.Namespace(feature_gates=[], plugin=[], config=None))


@st.composite
def clusters(draw: st.DrawFn) -> Objects:
    """A few nodes in two zones, some pods that fit on them already, many that wait."""
    found = Objects()
    free: dict[str, int] = {}
    for number in range(draw(st.integers(1, 4))):
        cores = draw(st.integers(1, 6))
        node = make_node(f"n{number}").capacity(cpu=cores, pods=draw(st.integers(1, 8)))
        node.labels({"zone": draw(st.sampled_from("ab")), "kubernetes.io/hostname": f"n{number}"})
        found.nodes.append(node.obj())
        free[f"n{number}"] = cores * 1000
    for number in range(draw(st.integers(0, 20))):
        cpu = draw(st.sampled_from([0, 300, 1000, 2500]))
        pod = make_pod(f"p{number}").req(cpu=f"{cpu}m").priority(draw(st.integers(0, 3)))
        pod.label("app", draw(st.sampled_from("xy")))
        if draw(st.booleans()):
            pod.spec(topologySpreadConstraints=[_spread(draw(st.sampled_from("xy")))])
        node_name = draw(st.sampled_from(sorted(free)))
        there = [each for each in found.pods if each.spec.node_name == node_name]
        room = next(each for each in found.nodes if each.metadata.name == node_name).status.allocatable[
            "pods"
        ]
        if draw(st.booleans()) and free[node_name] >= cpu and len(there) < int(room):
            free[node_name] -= cpu
            pod.node(node_name)
        found.pods.append(pod.spec(schedulerName="default-scheduler").obj())
    return found


def _spread(app: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": app}},
    }


@settings(max_examples=60, deadline=None)
@given(objects=clusters(), seed=st.integers(0, 3))
def test_no_node_is_oversubscribed(objects: Objects, seed: int) -> None:
    stage = Stage(objects, _WHO, seed)
    stage.run(*(pod for pod in objects.pods if not pod.spec.node_name))
    assert not stage.exhausted
    for node, of_node in measure(stage.nodes).items():
        for resource, usage in of_node.items():
            assert usage.requested <= usage.allocatable, (node, resource)


@settings(max_examples=60, deadline=None)
@given(objects=clusters(), seed=st.integers(0, 3))
def test_preemption_evicts_only_whom_the_preemptor_outranks(objects: Objects, seed: int) -> None:
    stage = Stage(objects, _WHO, seed)
    seen: list[tuple[str, str]] = []

    def note(regarding: Any, *event: str, related: Any = None) -> None:
        if "Preempted" in event:
            seen.append((regarding.name, related.name))

    stage.memory.eventf = note  # type: ignore[method-assign]
    stage.run(*(pod for pod in objects.pods if not pod.spec.node_name))
    priorities = {pod.metadata.name: pod.priority for pod in objects.pods}
    assert sorted(f"default/{victim}" for victim, _ in seen) == sorted(
        each.pod for each in stage.memory.evictions
    )
    assert all(priorities[victim] < priorities[preemptor] for victim, preemptor in seen)


@settings(max_examples=30, deadline=None)
@given(objects=clusters())
def test_every_pod_is_placed_or_has_a_reason_or_was_evicted(objects: Objects) -> None:
    stage = Stage(objects, _WHO, 0)
    waiting = [pod for pod in objects.pods if not pod.spec.node_name]
    stage.run(*waiting)
    placed = {each.pod for each in stage.memory.placements}
    evicted = {each.pod for each in stage.memory.evictions}
    for pod in waiting:
        left = stage.memory.lookup(pod.metadata.namespace, pod.metadata.name)
        assert pod.full_name in placed or pod.full_name in evicted or stage.reason(pod).startswith("0/")
        assert (left is None) == (pod.full_name in evicted)
