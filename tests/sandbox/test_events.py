"""Events: what events.k8s.io/v1 demands, what core/v1 lets pass, and what may change later."""

from __future__ import annotations

import pytest

from tests.sandbox.rest import Object, Rest, event

NEW = "/apis/events.k8s.io/v1/namespaces/default/events"
CORE = "/api/v1/namespaces/default/events"
SEEN = "2026-01-01T00:00:00.000000Z"

FAULTS: list[tuple[str, Object, list[str]]] = [
    ("no time", {"eventTime": None}, ["eventTime"]),
    ("no reporter", {"reportingController": None}, ["reportingController"] * 3),
    ("reporter", {"reportingController": "a b"}, ["reportingController"]),
    ("no instance", {"reportingInstance": None}, ["reportingInstance"]),
    ("long instance", {"reportingInstance": "x" * 129}, ["reportingInstance"]),
    ("no action", {"action": None}, ["action"]),
    ("no reason", {"reason": None}, ["reason"]),
    ("long note", {"note": "é" * 513}, ["message"]),
    ("type", {"type": "Alarm"}, ["type"]),
    ("name", {"metadata": {"name": "A_b"}}, ["metadata.name"]),
    ("series of one", {"series": {"count": 1, "lastObservedTime": SEEN}}, ["series.count"]),
    ("timeless series", {"series": {"count": 2}}, ["series.lastObservedTime"]),
    ("old fields", {"deprecatedCount": 3}, ["count"]),
]


@pytest.mark.parametrize(
    ("change", "fields"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_a_new_event_has_to_be_complete(rest: Rest, change: Object, fields: list[str]) -> None:
    reply = rest.post(NEW, event("e") | change)
    assert (reply.status, reply.causes) == (422, fields)


def test_a_complete_one_is_taken_and_known_under_both_names(rest: Rest) -> None:
    assert rest.post(NEW, event("e", note="x" * 1024)).status == 201
    core = rest.get(f"{CORE}/e").body
    assert (core["apiVersion"], core["message"], core["reportingComponent"]) == ("v1", "x" * 1024, "tester")
    assert rest.post(NEW, event("e")).body["message"] == 'events.events.k8s.io "e" already exists'


@pytest.mark.parametrize(
    "time",
    ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789Z", "yesterday", "2026-13-01T00:00:00.000000Z"],
)
def test_its_time_has_six_decimals(rest: Rest, time: str) -> None:
    reply = rest.post(NEW, event("e") | {"eventTime": time})
    assert (reply.status, f'parsing time "{time}"' in reply.body["message"]) == (400, True)


def test_times_are_kept_in_utc(rest: Rest) -> None:
    reply = rest.post(NEW, event("e") | {"eventTime": "2026-01-01T02:30:00.000001+02:30"})
    assert reply.body["eventTime"] == "2026-01-01T00:00:00.000001Z"


def test_an_old_style_event_needs_little(rest: Rest) -> None:
    about = {"kind": "Pod", "namespace": "default", "name": "a"}
    assert rest.post(CORE, {"metadata": {"name": "e"}, "involvedObject": about}).status == 201
    elsewhere = {"metadata": {"name": "f"}, "involvedObject": {**about, "namespace": "other"}}
    assert rest.post(CORE, elsewhere).causes == ["involvedObject.namespace"]


def test_only_the_series_changes(rest: Rest) -> None:
    rest.post(NEW, event("e"))
    series = {"count": 2, "lastObservedTime": SEEN}
    assert rest.patch(f"{NEW}/e", {"series": series}).body["series"] == series
    assert rest.patch(f"{NEW}/e", {"series": {"count": 1}}, "merge").causes == ["series.count"]
    assert rest.patch(f"{NEW}/e", {"note": "other", "action": "Else"}).causes == ["message", "action"]
    assert rest.patch(f"{CORE}/e", {"message": "other"}).status == 200


@pytest.mark.parametrize(
    ("path", "selector", "status"),
    [
        (NEW, "regarding.name=a,reportingController=tester", 200),
        (CORE, "involvedObject.name=a,reportingComponent=tester", 200),
        (NEW, "involvedObject.name=a", 400),
        (CORE, "regarding.name=a", 400),
    ],
)
def test_each_api_selects_by_its_own_names(rest: Rest, path: str, selector: str, status: int) -> None:
    rest.post(NEW, event("e"))
    reply = rest.get(path, fieldSelector=selector)
    assert (reply.status, status == 400 or reply.names == ["e"]) == (status, True)
