"""Bind goes through the one port, and tells what came of it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import Pod
from tests.builders import make_pod
from tests.extender.builders import Binder, HandMadeWorld, ask, client, three_nodes, world

REQUEST = {"PodName": "p", "PodNamespace": "ns", "PodUID": "u", "Node": "node-a"}


@pytest.fixture
def made() -> HandMadeWorld:
    """Three nodes."""
    return world(*three_nodes())


@pytest.mark.parametrize("path", ["/bind", "/profiles/default-scheduler/bind"])
def test_the_pod_is_bound(made: HandMadeWorld, path: str) -> None:
    binder = Binder()
    assert ask(client(made, binder), path, REQUEST) == {"Error": ""}
    assert binder.bound == [("ns", "p", "u", "node-a")]


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        pytest.param(OSError('pods "p" not found'), 'pods "p" not found', id="one line"),
        pytest.param(OSError("first\n  second"), "first second", id="several lines"),
        pytest.param(TimeoutError(), "TimeoutError", id="no text"),
    ],
)
def test_a_failure_is_told(made: HandMadeWorld, failure: Exception, told: str) -> None:
    binder = Binder()
    binder.failure = failure
    assert ask(client(made, binder), "/bind", REQUEST) == {"Error": told}


def test_the_world_is_not_locked_meanwhile(made: HandMadeWorld) -> None:
    class Watching(Binder):
        locked = True

        def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
            self.locked = made.locked

    binder = Watching()
    ask(client(made, binder), "/profiles/default-scheduler/bind", REQUEST)
    assert not binder.locked


def test_a_pod_without_a_uid_is_bound(made: HandMadeWorld) -> None:
    binder = Binder()
    ask(client(made, binder), "/bind", REQUEST | {"PodUID": None})
    assert binder.bound == [("ns", "p", "", "node-a")]


def foreign(name: str = "p", uid: str = "u", scheduler: str = "another-scheduler") -> Pod:
    return make_pod(name, "ns").metadata(uid=uid).req(cpu="3").spec(schedulerName=scheduler).obj()


def bound(made: HandMadeWorld, binder: Binder, **request: str) -> str:
    """The error."""
    answer = ask(client(made, binder), "/bind", REQUEST | request)
    return str(answer["Error"])


@pytest.mark.parametrize(
    ("pod", "told"),
    [
        pytest.param(make_pod("p", "ns").metadata(uid="new"), "has the uid 'new' by now", id="another pod"),
        pytest.param(
            make_pod("p", "ns").metadata(uid="u", deletionTimestamp="2026-01-01T00:00:00Z"),
            "the pod is being deleted",
            id="being deleted",
        ),
        pytest.param(
            make_pod("p", "ns").metadata(uid="u").node("node-b"),
            "is on node 'node-b' already",
            id="elsewhere",
        ),
        pytest.param(
            make_pod("p", "ns").metadata(uid="u").req(cpu="5"), "node-a: Insufficient cpu", id="does not fit"
        ),
    ],
)
def test_the_newest_state_counts(made: HandMadeWorld, pod: Any, told: str) -> None:
    binder = Binder()
    made.wait_for(pod.obj())
    error = bound(made, binder)
    assert error.startswith("pod ns/p cannot be bound to node node-a: ")
    assert error.endswith(told)
    assert binder.bound == []


def test_a_node_that_is_unknown_is_refused(made: HandMadeWorld) -> None:
    made.wait_for(foreign())
    error = bound(made, Binder(), Node="node-zz")
    assert error == "pod ns/p cannot be bound to node node-zz: node is not known to this scheduler"


def test_a_pod_counts_on_its_node_from_then_on(made: HandMadeWorld) -> None:
    made.wait_for(foreign(), foreign("q", "q"))
    binder = Binder()
    assert bound(made, binder) == ""
    assert bound(made, binder, PodName="q", PodUID="q").endswith("Insufficient cpu")
    assert bound(made, binder, PodName="q", PodUID="q", Node="node-b") == ""
    assert [node for *_, node in binder.bound] == ["node-a", "node-b"]
    assert made.cluster.verify() == []


def test_a_pod_that_could_not_be_bound_gives_its_room_back(made: HandMadeWorld) -> None:
    made.wait_for(foreign())
    binder = Binder()
    binder.failure = OSError("the API server is away")
    assert bound(made, binder) == "the API server is away"
    assert made.cluster.counts()["pods"] == 0


def test_binding_twice_is_harmless(made: HandMadeWorld) -> None:
    made.wait_for(foreign())
    assert [bound(made, Binder()), bound(made, Binder())] == ["", ""]
    assert made.cluster.nodes.pod_count.tolist() == [1, 0, 0]


def test_the_scheduling_loop_keeps_book_of_its_own_pods(made: HandMadeWorld) -> None:
    made.wait_for(foreign(scheduler="default-scheduler"))
    assert bound(made, Binder()) == ""
    assert made.cluster.counts()["assumed_pods"] == 0
