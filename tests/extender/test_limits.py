"""What a request may take, what it gets when that is not enough, and what it gets before the cluster is known."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from extender.bodies import Inflated, RefusedError
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from tests.builders import make_pod
from tests.extender.builders import Binder, HandMadeWorld, ask, by_name, client, framework, three_nodes, world

POD = make_pod().doc()
BODIES: dict[str, Any] = {
    "filter": by_name(POD, "node-a"),
    "prioritize": by_name(POD, "node-a"),
    "preempt": {"Pod": POD, "NodeNameToMetaVictims": {"node-a": {"Pods": []}}},
    "bind": {"PodName": "p", "PodNamespace": "ns", "PodUID": "u", "Node": "node-a"},
}
VALID = json.dumps(BODIES["filter"]).encode()
PACKED = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
HAVE_ERROR_FIELD = ("filter", "bind")


@pytest.fixture
def made() -> HandMadeWorld:
    """Three nodes."""
    return world(*three_nodes())


# Bodies in gzip


def test_a_packed_body_is_read(made: HandMadeWorld) -> None:
    answer = client(made).post("/filter", data=gzip.compress(VALID), headers=PACKED)
    assert (answer.status_code, answer.json["NodeNames"]) == (200, ["node-a"])


def test_a_body_counts_by_what_it_inflates_to(made: HandMadeWorld) -> None:
    bomb = gzip.compress(bytes(64 << 20))
    assert len(bomb) < 1 << 17
    answer = client(made, max_body_bytes=1 << 17).post("/filter", data=bomb, headers=PACKED)
    assert answer.status_code == 413
    assert f"more than {1 << 17} bytes" in answer.json["Error"]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(VALID, id="not packed"),
        pytest.param(gzip.compress(VALID)[:-1], id="cut off"),
        pytest.param(gzip.compress(VALID) + b"x", id="more behind it"),
        pytest.param(gzip.compress(VALID)[:-8] + bytes(8), id="wrong checksum"),
        pytest.param(b"", id="empty"),
    ],
)
def test_what_is_no_gzip_is_refused(made: HandMadeWorld, body: bytes) -> None:
    answer = client(made).post("/filter", data=body, headers=PACKED)
    assert answer.status_code == 400
    assert answer.json["Error"].startswith("the request body is no gzip stream: ")


class Trickle:
    """A stream that gives a byte at a time."""

    def __init__(self, data: bytes) -> None:
        self._bytes: Iterator[int] = iter(data)

    def read(self, size: int = -1, /) -> bytes:
        return bytes([byte]) if (byte := next(self._bytes, -1)) >= 0 else b""


@pytest.mark.parametrize("size", [1, 7, 1 << 20])
def test_however_it_arrives_it_inflates_to_the_same(size: int) -> None:
    stream = Inflated(Trickle(gzip.compress(VALID)))
    pieces = list(iter(lambda: stream.read(size), b""))
    assert b"".join(pieces) == VALID
    assert max(map(len, pieces)) <= size


def test_a_stream_that_breaks_off_says_so() -> None:
    stream = Inflated(Trickle(gzip.compress(VALID)[:20]))
    with pytest.raises(RefusedError, match="breaks off"):
        list(iter(lambda: stream.read(1 << 20), b""))


# Deadlines


class Hanging:
    """A filter that waits until it is let go."""

    name = "Hanging"
    let_go = threading.Event()

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> None:
        assert self.let_go.wait(20)

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        assert self.let_go.wait(20)
        return 0


@pytest.fixture
def hanging() -> Iterator[HandMadeWorld]:
    """A world in which plugins hang until the test is over."""
    Hanging.let_go.clear()
    made = world(*three_nodes(), frameworks=[framework(extra={"Hanging": Hanging})])
    made.wait_for(make_pod("p", "ns").metadata(uid="u").obj())
    yield made
    Hanging.let_go.set()


@pytest.mark.parametrize("verb", BODIES)
def test_an_answer_comes_in_time(hanging: HandMadeWorld, verb: str) -> None:
    binder = Binder()
    answer = client(hanging, binder, timeout=0.05).post(f"/{verb}", json=BODIES[verb])
    assert answer.status_code == (200 if verb in HAVE_ERROR_FIELD else 504)
    assert "no answer within 0.05 s" in answer.json["Error"]
    assert binder.bound == []


def test_a_request_that_comes_while_all_threads_hang_is_answered_too(hanging: HandMadeWorld) -> None:
    asking = client(hanging, timeout=0.05, threads=1)
    for _ in range(3):
        assert "no answer within" in ask(asking, "/filter", BODIES["filter"])["Error"]


def test_what_was_given_up_before_it_began_is_never_done(hanging: HandMadeWorld) -> None:
    binder = Binder()
    asking = client(hanging, binder, timeout=0.05, threads=1)
    ask(asking, "/filter", BODIES["filter"])
    ask(asking, "/bind", BODIES["bind"])
    Hanging.let_go.set()
    patient = client(hanging, binder, timeout=20, threads=1)
    assert ask(patient, "/filter", BODIES["filter"])["NodeNames"] == ["node-a"]
    assert binder.bound == []


def test_a_caller_may_be_less_patient(hanging: HandMadeWorld) -> None:
    headers = {"Wharfinger-Timeout": "20ms"}
    answer = client(hanging, timeout=20).post("/filter", json=BODIES["filter"], headers=headers)
    assert "no answer within 0.02 s" in answer.json["Error"]


def test_a_caller_may_not_be_more_patient(hanging: HandMadeWorld) -> None:
    headers = {"Wharfinger-Timeout": "1h"}
    answer = client(hanging, timeout=0.02).post("/filter", json=BODIES["filter"], headers=headers)
    assert "no answer within 0.02 s" in answer.json["Error"]


@pytest.mark.parametrize("text", ["soon", "0s", "-1s", "5"])
def test_a_time_that_is_none_is_refused(made: HandMadeWorld, text: str) -> None:
    headers = {"Wharfinger-Timeout": text}
    answer = client(made).post("/filter", json=BODIES["filter"], headers=headers)
    assert answer.status_code == 400
    assert answer.json["Error"].startswith("Wharfinger-Timeout: ")


@pytest.mark.parametrize("verb", BODIES)
def test_within_the_time_all_is_as_without_one(made: HandMadeWorld, verb: str) -> None:
    with_time, without = (
        client(made, timeout=timeout).post(f"/{verb}", json=BODIES[verb]) for timeout in (20.0, None)
    )
    assert (with_time.status_code, with_time.data) == (without.status_code, without.data)
    assert with_time.status_code == 200


# Before the cluster is known


@pytest.mark.parametrize("verb", BODIES)
def test_before_the_cluster_is_known_nothing_is_judged(made: HandMadeWorld, verb: str) -> None:
    binder = Binder()
    asking = client(made, binder, unsynced=lambda: "not synced yet: pods")
    answer = asking.post(f"/{verb}", json=BODIES[verb])
    assert answer.status_code == (200 if verb in HAVE_ERROR_FIELD else 503)
    assert answer.json["Error"] == "the cluster is not known yet: not synced yet: pods"
    assert binder.bound == []
