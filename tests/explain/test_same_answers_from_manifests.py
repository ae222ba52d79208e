"""Manifests give the answers that scenarios give: completing objects changes nothing about complete ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from scheduler.apis.manifests import Manifest
from scheduler.app.cli.explain.subject import find
from scheduler.explain.answers import answer
from scheduler.explain.cluster import read_cluster
from scheduler.explain.world import build_world
from tests.conformance.harness import AREAS, DATA, held_out, make_workshop, vectors

_PER_AREA = 12
_WORKSHOP = make_workshop()
_CASES = [
    pytest.param(vector, id=vector["expected"]["name"])
    for area in AREAS
    for vector in list(vectors(DATA / f"{area}.jsonl.gz"))[:_PER_AREA]
    if not held_out(vector) and "error" not in vector["expected"]
]


@pytest.mark.parametrize("vector", _CASES)
def test_manifests_give_the_answers_of_scenarios(vector: Mapping[str, Any]) -> None:
    scenario = vector["scenario"]
    meta = scenario["pod"]["metadata"]
    documents = [*scenario["objects"], scenario["pod"]]
    cluster = read_cluster(Manifest(each, str(place)) for place, each in enumerate(documents))
    subject = find(cluster, meta["name"], meta["namespace"])
    profiles = _WORKSHOP.profiles(scenario.get("config"), "config")
    found = answer(build_world(subject.others, subject.pod, profiles, _WORKSHOP))
    assert {"name": vector["expected"]["name"], **found} == vector["expected"]
