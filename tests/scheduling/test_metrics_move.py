"""Every stable metric of kube-scheduler moves when it should, and by how much."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from scheduler.metrics import FAMILIES
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk

PROFILE = "default-scheduler"


@pytest.fixture
def desk() -> Iterator[Desk]:
    made = Desk()
    yield made
    made.close()


def pod(name: str, cpu: str = "1") -> PodBuilder:
    return make_pod(name).req(cpu=cpu).spec(schedulerName=PROFILE)


def samples(desk: Desk, name: str) -> dict[tuple[str, ...], float]:
    """The samples of that name by their label values."""
    return {
        tuple(one.labels.values()): one.value
        for family in desk.metrics.registry.collect()
        for one in family.samples
        if one.name == f"scheduler_{name}"
    }


def points(desk: Desk) -> set[tuple[str, str]]:
    return {labels[:2] for labels in samples(desk, "framework_extension_point_duration_seconds_count")}  # type: ignore[misc]


def test_a_pod_that_is_scheduled(desk: Desk) -> None:
    desk.put(make_node("n").capacity(cpu="4"), make_node("m").capacity(cpu="4"), pod("p"))
    desk.run_until(lambda: desk.metric("schedule_attempts_total", result="scheduled", profile=PROFILE))
    assert desk.metric("scheduling_attempt_duration_seconds_count", result="scheduled", profile=PROFILE) == 1
    assert desk.metric("scheduling_algorithm_duration_seconds_count") == 1
    assert desk.metric("pod_scheduling_attempts_count") == 1
    assert desk.metric("pod_scheduling_attempts_sum") == 1
    assert desk.metric("pod_scheduling_sli_duration_seconds_count", attempts="1") == 1
    assert samples(desk, "queue_incoming_pods_total") == {("active", "UnschedulablePodAdd"): 1}
    names = ("PreEnqueue", "PreFilter", "Filter", "PreScore", "Score", "Reserve", "Permit")
    assert points(desk) == {
        *((name, "Success") for name in names),
        ("PreBindPreFlight", "Skip"),
        *((name, "Success") for name in ("PreBind", "Bind", "PostBind")),
    }


def test_a_pod_that_fits_nowhere(desk: Desk) -> None:
    desk.put(make_node("n").capacity(cpu="1"), pod("p", "2"))
    desk.step()
    assert samples(desk, "schedule_attempts_total") == {("unschedulable", PROFILE): 1}
    assert samples(desk, "unschedulable_pods") == {("NodeResourcesFit", PROFILE): 1}
    assert samples(desk, "queue_incoming_pods_total") == {
        ("active", "UnschedulablePodAdd"): 1,
        ("unschedulable", "ScheduleAttemptFailure"): 1,
    }
    assert (
        desk.metric("scheduling_attempt_duration_seconds_count", result="unschedulable", profile=PROFILE) == 1
    )
    assert ("Filter", "Success") in points(desk)
    desk.remove("p")
    desk.step()
    assert samples(desk, "unschedulable_pods") == {("NodeResourcesFit", PROFILE): 0}


def test_an_attempt_that_goes_wrong(desk: Desk) -> None:
    desk.ledger.refuse = True
    desk.put(make_node("n").capacity(cpu="1"), pod("p"))
    desk.run_until(lambda: samples(desk, "schedule_attempts_total") == {("error", PROFILE): 1})
    assert ("Bind", "Error") in points(desk)
    assert ("Unreserve", "Success") in points(desk)
    assert desk.metric("pod_scheduling_attempts_count") == 0


def test_pending_pods_by_queue(desk: Desk) -> None:
    gated = pod("gated").gates("example.com/wait")
    desk.put(make_node("n").capacity(cpu="1"), pod("huge", "64"), gated)
    desk.step()
    desk.scheduler._leading = False
    desk.put(pod("next"))
    desk.step()
    assert samples(desk, "pending_pods") == {
        ("active",): 1,
        ("backoff",): 0,
        ("unschedulable",): 1,
        ("gated",): 1,
    }


@pytest.mark.parametrize(
    "name",
    [one.name for one in FAMILIES if one.stability == "STABLE" and not one.labels],
)
def test_stable_metrics_without_labels_are_there_from_the_start(desk: Desk, name: str) -> None:
    family: Any = next(one for one in FAMILIES if one.name == name)
    suffix = "_count" if family.kind == "histogram" else ""
    assert samples(desk, name.removeprefix("scheduler_") + suffix) == {(): 0}


@pytest.mark.parametrize(
    ("node", "labels", "events"),
    [
        pytest.param("n1", {"a": "b"}, {"AssignedPodUpdate", "AssignedPodUpdatePodLabel"}, id="a label"),
        pytest.param("n1", {}, {"AssignedPodUpdate"}, id="nothing in particular"),
        pytest.param(
            "", {"a": "b"}, {"UnschedulablePodUpdate", "UnschedulablePodUpdatePodLabel"}, id="a waiting pod"
        ),
    ],
)
def test_an_update_counts_in_general_and_by_what_changed(
    desk: Desk, node: str, labels: dict[str, str], events: set[str]
) -> None:
    name = "event_handling_duration_seconds_count"
    desk.put(pod("p").spec(nodeName=node))
    desk.step()
    before = samples(desk, name)
    desk.put(pod("p").spec(nodeName=node).labels(labels))
    desk.step()
    grown = {key[0]: count - before.get(key, 0) for key, count in samples(desk, name).items()}
    assert {event: times for event, times in grown.items() if times} == dict.fromkeys(events, 1)
