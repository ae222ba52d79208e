"""Durations: Go's notation both ways, exact to the nanosecond."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis import duration

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "nanoseconds", "printed"),
    [
        ("0", 0, "0s"),
        ("-0", 0, "0s"),
        ("1ns", 1, "1ns"),
        ("1us", 1000, "1µs"),
        ("1µs", 1000, "1µs"),
        ("1μs", 1000, "1µs"),
        ("1500us", 1_500_000, "1.5ms"),
        ("100ms", SECOND // 10, "100ms"),
        (".5s", SECOND // 2, "500ms"),
        ("1.s", SECOND, "1s"),
        ("+5s", 5 * SECOND, "5s"),
        ("1m30s", 90 * SECOND, "1m30s"),
        ("1h", 3600 * SECOND, "1h0m0s"),
        ("1h1m1.5s", 3661 * SECOND + SECOND // 2, "1h1m1.5s"),
        ("59000ms", 59 * SECOND, "59s"),
        ("-2m", -120 * SECOND, "-2m0s"),
        ("1s1s", 2 * SECOND, "2s"),
        ("2562047h47m16.854775807s", (1 << 63) - 1, "2562047h47m16.854775807s"),
        ("-2562047h47m16.854775808s", -(1 << 63), "-2562047h47m16.854775808s"),
    ],
)
def test_a_duration_means_and_prints_what_it_does_in_go(text: str, nanoseconds: int, printed: str) -> None:
    assert duration.parse(text) == nanoseconds
    assert duration.format(nanoseconds) == printed


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "invalid duration"),
        ("-", "invalid duration"),
        (".s", "invalid duration"),
        ("s", "invalid duration"),
        (" 1s", "invalid duration"),
        ("٣s", "invalid duration"),
        ("1", "missing unit"),
        ("1d", "unknown unit"),
        ("1w", "unknown unit"),
        ("1s ", "unknown unit"),
        ("1e3s", "unknown unit"),
        ("1S", "unknown unit"),
        ("1h-2m", "unknown unit"),
        ("2562047h47m16.854775808s", "invalid duration"),
        ("9" * 300 + "s", "longer than"),
    ],
)
def test_what_go_refuses_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(duration.DurationError, match=complaint):
        duration.parse(text)


@given(st.integers(-(1 << 63), (1 << 63) - 1))
def test_every_duration_survives_being_written_and_read(nanoseconds: int) -> None:
    assert duration.parse(duration.format(nanoseconds)) == nanoseconds
