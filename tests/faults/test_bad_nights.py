"""Bad nights: requests that fail, answers that are lost, an API server that goes away; nothing is bound twice, work resumes."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import Observer, Running, objects

Start = Callable[..., Running]


def node(name: str) -> Any:
    return make_node(name).capacity(cpu="100")


def pod(name: str) -> Any:
    return make_pod(name).container({"cpu": "1"}, name="c", image="pause")


def settled(running: Running) -> None:
    """Stop it and look whether its books are in order."""
    running.stop()
    assert running.setup.scheduler.cluster.verify() == []


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param({"status": 500}, id="server error"),
        pytest.param({"status": 409}, id="conflict"),
        pytest.param({"status": 429, "retry_after": 1}, id="too many requests"),
        pytest.param({"drop": "before"}, id="request lost"),
        pytest.param({"drop": "after"}, id="answer lost"),
    ],
)
def test_a_binding_that_goes_wrong_once_ends_well(
    sandbox: Sandbox, observer: Observer, scheduler: Start, fault: dict[str, Any]
) -> None:
    sandbox.faults.add(method="POST", path="/binding$", times=1, **fault)
    sandbox.load(objects(node("n"), pod("p")))
    running = scheduler()
    observer.wait_bound("p")
    assert observer.bindings == [("p", "n")]
    settled(running)


def test_an_error_is_told_and_retried(sandbox: Sandbox, observer: Observer, scheduler: Start) -> None:
    rule = sandbox.faults.add(method="POST", path="/binding$", status=403, message="not today")
    sandbox.load(objects(node("n"), pod("p")))
    running = scheduler()
    assert "not today" in observer.wait_refused("p")
    assert observer.condition("p")["reason"] == "SchedulerError"
    sandbox.faults.remove(rule)
    observer.wait_bound("p")
    settled(running)


def test_watches_that_are_cut_lose_nothing(sandbox: Sandbox, observer: Observer, scheduler: Start) -> None:
    sandbox.load(objects(node("n"), pod("before")))
    running = scheduler()
    observer.wait_bound("before")
    for night in range(3):
        sandbox.faults.cut_watches()
        sandbox.load(objects(pod(f"cut-{night}")))
        sandbox.compact()
        sandbox.load(objects(pod(f"compacted-{night}")))
    names = [f"{kind}-{night}" for night in range(3) for kind in ("cut", "compacted")]
    observer.wait_bound(*names)
    assert sorted(name for name, _ in observer.bindings) == sorted(["before", *names])
    settled(running)


def test_a_server_that_goes_away_and_comes_back(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(node("n"), pod("before")))
    running = scheduler()
    observer.wait_bound("before")
    outage = sandbox.faults.add(path="^/api/v1/(pods|nodes|namespaces)", drop="before")
    sandbox.drop_connections()
    sandbox.load(objects(*(pod(f"p{i}") for i in range(20))))
    assert outage.struck.wait(20)
    sandbox.faults.remove(outage)
    observer.wait_bound(*(f"p{i}" for i in range(20)))
    names = [name for name, _ in observer.bindings]
    assert sorted(names) == sorted(set(names))
    settled(running)


def test_a_server_that_is_down_at_start_is_waited_for(tmp_path: Path) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        port = reserved.getsockname()[1]
    sandbox = Sandbox(port=port)
    sandbox.load(objects(node("n"), pod("p")))
    running = Running(sandbox, tmp_path)
    process = running.setup.process
    assert str(process.unsynced()).startswith("not synced yet: nodes, pods")
    with sandbox:
        observer = Observer(sandbox, tmp_path)
        observer.wait_bound("p")
        assert process.unsynced() is None
        observer.close()
        assert running.stop() == 0


def test_two_schedulers_over_the_same_pods_bind_each_of_them_once(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    names = [f"p{i}" for i in range(30)]
    sandbox.load(objects(node("n"), node("m")))
    both = scheduler(), scheduler()
    for one in both:
        one.wait_ready()
    sandbox.load(objects(*map(pod, names)))
    observer.wait_bound(*names)
    assert sorted(name for name, _ in observer.bindings) == sorted(names)
    for one in both:
        settled(one)


def test_an_object_that_cannot_be_understood_is_passed_over(
    sandbox: Sandbox, observer: Observer, scheduler: Start, caplog: pytest.LogCaptureFixture
) -> None:
    running = scheduler()
    running.wait_ready()
    strange = make_node("strange").capacity(cpu="many").obj()
    running.setup.scheduler.node_handler.on_add(strange, initial=False)
    sandbox.load(objects(node("n"), pod("p")))
    observer.wait_bound("p")
    assert "Node strange is ignored" in caplog.text
    settled(running)


def test_a_scheduling_loop_that_dies_ends_the_process_with_1(
    observer: Observer, scheduler: Start, caplog: pytest.LogCaptureFixture
) -> None:
    running = scheduler()
    running.wait_ready()
    queue = running.setup.scheduler.queue
    queue.flush = lambda: 1 // 0  # type: ignore[method-assign]
    running.setup.scheduler.lead()
    assert running.wait_for_end() == 1
    assert "a bug ended the scheduling loop" in caplog.text
