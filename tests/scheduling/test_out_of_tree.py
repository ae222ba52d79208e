"""Plugins of other packages take part at every point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import NO_VICTIMS, Observer, Running, objects, refusal
from tests.scheduling.plugins import Bookkeeper, profile

Start = Callable[..., Running]


def node(name: str) -> Any:
    return make_node(name).capacity(cpu="4")


def pod(name: str) -> Any:
    return make_pod(name).container({"cpu": "1"}, name="c", image="pause")


def plugin(name: str) -> str:
    return f"--plugin=tests.scheduling.plugins:{name}"


def test_a_filter_for_one_node_at_a_time(sandbox: Sandbox, observer: Observer, scheduler: Start) -> None:
    sandbox.load(objects(node("n1"), node("n2"), node("n3"), pod("p")))
    scheduler(plugin("EvenNodesOnly"), config=profile("EvenNodesOnly"))
    observer.wait_bound("p")
    assert observer.node_of("p") == "n2"


def test_its_arguments_and_its_words_reach_the_user(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(node("n1"), node("n3"), pod("p")))
    scheduler(plugin("EvenNodesOnly"), config=profile("EvenNodesOnly", {"message": "is not even"}))
    assert observer.wait_refused("p") == refusal(2, "2 is not even", f"2 {NO_VICTIMS}")


def test_permit_holds_pods_until_the_gang_is_complete(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(node("n1"), pod("a"), pod("b")))
    scheduler(plugin("Gang"), config=profile("Gang"))
    observer.wait(lambda: all(observer.pod(name)["status"].get("nominatedNodeName") for name in "ab"))
    assert observer.bindings == []
    sandbox.load(objects(pod("c")))
    observer.wait_bound("a", "b", "c")


def test_a_pod_that_waits_too_long_is_refused_and_gives_its_room_back(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(node("n1"), pod("alone")))
    slow_retry = {"podInitialBackoffSeconds": 600, "podMaxBackoffSeconds": 600}
    running = scheduler(plugin("Gang"), config={**profile("Gang", {"timeout": 0.05}), **slow_retry})
    message = observer.wait_refused("alone")
    expected = "rejected due to timeout after waiting 50ms at plugin Gang"
    assert message == f"0/1 nodes are available: 1 {expected}."
    running.stop()
    assert running.setup.scheduler.cluster.verify() == []
    assert running.setup.scheduler.cluster.counts()["pods"] == 0


def test_a_pod_deleted_while_it_waits_gives_its_room_back(
    sandbox: Sandbox, observer: Observer, scheduler: Start, api: Any
) -> None:
    sandbox.load(objects(make_node("n1").capacity(cpu="1"), pod("going")))
    running = scheduler(plugin("Gang"), config=profile("Gang"))
    observer.wait(lambda: observer.pod("going")["status"].get("nominatedNodeName"))
    api("DELETE", "/api/v1/namespaces/default/pods/going")
    observer.wait(lambda: not observer.pod("going"))
    sandbox.load(objects(pod("next")))
    observer.wait(lambda: observer.pod("next").get("status", {}).get("nominatedNodeName") == "n1")
    running.stop()
    assert running.setup.scheduler.cluster.verify() == []


def test_what_was_reserved_is_given_back_when_binding_fails(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.faults.add(method="POST", path="/binding$", status=403, times=1)
    sandbox.load(objects(node("n1"), pod("p")))
    running = scheduler(plugin("Bookkeeper"), config=profile("Bookkeeper"))
    observer.wait_bound("p")
    running.stop()
    assert Bookkeeper.log == ["reserve p on n1", "unreserve p on n1", "reserve p on n1", "bound p on n1"]
