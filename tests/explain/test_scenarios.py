"""Scenarios: what cannot be run is an answer too, and failing plugins leave the rest of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.explain.profiles import Workshop
from scheduler.explain.scenarios import answer_scenario
from scheduler.features import Features
from scheduler.framework.registry import Registry
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code
from scheduler.plugins import IN_TREE, PLANNED
from tests.builders import make_node, make_pod
from tests.conformance.harness import make_workshop

POD = make_pod("p").req(cpu="1").doc()
NODES = [make_node(f"n{number}").capacity(cpu="4").doc() for number in range(3)]


def scenario(pod: Any = POD, objects: Any = NODES, **more: Any) -> Any:
    return {"name": "s", "pod": pod, "objects": objects, **more}


def enabling(plugin: str) -> Any:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": plugin}]}}}],
    }


BAD: list[Any] = [
    pytest.param(3, "expected an object", id="no scenario"),
    pytest.param({"name": "s"}, "pod: Required value", id="no pod"),
    pytest.param(scenario(objects={}), None, id="no objects is no nodes"),
    pytest.param(scenario(objects="x"), "objects: expected a list", id="objects of the wrong type"),
    pytest.param(scenario(objects=[1]), "objects[0]: expected an object", id="an object of the wrong type"),
    pytest.param(scenario(objects=[{"metadata": {}}]), "objects[0]: kind: Required", id="no kind"),
    pytest.param(scenario(config={"kind": "X"}), "config", id="a wrong configuration"),
    pytest.param(
        scenario(make_pod("p").spec(schedulerName="other").doc()),
        "no profile for schedulerName 'other'",
        id="profile",
    ),
    pytest.param(scenario(make_pod("p").req(cpu="1x").doc()), "pod: spec.containers[0]", id="quantity"),
]


@pytest.mark.parametrize(("document", "reason"), BAD)
def test_what_cannot_be_run_is_an_error(document: Any, reason: str | None) -> None:
    found = answer_scenario(document, make_workshop())
    if reason is None:
        assert found == {"name": "s", "scheduleError": "no nodes available to schedule pods"}
    else:
        assert reason in found["error"]
        assert set(found) <= {"name", "error"}


class Fails:
    """A filter that answers Error for one node, and refuses another."""

    name = "Fails"

    def filter(self, cycle: Any, nodes: Any) -> Rejections:
        bits = np.array([{"n1": 1, "n2": 2}.get(name, 0) for name in nodes.names], np.uint64)
        return Rejections(bits, (Reason("broken", Code.ERROR), Reason("no", Code.UNSCHEDULABLE)))


class Raises:
    """A filter with a bug."""

    name = "Raises"

    def filter(self, cycle: Any, nodes: Any) -> Rejections:
        raise RuntimeError("a bug")


def workshop_with(plugin: type) -> Workshop:
    registry = Registry(IN_TREE, PLANNED)
    registry.register(plugin.name, lambda args, handle: plugin())  # type: ignore[attr-defined]
    return Workshop(registry, Features.default())


def test_a_filter_that_fails_on_a_node_leaves_the_verdict_on_the_others() -> None:
    found = answer_scenario(scenario(config=enabling("Fails")), workshop_with(Fails))
    text = 'running "Fails" filter plugin: broken'
    assert found["filter"] == {
        "n0": {"code": "Success"},
        "n1": {"code": "Error", "plugin": "Fails", "reasons": [text]},
        "n2": {"code": "Unschedulable", "plugin": "Fails", "reasons": ["no"]},
    }
    assert found["pluginFilter"]["n1"]["Fails"] == {"code": "Error", "reasons": ["broken"]}
    assert found["scheduleError"] == text
    assert "feasible" not in found


def test_a_bug_in_a_plugin_is_an_error_of_the_attempt() -> None:
    found = answer_scenario(scenario(config=enabling("Raises")), workshop_with(Raises))
    assert found["scheduleError"] == 'running Filter plugin "Raises": a bug'


def test_a_pod_that_runs_is_judged_as_if_it_did_not_and_still_names_its_node() -> None:
    found = answer_scenario(scenario(make_pod("p").req(cpu="4").node("n1").doc()), make_workshop())
    assert found["feasible"] == ["n1"]
    assert found["filter"]["n0"]["plugin"] == "NodeName"


def test_nominated_pods_of_every_profile_count() -> None:
    """The queue is one for all profiles; pods of other schedulers are none of its business."""
    config = {
        **enabling("NodeName"),
        "profiles": [{"schedulerName": "default-scheduler"}, {"schedulerName": "second"}],
    }
    rival = make_pod("rival").req(cpu="4").priority(9).nominated("n1").doc()
    for scheduler, feasible in (("second", ["n0", "n2"]), ("foreign", ["n0", "n1", "n2"])):
        rival["spec"]["schedulerName"] = scheduler
        found = answer_scenario(scenario(objects=[*NODES, rival], config=config), make_workshop())
        assert found["feasible"] == feasible


def test_a_pod_at_its_end_holds_no_nomination() -> None:
    rival = make_pod("rival").req(cpu="4").priority(9).nominated("n1").status(phase="Failed").doc()
    found = answer_scenario(scenario(objects=[*NODES, rival]), make_workshop())
    assert found["feasible"] == ["n0", "n1", "n2"]


def test_preemption_is_tried_on_every_node() -> None:
    """An attempt ends its search with enough candidates, and begins it anywhere."""
    args = {"minCandidateNodesPercentage": 1, "minCandidateNodesAbsolute": 1}
    profile = {"pluginConfig": [{"name": "DefaultPreemption", "args": args}]}
    runs = [
        make_pod(f"r{number}").req(cpu="4").node(f"n{number}").priority(number).doc() for number in range(3)
    ]
    pending = make_pod("p").req(cpu="1").priority(10).doc()
    found = answer_scenario(
        scenario(pending, [*NODES, *runs], config={**enabling("x"), "profiles": [profile]}), make_workshop()
    )["preemption"]
    assert set(found["candidates"]) == {"n0", "n1", "n2"}
    assert found["selected"] == ["n0"]
