"""What is written: the claim into the volume, the node into the claim, each against the version that was looked at."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.plugins.volume_binding.changes import bound_volume, claim_patch, claim_with_node, volume_patch
from scheduler.plugins.volume_binding.placement import StaticBinding
from tests.plugins.volume_binding.world import SELECTED_NODE, disk, wish
from tests.plugins.volumes import Document

CLAIM_REF = {
    "apiVersion": "v1",
    "kind": "PersistentVolumeClaim",
    "namespace": "default",
    "name": "c",
    "uid": "uid-c",
    "resourceVersion": "1",
    "fieldPath": None,
}
BY_US = "pv.kubernetes.io/bound-by-controller"
MINE = {"namespace": "default", "name": "c"}


@pytest.mark.parametrize(
    ("volume", "annotations", "patch"),
    [
        pytest.param({}, {BY_US: "yes"}, {"annotations": {BY_US: "yes"}, "claimRef": CLAIM_REF}, id="free"),
        pytest.param(
            {"metadata": {"annotations": {"a": "b"}}},
            {"a": "b", BY_US: "yes"},
            {"annotations": {BY_US: "yes"}, "claimRef": CLAIM_REF},
            id="free, with annotations",
        ),
        pytest.param(
            {"claimRef": MINE}, {}, {"claimRef": CLAIM_REF}, id="set aside by its user, the uid is missing"
        ),
        pytest.param({"claimRef": {**MINE, "uid": "uid-c"}}, {}, {}, id="set aside with uid: nothing to do"),
    ],
)
def test_volumes(volume: Document, annotations: dict[str, str], patch: Document) -> None:
    pair = StaticBinding(disk("pv", **volume), wish("c"))
    after: Any = bound_volume(pair)
    assert (after.spec.claim_ref.name, after.spec.claim_ref.uid) == ("c", "uid-c")
    assert after.metadata.annotations == annotations
    metadata = {"resourceVersion": "1"}
    if "annotations" in patch:
        metadata["annotations"] = patch["annotations"]
    expected: Document = {"metadata": metadata}
    if "claimRef" in patch:
        expected["spec"] = {"claimRef": patch["claimRef"]}
    assert volume_patch(pair) == expected


def test_claims() -> None:
    claim = wish("c", annotations={"a": "b"})
    assert claim_with_node(claim, "n0").metadata.annotations == {"a": "b", SELECTED_NODE: "n0"}
    assert claim.metadata.annotations == {"a": "b"}
    assert claim_patch(claim, "n0") == {
        "metadata": {"resourceVersion": "1", "annotations": {SELECTED_NODE: "n0"}}
    }
