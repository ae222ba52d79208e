"""Compares our answers with what kube-scheduler 1.36.2 was recorded to answer.

Every field must be the same. Scenarios of claims, slices and device classes are held out: DynamicResources decides about pods without
claims only, so far.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scheduler.explain.profiles import Workshop
from scheduler.explain.scenarios import answer_scenario
from scheduler.features import Features
from scheduler.framework.registry import Registry
from scheduler.plugins import IN_TREE, PLANNED
from tests.conformance.verdict import Verdict

DATA = Path(__file__).parent / "data"
AREAS = (
    "resources",
    "node",
    "ports",
    "images",
    "spread",
    "interpod",
    "volumes",
    "preemption",
    "picks",
    "gates",
    "mixed",
)
_CLAIMED = frozenset({"ResourceClaim", "ResourceClaimTemplate", "ResourceSlice", "DeviceClass"})


def make_workshop() -> Workshop:
    """The plugins in this package, with 1.36's gates."""
    return Workshop(Registry(IN_TREE, PLANNED), Features.default())


def vectors(file: Path) -> Iterator[Mapping[str, Any]]:
    """The recorded vectors in a file: one JSON object a line, ``.gz`` or plain."""
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    yield from map(json.loads, content.splitlines())


def held_out(vector: Mapping[str, Any]) -> bool:
    """Whether the scenario holds claims, slices or device classes, or a pod that asks for a claim."""
    scenario = vector["scenario"]
    return any(
        each.get("kind") in _CLAIMED or (each.get("spec") or {}).get("resourceClaims")
        for each in (*scenario["objects"], scenario["pod"])
    )


def judge(vector: Mapping[str, Any], workshop: Workshop) -> Verdict:
    """Compare one vector."""
    expected = vector["expected"]
    actual = answer_scenario(vector["scenario"], workshop)
    verdict = Verdict(expected["name"])
    if "error" in expected and "error" in actual:  # that it is one must agree, not the wording
        verdict.check("error", True, True)
        return verdict
    for field in sorted(expected.keys() | actual.keys()):
        verdict.check(field, expected.get(field), actual.get(field))
    return verdict
