"""Null in an optional field of any object is as if the field were absent; in a map or a list it is a zero value, and never a crash."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.explain.scenarios import answer_scenario
from tests.conformance.harness import AREAS, DATA, held_out, make_workshop, vectors

Path = tuple[str | int, ...]

_WORKSHOP = make_workshop()
_MAPS = frozenset(
    [
        "labels",
        "annotations",
        "matchLabels",
        "nodeSelector",
        "requests",
        "limits",
        "capacity",
        "allocatable",
        "overhead",
        "volumeAttributes",
    ]
)
_SCENARIOS = [
    vector["scenario"]
    for area in AREAS
    for vector in list(vectors(DATA / f"{area}.jsonl.gz"))[:20]
    if not held_out(vector)
]


def fields(value: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of everything in a document."""
    entries = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, inner in entries:
        yield (*path, key)
        yield from fields(inner, (*path, key))


def in_struct(path: Path) -> bool:
    """Whether the path ends at a field: not at an entry of a map, nor of a list, nor is it part of the scenario itself."""
    if not isinstance(path[-1], str) or len(path) < 2:
        return False
    return path[-2] not in _MAPS and path[:2] != ("pod", "selector") and path[-2:] != ("spec", "selector")


def changed(scenario: Any, path: Path, *, absent: bool) -> Any:
    """The scenario with one field nulled, or without it."""
    made = copy.deepcopy(scenario)
    place = made
    for key in path[:-1]:
        place = place[key]
    if absent:
        del place[path[-1]]
    else:
        place[path[-1]] = None
    return made


def without_words(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer; of an error only that it is one, for it may name the value."""
    return {**answer, "error": True} if "error" in answer else answer


@st.composite
def places(draw: st.DrawFn) -> tuple[Any, Path]:
    """A scenario and a path in one of its objects."""
    scenario = draw(st.sampled_from(_SCENARIOS))
    number = draw(st.integers(-1, len(scenario["objects"]) - 1))
    document, prefix = (
        (scenario["pod"], ("pod",)) if number < 0 else (scenario["objects"][number], ("objects", number))
    )
    return scenario, (*prefix, *draw(st.sampled_from(list(fields(document)))))


@settings(max_examples=150, deadline=None)
@given(place=places())
def test_a_null_is_harmless(place: tuple[Any, Path]) -> None:
    scenario, path = place
    nulled = answer_scenario(changed(scenario, path, absent=False), _WORKSHOP)
    assert len(nulled) > 1
    if in_struct(path):
        absent = answer_scenario(changed(scenario, path, absent=True), _WORKSHOP)
        assert without_words(nulled) == without_words(absent)
