"""Pods get nodes, or an answer why not, and are tried again when something happens that may help."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.client.resources import NODES, PODS
from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import NO_VICTIMS, NOT_HELPFUL, Observer, Running, objects, refusal

Start = Callable[..., Running]


def node(name: str, **capacity: Any) -> Any:
    return make_node(name).capacity(**(capacity or {"cpu": "4", "memory": "8Gi"}))


def pod(name: str, cpu: str = "1") -> Any:
    return make_pod(name).container({"cpu": cpu}, name="c", image="pause")


def test_a_pod_is_bound_told_and_remembered(sandbox: Sandbox, observer: Observer, scheduler: Start) -> None:
    sandbox.load(objects(node("n1"), node("n2", cpu="1"), pod("p", "2")))
    running = scheduler()
    observer.wait_bound("p")
    assert observer.node_of("p") == "n1"
    observer.wait(lambda: observer.events("Scheduled"))
    event = observer.events("Scheduled")[0]
    assert (event["note"], event["type"], event["action"]) == (
        "Successfully assigned default/p to n1",
        "Normal",
        "Binding",
    )
    assert event["reportingController"] == "default-scheduler"
    running.stop()
    (record,) = running.setup.scheduler.decisions.all()
    assert (record.result, record.node, record.feasible, record.evaluated) == ("scheduled", "n1", 1, 2)


def test_pods_of_other_schedulers_are_left_alone(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(node("n"), pod("theirs").spec(schedulerName="theirs"), pod("ours")))
    scheduler()
    observer.wait_bound("ours")
    assert observer.node_of("theirs") == ""


def test_the_most_important_pod_goes_first(sandbox: Sandbox, observer: Observer, scheduler: Start) -> None:
    important = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "high"},
        "value": 100,
    }
    sandbox.load(
        [important, *objects(node("n", cpu="1"), pod("low"), pod("high").spec(priorityClassName="high"))]
    )
    scheduler()
    assert observer.wait_refused("low") == refusal(1, "1 Insufficient cpu", f"1 {NO_VICTIMS}")
    observer.wait_bound("high")


def test_a_refused_pod_says_why_and_is_tried_again_when_a_node_comes(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(node("small", cpu="1"), node("dirty").taint("dedicated"), pod("p", "2")))
    scheduler()
    expected = refusal(2, "1 Insufficient cpu, 1 node(s) had untolerated taint(s)", f"2 {NOT_HELPFUL}")
    assert observer.wait_refused("p") == expected
    assert observer.condition("p")["reason"] == "Unschedulable"
    observer.wait(lambda: observer.events("FailedScheduling"))
    assert observer.events("FailedScheduling")[0]["note"] == expected
    sandbox.load(objects(node("big")))
    observer.wait_bound("p")
    assert observer.node_of("p") == "big"


def test_a_cluster_without_nodes_is_waited_out(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(pod("p")))
    scheduler()
    assert observer.wait_refused("p") == "no nodes available to schedule pods"
    sandbox.load(objects(node("n")))
    observer.wait_bound("p")


def test_room_that_a_deleted_pod_leaves_is_used(
    sandbox: Sandbox, observer: Observer, scheduler: Start, api: Any
) -> None:
    sandbox.load(objects(node("n", cpu="1"), pod("first").node("n"), pod("second")))
    scheduler()
    observer.wait_refused("second")
    api("DELETE", PODS.object("default", "first"))
    observer.wait_bound("second")


def test_a_gated_pod_waits_for_its_gates(
    sandbox: Sandbox, observer: Observer, scheduler: Start, api: Any
) -> None:
    sandbox.load(objects(node("n"), pod("gated").gates("example.com/wait"), pod("free")))
    running = scheduler()
    observer.wait_bound("free")
    assert running.setup.scheduler.queue.pending_counts()["gated"] == 1
    assert observer.node_of("gated") == ""
    api("PATCH", PODS.object("default", "gated"), {"spec": {"schedulingGates": None}})
    observer.wait_bound("gated")


def test_a_cordoned_node_takes_pods_again_when_it_is_uncordoned(
    sandbox: Sandbox, observer: Observer, scheduler: Start, api: Any
) -> None:
    sandbox.load(objects(node("n").unschedulable(), pod("p")))
    scheduler()
    assert observer.wait_refused("p") == refusal(1, "1 node(s) were unschedulable", f"1 {NOT_HELPFUL}")
    api("PATCH", NODES.object("", "n"), {"spec": {"unschedulable": None, "taints": None}})
    observer.wait_bound("p")


def test_a_pod_being_deleted_gets_no_node(
    sandbox: Sandbox, observer: Observer, scheduler: Start, api: Any
) -> None:
    sandbox.load(objects(node("n"), pod("going").metadata(finalizers=["example.com/hold"])))
    api("DELETE", PODS.object("default", "going"))
    scheduler()
    observer.wait(lambda: observer.events("FailedScheduling"))
    assert observer.events("FailedScheduling")[0]["note"] == "skip schedule deleting pod: default/going"
    assert observer.node_of("going") == ""


def test_assumed_pods_fill_a_node_before_the_api_server_confirms(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.faults.add(method="POST", path="/binding$", delay=0.3)
    sandbox.load(objects(node("n", cpu="2"), *(pod(f"p{i}") for i in range(4))))
    scheduler()
    observer.wait(lambda: len(observer.bindings) == 2)
    refused = {"p0", "p1", "p2", "p3"} - {name for name, _ in observer.bindings}
    for name in refused:
        assert observer.wait_refused(name) == refusal(1, "1 Insufficient cpu", f"1 {NO_VICTIMS}")


@pytest.mark.parametrize(
    ("strategy", "chosen"),
    [pytest.param("LeastAllocated", "empty", id="least"), pytest.param("MostAllocated", "used", id="most")],
)
def test_the_profile_decides_how_nodes_are_ranked(
    sandbox: Sandbox, observer: Observer, scheduler: Start, strategy: str, chosen: str
) -> None:
    sandbox.load(objects(node("empty"), node("used"), pod("there").node("used"), pod("p")))
    args = {"scoringStrategy": {"type": strategy, "resources": [{"name": "cpu", "weight": 1}]}}
    only_fit = {
        "score": {"disabled": [{"name": "*"}], "enabled": [{"name": "NodeResourcesFit", "weight": 1}]}
    }
    profile = {
        "schedulerName": "default-scheduler",
        "plugins": only_fit,
        "pluginConfig": [{"name": "NodeResourcesFit", "args": args}],
    }
    scheduler(config={"profiles": [profile]})
    observer.wait_bound("p")
    assert observer.node_of("p") == chosen
