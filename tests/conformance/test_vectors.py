"""kube-scheduler's recorded answers, one by one: every field must be the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler.explain.profiles import Workshop
from tests.conformance.harness import AREAS, DATA, held_out, judge, make_workshop, vectors

_CASES = [
    pytest.param(area, vector, id=vector["expected"]["name"])
    for area in AREAS
    for vector in vectors(DATA / f"{area}.jsonl.gz")
    if not held_out(vector)
]


@pytest.fixture(scope="module")
def workshop() -> Workshop:
    return make_workshop()


@pytest.mark.parametrize(("area", "vector"), _CASES)
def test_the_answer_is_kube_schedulers(
    area: str, vector: Mapping[str, Any], workshop: Workshop, record_property: Any
) -> None:
    verdict = judge(vector, workshop)
    record_property("area", area)
    record_property("fields", len(verdict.compared))
    assert not verdict.differences, "\n".join(verdict.differences[:5])
    assert verdict.compared


@pytest.mark.parametrize("area", AREAS)
def test_no_area_is_empty(area: str) -> None:
    assert sum(case.values[0] == area for case in _CASES) > 100
