"""What SIGUSR2 finds: differences between what is believed and what the API server has, and everything that is believed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

import pytest

from scheduler.client.errors import TransportError
from scheduler.logkeys import keys_of
from scheduler.sandbox import Sandbox
from scheduler.scheduling.debugger import Debugger, Listed
from tests.builders import make_node, make_pod
from tests.scheduling.harness import Observer, Running, objects

Lists = Callable[[], Listed]


@pytest.fixture
def running(sandbox: Sandbox, observer: Observer, scheduler: Callable[..., Running]) -> Running:
    """A scheduler with one node, a pod on it, one that does not fit, and one of another scheduler."""
    sandbox.load(
        objects(
            make_node("n1").capacity(cpu="4"),
            make_pod("placed").container({"cpu": "1"}, name="c", image="i"),
            make_pod("large").container({"cpu": "9"}, name="c", image="i"),
            make_pod("foreign").container({"cpu": "1"}, name="c", image="i").spec(schedulerName="other"),
        )
    )
    made = scheduler()
    observer.wait_bound("placed")
    observer.wait_refused("large")
    return made


@pytest.fixture
def told(caplog: pytest.LogCaptureFixture) -> Callable[[str], list[dict[str, object]]]:
    """The keys of the lines with a message."""
    caplog.set_level(logging.INFO, "scheduler.scheduling.debugger")

    def read(message: str) -> list[dict[str, object]]:
        return [dict(keys_of(each)) for each in caplog.records if each.getMessage() == message]

    return read


Told = Callable[[str], list[dict[str, object]]]


def debug(running: Running, lists: Callable[[Lists], Lists] = lambda real: real) -> None:
    """Run a debugger over the lists of the API server, or over what a test makes of them."""
    Debugger(running.setup.scheduler, lists(running.setup.debugger.lists), pause=0).run()


def test_what_agrees_is_said_to_agree(running: Running, told: Told) -> None:
    debug(running)
    assert told("Cache mismatch") == []
    assert told("Cache comparer finished") == [{"mismatch": False}]


def test_differences_that_stay_are_named(running: Running, told: Told) -> None:
    def other(real: Lists) -> Lists:
        return lambda: replace(real(), nodes=frozenset({"n2"}), placed=real().placed | {"unseen"}, waiting={})

    debug(running, other)
    nodes, pods = told("Cache mismatch")
    assert nodes == {"missedNodes": ["n2"], "redundantNodes": ["n1"]}
    assert pods["missedPods"] == ["unseen"]
    assert len(pods["redundantPods"]) == 1  # type: ignore[arg-type]  # a list
    assert told("Cache comparer finished") == [{"mismatch": True}]


def test_differences_that_pass_are_no_differences(running: Running, told: Told) -> None:
    def late_once(real: Lists) -> Lists:
        answers = iter([replace(real(), nodes=frozenset()), real()])
        return lambda: next(answers)

    debug(running, late_once)
    assert told("Cache mismatch") == []


def test_everything_is_dumped(running: Running, told: Told) -> None:
    debug(running)
    (nodes,) = told("Dump of cached NodeInfo")
    assert "Node name: n1\nRequested Resources: cpu:1000m memory:0" in str(nodes["nodes"])
    assert "Scheduled Pods(number: 1):\nname: placed, namespace: default, uid: " in str(nodes["nodes"])
    (queue,) = told("Dump of scheduling queue")
    assert queue["summary"] == "activeQ:0; backoffQ:0; unschedulablePods:1"
    assert "name: large, namespace: default" in str(queue["pods"])
    assert "foreign" not in str(queue["pods"])


def test_without_an_api_server_there_is_a_dump_all_the_same(
    running: Running, told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    def away(real: Lists) -> Lists:
        def fail() -> Listed:
            raise TransportError("connection refused")

        return fail

    debug(running, away)
    assert "cannot be compared with the API server: connection refused" in caplog.text
    assert len(told("Dump of cached NodeInfo")) == 1
