"""Events as users see them on the server."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from scheduler.client.events import EventBroadcaster
from scheduler.client.references import ObjectReference
from scheduler.client.resources import EVENTS
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE

POD = ObjectReference(api_version="v1", kind="Pod", namespace="default", name="p", uid="u1")
MOMENT = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
FAILED = ("Warning", "FailedScheduling", "Scheduling", "0/1 nodes are available")


@pytest.fixture
def make(rest: Rest) -> Iterator[Callable[..., EventBroadcaster]]:
    made: list[EventBroadcaster] = []

    def make(**options: Any) -> EventBroadcaster:
        broadcaster = EventBroadcaster(rest, wall=lambda: MOMENT, retry_seconds=0.01, **options)
        made.append(broadcaster)
        return broadcaster

    yield make
    for broadcaster in made:
        broadcaster.stop(DEADLINE)


def on_server(rest: Rest, namespace: str = "default") -> list[dict[str, Any]]:
    body = rest.request("GET", EVENTS.collection(namespace)).body
    items: list[dict[str, Any]] = msgspec.json.decode(body, type=dict[str, Any])["items"]
    return items


def test_an_event_says_who_what_and_why(make: Callable[..., EventBroadcaster], rest: Rest) -> None:
    broadcaster = make()
    broadcaster.start()
    broadcaster.recorder("my-scheduler", hostname="host").eventf(POD, *FAILED)
    broadcaster.stop(DEADLINE)
    (event,) = on_server(rest)
    assert event["metadata"]["name"] == "p.1886caf21c964970"
    assert event["regarding"] == {
        "apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "p", "uid": "u1",
    }  # fmt: skip
    expected = {
        "type": "Warning",
        "reason": "FailedScheduling",
        "action": "Scheduling",
        "note": "0/1 nodes are available",
        "reportingController": "my-scheduler",
        "reportingInstance": "my-scheduler-host",
        "eventTime": "2026-01-02T03:04:05.000006Z",
    }
    assert expected.items() <= event.items()
    assert not event.get("series")


def test_what_is_too_long_is_cut_to_what_the_server_takes(
    make: Callable[..., EventBroadcaster], rest: Rest
) -> None:
    broadcaster = make()
    broadcaster.start()
    recorder = broadcaster.recorder("s" * 63, hostname="h" * 253)
    recorder.eventf(POD, "Warning", "FailedScheduling", "Scheduling", "é" * 600)
    broadcaster.stop(DEADLINE)
    (event,) = on_server(rest)
    assert (len(event["reportingInstance"]), len(event["note"].encode())) == (128, 1024)


def test_equal_events_become_a_series(make: Callable[..., EventBroadcaster], rest: Rest) -> None:
    broadcaster = make()
    recorder = broadcaster.recorder("s")
    for _ in range(3):
        recorder.eventf(POD, *FAILED)
    recorder.eventf(POD, "Normal", "Scheduled", "Binding", "Successfully assigned default/p to n1")
    broadcaster.start()
    broadcaster.stop(DEADLINE)
    series = {event["reason"]: event.get("series") for event in on_server(rest)}
    assert series == {
        "FailedScheduling": {"count": 2, "lastObservedTime": "2026-01-02T03:04:05.000006Z"},
        "Scheduled": None,
    }


def test_events_of_cluster_wide_objects_are_kept_in_the_default_namespace(
    make: Callable[..., EventBroadcaster], rest: Rest
) -> None:
    broadcaster = make()
    broadcaster.start()
    broadcaster.recorder("s").eventf(ObjectReference(kind="Node", name="n"), "Normal", "R", "A", "note")
    broadcaster.stop(DEADLINE)
    assert [event["regarding"]["name"] for event in on_server(rest)] == ["n"]


def test_a_series_whose_event_expired_is_created_again(
    make: Callable[..., EventBroadcaster], rest: Rest
) -> None:
    broadcaster = make()
    broadcaster.start()
    recorder = broadcaster.recorder("s")
    recorder.eventf(POD, *FAILED)
    broadcaster.flush(DEADLINE)
    (event,) = on_server(rest)
    rest.request("DELETE", EVENTS.object("default", event["metadata"]["name"]))
    recorder.eventf(POD, *FAILED)
    broadcaster.stop(DEADLINE)
    (event,) = on_server(rest)
    assert event["series"]["count"] == 2


@pytest.mark.parametrize("fault", [{"drop": "before"}, {"status": 500}], ids=["dropped", "500"])
def test_what_the_network_ate_is_sent_again(
    make: Callable[..., EventBroadcaster], rest: Rest, sandbox: Sandbox, fault: dict[str, Any]
) -> None:
    broadcaster = make()
    broadcaster.start()
    sandbox.faults.add(method="POST", path="/events$", times=3, **fault)
    broadcaster.recorder("s").eventf(POD, *FAILED)
    assert broadcaster.flush(DEADLINE)
    assert len(on_server(rest)) == 1
    assert broadcaster.dropped == 0


def test_an_event_whose_answer_was_lost_arrived_all_the_same(
    make: Callable[..., EventBroadcaster], rest: Rest, sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = make()
    broadcaster.start()
    lost = sandbox.faults.add(method="POST", path="/events$", drop="after", times=1)
    broadcaster.recorder("s").eventf(POD, *FAILED)
    assert broadcaster.flush(DEADLINE)
    assert (lost.hits, len(on_server(rest)), broadcaster.dropped) == (1, 1, 0)
    assert caplog.messages == []


def test_an_event_is_given_up_after_twelve_tries(
    make: Callable[..., EventBroadcaster], sandbox: Sandbox
) -> None:
    broadcaster = make()
    broadcaster.start()
    rule = sandbox.faults.add(method="POST", path="/events$", drop="before")
    broadcaster.recorder("s").eventf(POD, *FAILED)
    assert broadcaster.flush(DEADLINE)
    assert (rule.hits, broadcaster.dropped) == (12, 1)


def test_what_the_server_refuses_is_not_sent_again(
    make: Callable[..., EventBroadcaster], sandbox: Sandbox, caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = make()
    broadcaster.start()
    rule = sandbox.faults.add(method="POST", path="/events$", status=403, message="not you")
    broadcaster.recorder("s").eventf(POD, *FAILED)
    assert broadcaster.flush(DEADLINE)
    assert (rule.hits, broadcaster.dropped) == (1, 1)
    assert "the server rejected an event (will not retry): not you" in caplog.messages


def test_a_full_queue_drops_and_counts_and_never_blocks(
    make: Callable[..., EventBroadcaster], caplog: pytest.LogCaptureFixture
) -> None:
    broadcaster = make(queue_limit=3)
    recorder = broadcaster.recorder("s")
    for _ in range(10):
        recorder.eventf(POD, *FAILED)
    assert broadcaster.dropped == 7
    assert caplog.messages == ["an event is dropped: the queue is full (told once)"]
