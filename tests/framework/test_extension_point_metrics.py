"""What an attempt leaves in the metrics: how long each extension point took, and how often each plugin was asked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PostFilterResult, Wait
from scheduler.framework.runtime import Framework
from scheduler.framework.status import SKIP, Code, Status
from tests.builders import make_pod
from tests.framework.harness import Prefer, decision, framework, refuse, table

pod = make_pod("p")
cycle = Cycle(pod.info())


def points(fwk: Framework) -> dict[tuple[str, str], float]:
    """(extension point, status) -> how often it was timed."""
    name = "scheduler_framework_extension_point_duration_seconds"
    return {
        (one.labels["extension_point"], one.labels["status"]): one.value
        for family in fwk.metrics.registry.collect()
        for one in family.samples
        if one.name == f"{name}_count"
    }


def evaluations(fwk: Framework) -> dict[tuple[str, str], float]:
    """(plugin, extension point) -> how often it judged a pod, or a node."""
    return {
        (one.labels["plugin"], one.labels["extension_point"]): one.value
        for family in fwk.metrics.registry.collect()
        for one in family.samples
        if one.name == "scheduler_plugin_evaluation_total"
    }


class Both:
    """Implements all deciding points."""

    def __init__(self, name: str, *, skips: bool = False) -> None:
        self.name = name
        self._answer = SKIP if skips else None

    def pre_filter(self, cycle: Cycle, nodes: Any) -> Any:
        return self._answer

    def filter(self, cycle: Cycle, nodes: Any) -> None:
        return None

    def pre_score(self, cycle: Cycle, nodes: Any) -> Any:
        return self._answer

    def score(self, cycle: Cycle, nodes: Any) -> Any:
        return np.zeros(len(nodes), np.int64)


def test_each_point_of_a_placement_is_timed_once() -> None:
    fwk = framework(Both("A"))
    decision(fwk, table("n1", "n2"), pod)
    assert points(fwk) == {(point, "Success"): 1 for point in ("PreFilter", "Filter", "PreScore", "Score")}


def test_the_points_of_a_refusal_say_how_they_ended() -> None:
    class Evict:
        name = "Evict"

        def post_filter(self, *_: Any) -> PostFilterResult:
            return PostFilterResult(Status.unschedulable("nobody"))

    fwk = framework(refuse("F", "n1"), Evict())
    decision(fwk, table("n1"), pod)
    assert points(fwk) == {
        ("PreFilter", "Success"): 1,
        ("Filter", "Success"): 1,
        ("PostFilter", "Unschedulable"): 1,
    }


@pytest.mark.parametrize("method", ["filter", "score", "pre_filter"])
def test_a_point_that_fails_counts_as_an_error(method: str) -> None:
    point = {"filter": "Filter", "score": "Score", "pre_filter": "PreFilter"}[method]
    broken = type("Broken", (), {"name": "Broken", method: lambda *_: 1 // 0})()
    fwk = framework(broken)
    decision(fwk, table("n1", "n2"), pod)
    assert points(fwk)[point, "Error"] == 1


@pytest.mark.parametrize(
    ("method", "answer", "expected"),
    [
        pytest.param("reserve", Status.unschedulable("no"), ("Reserve", "Unschedulable"), id="reserve"),
        pytest.param("unreserve", None, ("Unreserve", "Success"), id="unreserve"),
        pytest.param("permit", Wait(1), ("Permit", "Wait"), id="permit"),
        pytest.param("pre_bind_pre_flight", SKIP, ("PreBindPreFlight", "Skip"), id="pre_flight"),
        pytest.param("pre_bind", None, ("PreBind", "Success"), id="pre_bind"),
        pytest.param("bind", Status(Code.ERROR, ("io",)), ("Bind", "Error"), id="bind"),
        pytest.param("post_bind", None, ("PostBind", "Success"), id="post_bind"),
    ],
)
def test_each_acting_point_is_timed_by_how_it_ended(
    method: str, answer: Any, expected: tuple[str, str]
) -> None:
    more = {name: lambda self, *_: None for name in ("reserve", "unreserve", "pre_bind")}
    plugin = type("A", (), {"name": "A", **more, method: lambda self, *_: answer})()
    fwk = framework(plugin)
    getattr(fwk, method)(cycle, "n")
    assert points(fwk) == {expected: 1}


def test_evaluations_count_pods_for_what_runs_once_and_nodes_for_what_judges_them() -> None:
    fwk = framework(refuse("F", "n1"), Both("A"), Both("Idle", skips=True), Prefer("P"))
    decision(fwk, table("n1", "n2", "n3"), pod)
    assert evaluations(fwk) == {
        ("A", "PreFilter"): 1,
        ("F", "Filter"): 3,
        ("A", "Filter"): 2,
        ("A", "PreScore"): 1,
        ("A", "Score"): 2,
        ("P", "Score"): 2,
    }


def test_a_sampled_attempt_times_each_plugin_at_every_point() -> None:
    plugin = type("A", (), {"name": "A", "reserve": lambda *_: None, "unreserve": lambda *_: 1 // 0})()
    fwk = framework(plugin)
    sampled = Cycle(pod.info(), record_plugin_metrics=True)
    fwk.reserve(sampled, "n")
    fwk.unreserve(sampled, "n")
    name = "scheduler_plugin_execution_duration_seconds_count"
    for point, status in (("Reserve", "Success"), ("Unreserve", "Error")):
        labels = {"plugin": "A", "extension_point": point, "status": status}
        assert fwk.metrics.registry.get_sample_value(name, labels) == 1
