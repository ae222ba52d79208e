"""The patch that a failed attempt writes: what changed, and nothing when nothing did."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import Pod
from scheduler.scheduling.conditions import nomination_patch, status_patch
from tests.builders import make_pod
from tests.scheduling.desk import WALL

NOW = "2026-01-02T03:04:05Z"
BEFORE = "2025-01-01T00:00:00Z"


def pod(nominated: str = "", generation: int = 0, **condition: Any) -> Pod:
    conditions = [{"type": "Ready", "status": "False"}]
    if condition:
        known = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}
        conditions.append({**known, "lastTransitionTime": BEFORE, **condition})
    made = make_pod("p").metadata(generation=generation).status(conditions=conditions)
    return (made.nominated(nominated) if nominated else made).obj()


def patch(pod: Pod, message: str = "no room", nominated: str | None = None) -> dict[str, Any]:
    status: dict[str, Any] = status_patch(pod, "Unschedulable", message, nominated, WALL).get("status", {})
    return status


def test_the_first_refusal_is_a_transition() -> None:
    (condition,) = patch(pod())["conditions"]
    assert condition == {
        "type": "PodScheduled",
        "status": "False",
        "reason": "Unschedulable",
        "message": "no room",
        "lastProbeTime": None,
        "lastTransitionTime": NOW,
    }


@pytest.mark.parametrize(
    ("known", "message", "since"),
    [
        pytest.param({"status": "False"}, "no room", None, id="the same again"),
        pytest.param({"status": "False"}, "other words", BEFORE, id="other words, no transition"),
        pytest.param({"reason": "SchedulerError"}, "no room", BEFORE, id="another reason, no transition"),
        pytest.param({"status": "True"}, "no room", NOW, id="it was scheduled"),
        pytest.param({"message": "x", "lastTransitionTime": None}, "no room", NOW, id="no time known"),
    ],
)
def test_the_transition_time_moves_with_the_status_alone(
    known: dict[str, Any], message: str, since: str | None
) -> None:
    conditions = patch(pod(**known), message).get("conditions", [])
    assert [one["lastTransitionTime"] for one in conditions] == ([since] if since else [])


@pytest.mark.parametrize(
    ("known", "order"),
    [
        pytest.param({}, ["Ready", "PodScheduled"], id="a new one comes last"),
        pytest.param({"message": "x"}, ["Ready", "PodScheduled"], id="a known one keeps its place"),
    ],
)
def test_the_server_is_told_where_the_condition_belongs(known: dict[str, Any], order: list[str]) -> None:
    assert patch(pod(**known))["$setElementOrder/conditions"] == [{"type": kind} for kind in order]


def test_a_new_generation_is_written_once() -> None:
    (condition,) = patch(pod(generation=3, observedGeneration=2))["conditions"]
    assert condition["observedGeneration"] == 3
    assert patch(pod(generation=3, observedGeneration=3)) == {}


@pytest.mark.parametrize(
    ("known", "wanted", "written"),
    [
        pytest.param("", None, {}, id="left alone"),
        pytest.param("n", None, {}, id="left as it is"),
        pytest.param("", "", {}, id="none to clear"),
        pytest.param("n", "", {"nominatedNodeName": None}, id="cleared"),
        pytest.param("n", "m", {"nominatedNodeName": "m"}, id="changed"),
        pytest.param("n", "n", {}, id="known already"),
    ],
)
def test_the_nomination_is_written_when_it_changes(
    known: str, wanted: str | None, written: dict[str, Any]
) -> None:
    assert patch(pod(nominated=known, status="False"), nominated=wanted) == written
    if wanted is not None:
        assert nomination_patch(pod(nominated=known), wanted).get("status", {}) == written
