"""Bind goes through the one port, and tells what came of it."""

from __future__ import annotations

import pytest

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
