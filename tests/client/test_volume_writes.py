"""Volumes and claims are patched against the version that was looked at."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.client.actions import Actions
from scheduler.client.errors import ConflictError, NotFoundError
from scheduler.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from scheduler.client.rest import Rest
from tests.client.conftest import Cluster

CAPACITY = {"storage": "1Gi"}


@pytest.fixture
def actions(rest: Rest) -> Actions:
    return Actions(rest, wait=lambda seconds: None)


def made_volume(cluster: Cluster) -> dict[str, Any]:
    spec = {"capacity": CAPACITY, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/d"}}
    document = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": spec}
    return cluster.create(PERSISTENT_VOLUMES.collection(), document)


def made_claim(cluster: Cluster) -> dict[str, Any]:
    spec = {"resources": {"requests": CAPACITY}, "accessModes": ["ReadWriteOnce"]}
    metadata = {"name": "c", "namespace": "default", "annotations": {"kept": "yes"}}
    document = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}
    return cluster.create(PERSISTENT_VOLUME_CLAIMS.collection("default"), document)


def test_a_volume_gets_its_claim(actions: Actions, cluster: Cluster) -> None:
    version = made_volume(cluster)["metadata"]["resourceVersion"]
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "c", "uid": "u"}
    patch = {"metadata": {"resourceVersion": version}, "spec": {"claimRef": reference}}
    after = actions.patch_volume("v", patch)
    assert after.spec.claim_ref is not None
    assert (after.spec.claim_ref.name, after.spec.claim_ref.uid) == ("c", "u")
    assert after.metadata.resource_version != version
    with pytest.raises(ConflictError):
        actions.patch_volume("v", patch)


def test_a_claim_gets_its_node(actions: Actions, cluster: Cluster) -> None:
    version = made_claim(cluster)["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": version, "annotations": {"node": "n"}}}
    after = actions.patch_claim("default", "c", patch)
    assert after.metadata.annotations == {"kept": "yes", "node": "n"}
    with pytest.raises(ConflictError):
        actions.patch_claim("default", "c", {"metadata": {"resourceVersion": version, "annotations": {}}})


def test_what_is_gone_is_not_found(actions: Actions) -> None:
    with pytest.raises(NotFoundError):
        actions.patch_volume("v", {})
    with pytest.raises(NotFoundError):
        actions.patch_claim("default", "c", {})
