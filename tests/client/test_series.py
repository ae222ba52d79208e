"""Equal events become a series."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from scheduler.client.references import ObjectReference
from scheduler.client.series import Event, SeriesCache

START = datetime(2026, 1, 1, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return START + timedelta(minutes=minutes)


def event(minutes: float = 0.0, **changes: object) -> Event:
    base = Event(
        name="pod.1", namespace="ns", time=at(minutes), type="Warning", reason="FailedScheduling",
        action="Scheduling", note="0/3 nodes", controller="s", instance="s-host",
        regarding=ObjectReference(kind="Pod", namespace="ns", name="pod", uid="u"),
    )  # fmt: skip
    return msgspec.structs.replace(base, **changes)


def test_the_first_event_is_created_the_second_starts_a_series_the_third_only_counts() -> None:
    cache = SeriesCache()
    first, second, third = (cache.record(event(minutes)) for minutes in (0, 1, 2))
    assert first is not None
    assert first.count == 1
    assert second is not None
    assert (second.count, second.last_observed) == (2, at(1))
    assert third is None


def test_a_series_keeps_the_name_of_its_first_event() -> None:
    cache = SeriesCache()
    cache.record(event(name="pod.first"))
    second = cache.record(event(1, name="pod.second"))
    assert second is not None
    assert second.event.name == "pod.first"


@pytest.mark.parametrize(
    ("changes", "isomorphic"),
    [
        pytest.param({"note": "another note"}, True, id="note"),
        pytest.param({"reason": "Scheduled"}, False, id="reason"),
        pytest.param({"action": "Binding"}, False, id="action"),
        pytest.param({"type": "Normal"}, False, id="type"),
        pytest.param({"controller": "t"}, False, id="controller"),
        pytest.param({"regarding": ObjectReference(name="other")}, False, id="regarding"),
        pytest.param({"related": ObjectReference(name="other")}, False, id="related"),
    ],
)
def test_isomorphic_events_agree_in_all_but_note_and_time(
    changes: dict[str, object], isomorphic: bool
) -> None:
    cache = SeriesCache()
    cache.record(event())
    second = cache.record(event(1, **changes))
    assert second is not None
    assert (second.count == 2) == isomorphic


def test_a_series_is_refreshed_every_half_hour_with_its_count() -> None:
    cache = SeriesCache()
    cache.tend(at(0))
    for minute in range(32):
        cache.record(event(minute))
        sent = cache.tend(at(minute))
        assert [sending.count for sending in sent] == ([31] if minute == 30 else [])


def test_a_quiet_series_is_finished_and_told_once_more() -> None:
    cache = SeriesCache()
    cache.tend(at(0))
    for minute in (0, 1, 2):
        cache.record(event(minute))
    cache.record(event(0, reason="Single"))
    assert [sending.count for sending in cache.tend(at(9))] == [3]
    assert len(cache) == 0
    again = cache.record(event(10))
    assert again is not None
    assert again.count == 1, "a new series begins"
