"""The webhook of a whole process, over the API server's watches: what the verbs see there, and what bind does there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from tests.builders import PodBuilder, make_node, make_pod
from tests.extender.builders import ask, by_name
from tests.scheduling.harness import Observer, Running, objects

FLAGS = ("--secure-port=1", "--authorization-always-allow-paths=/*")
"""The port is never listened on: the application is asked directly."""
PROFILE = {"profiles": [{"schedulerName": "extender"}]}


def foreign(name: str, cpu: str = "3") -> PodBuilder:
    return (
        make_pod(name).container({"cpu": cpu}, name="c", image="pause").spec(schedulerName="kube-scheduler")
    )


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        server.load(objects(*(make_node(f"node-{letter}").capacity(cpu="4") for letter in "ab")))
        server.load(objects(foreign("p"), foreign("q"), foreign("promised", "4").nominated("node-b")))
        yield server


@pytest.fixture
def observer(sandbox: Sandbox, tmp_path: Path) -> Iterator[Observer]:
    made = Observer(sandbox, tmp_path)
    yield made
    made.close()


@pytest.fixture
def running(sandbox: Sandbox, tmp_path: Path) -> Iterator[Running]:
    made = Running(sandbox, tmp_path, *FLAGS, f"--cert-dir={tmp_path}", config=PROFILE)
    made.wait_ready()
    yield made
    assert made.stop() == 0


def binding(observer: Observer, name: str, node: str) -> dict[str, Any]:
    observer.wait(lambda: observer.pod(name))
    uid = observer.pod(name)["metadata"]["uid"]
    return {"PodName": name, "PodNamespace": "default", "PodUID": uid, "Node": node}


def test_a_pod_is_bound_and_counts_at_once(running: Running, observer: Observer) -> None:
    client = running.setup.app.test_client()
    assert ask(client, "/bind", binding(observer, "p", "node-a")) == {"Error": ""}
    told = ask(client, "/bind", binding(observer, "q", "node-a"))["Error"]
    assert told == "pod default/q cannot be bound to node node-a: Insufficient cpu"
    observer.wait_bound("p")
    assert observer.node_of("p") == "node-a"


@pytest.mark.parametrize("drop", ["before", "after"])
def test_a_binding_whose_answer_is_lost_is_found_by_reading(
    running: Running, observer: Observer, sandbox: Sandbox, drop: Any
) -> None:
    sandbox.faults.add(method="POST", path="/api/v1/namespaces/default/pods/p/binding", drop=drop, times=1)
    assert ask(running.setup.app.test_client(), "/bind", binding(observer, "p", "node-a")) == {"Error": ""}
    observer.wait_bound("p")


def test_what_the_server_refuses_is_told_and_gives_its_room_back(
    running: Running, observer: Observer, sandbox: Sandbox
) -> None:
    client = running.setup.app.test_client()
    sandbox.faults.add(method="POST", path="/api/v1/namespaces/default/pods/p/binding", status=403, times=1)
    assert ask(client, "/bind", binding(observer, "p", "node-a"))["Error"]
    assert ask(client, "/bind", binding(observer, "q", "node-a")) == {"Error": ""}


def test_the_callers_nominations_are_counted(running: Running) -> None:
    answer = ask(running.setup.app.test_client(), "/filter", by_name(foreign("p").doc(), "node-a", "node-b"))
    assert answer["NodeNames"] == ["node-a"]


def test_requests_are_counted_with_everything_else(running: Running) -> None:
    client = running.setup.app.test_client()
    ask(client, "/filter", by_name(foreign("p").doc(), "node-a"))
    line = 'wharfinger_extender_nodes_judged_total{profile="extender",verb="filter"} 1'
    assert line in client.get("/metrics").text


def test_before_the_first_list_nothing_is_judged(tmp_path: Path) -> None:
    with Sandbox() as server:
        server.faults.add(method="GET", path="/api/v1/nodes", status=500)
        running = Running(server, tmp_path, *FLAGS, f"--cert-dir={tmp_path}")
        client = running.setup.app.test_client()
        try:
            error = ask(client, "/filter", by_name(foreign("p").doc(), "node-a"))["Error"]
            assert error.startswith("the cluster is not known yet: not synced yet: ")
            assert client.get("/readyz").status_code == 500
        finally:
            running.stop()
