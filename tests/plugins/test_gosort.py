"""Go's order of equals: against recordings of Go's ``sort.Slice``, and as a sort that has none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.plugins.helper.gosort import go_sorted

RECORDED = Path(__file__).with_name("data") / "go_order.jsonl"
"""A line for each: ``ranks`` that were sorted, None for a rank that comes last and before its equals, and the ``order`` of their
places that Go 1.27 left."""


def recordings() -> Iterator[Any]:
    for line in RECORDED.read_text().splitlines():
        recorded = json.loads(line)
        yield pytest.param(recorded["ranks"], recorded["order"], id=recorded["id"])


def precedes(one: int | None, other: int | None) -> bool:
    """Contradicts itself for two Nones: each comes before the other."""
    return other is None or (one is not None and one < other)


@pytest.mark.parametrize(("ranks", "order"), list(recordings()))
def test_equals_come_as_go_leaves_them(ranks: list[int | None], order: list[int]) -> None:
    assert go_sorted(range(len(ranks)), lambda one, other: precedes(ranks[one], ranks[other])) == order


@given(st.lists(st.integers(0, 30), max_size=200))
def test_it_sorts(ranks: list[int]) -> None:
    assert go_sorted(ranks, int.__lt__) == sorted(ranks)


@given(st.lists(st.integers(0, 3), max_size=12))
def test_few_equals_keep_their_order(ranks: list[int]) -> None:
    places = range(len(ranks))
    found = go_sorted(places, lambda one, other: ranks[one] < ranks[other])
    assert found == sorted(places, key=ranks.__getitem__)


def test_what_is_sorted_stays_as_it_is() -> None:
    items = [3, 1, 2] * 20
    assert go_sorted(items, int.__lt__) != items
    assert items == [3, 1, 2] * 20
