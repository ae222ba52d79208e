"""Which claims a pod's volumes refer to, whose they are, and of which class."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, convert
from scheduler.plugins.helper.claims import (
    CLASS_ANNOTATION,
    ClaimReference,
    claims_in_use,
    claims_of,
    class_of,
    class_of_volume,
    named_claims,
    ownership_fault,
)
from tests.plugins.volumes import CONFIG_MAP, EPHEMERAL, of_claim, owned_claim, pod_with

POD = pod_with(CONFIG_MAP, of_claim("data"), EPHEMERAL, of_claim("data"), name="web")


def test_claims_are_named_or_made_for_the_pod() -> None:
    assert claims_of(POD.obj()) == (
        ClaimReference("v1", "data", False),
        ClaimReference("v2", "web-v2", True),
        ClaimReference("v3", "data", False),
    )
    assert named_claims(POD.obj()) == ("data", "data")
    assert list(claims_in_use(POD.info())) == [("default", "data")] * 2
    assert list(claims_in_use(pod_with().info())) == []


@pytest.mark.parametrize(
    ("owners", "mine"),
    [
        pytest.param([{"uid": "Pod/default/web", "controller": True}], True, id="the pod controls it"),
        pytest.param([{"uid": "Pod/default/web"}], False, id="the pod owns it, but does not control it"),
        pytest.param([{"uid": "other", "controller": True}], False, id="another controls it"),
        pytest.param([], False, id="nobody owns it"),
    ],
)
def test_an_ephemeral_claim_is_the_pods_only_when_the_pod_controls_it(owners: list[Any], mine: bool) -> None:
    metadata = {"name": "web-v2", "namespace": "default", "ownerReferences": owners}
    fault = ownership_fault(POD.obj(), convert(PersistentVolumeClaim, {"metadata": metadata}))
    assert fault == (
        None if mine else "PVC default/web-v2 was not created for pod default/web (pod is not owner)"
    )


def test_a_claim_of_another_namespace_is_never_the_pods() -> None:
    pod = pod_with(EPHEMERAL, name="web", namespace="x")
    fault = ownership_fault(pod.obj(), owned_claim("web-v0", "Pod/x/web"))
    assert fault == "PVC default/web-v0 was not created for pod x/web (pod is not owner)"


@pytest.mark.parametrize(
    ("annotations", "field", "expected"),
    [
        pytest.param({}, None, "", id="none"),
        pytest.param({}, "fast", "fast", id="field"),
        pytest.param({CLASS_ANNOTATION: "slow"}, "fast", "slow", id="the annotation wins"),
        pytest.param({CLASS_ANNOTATION: ""}, "fast", "", id="even when it is empty"),
    ],
)
def test_the_class(annotations: dict[str, str], field: str | None, expected: str) -> None:
    metadata = {"name": "c", "annotations": annotations}
    spec = {} if field is None else {"storageClassName": field}
    document = {"metadata": metadata, "spec": spec}
    assert class_of(convert(PersistentVolumeClaim, document)) == expected
    assert class_of_volume(convert(PersistentVolume, document)) == expected
