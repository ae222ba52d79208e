"""Volumes: what waits, what conflicts, and what the sentence says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.builders import PodBuilder, make_pod
from tests.conformance.surprises.world import (
    HOST,
    ZONE,
    Document,
    ask,
    node,
    pending,
    reason,
    running,
    victims,
)

EBS = "ebs.csi.aws.com"
NOTHING_TO_BIND = "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind"


def using(pod: PodBuilder, *claims: str) -> PodBuilder:
    """The pod, with these claims."""
    return pod.spec(volumes=[{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims])


def storage(name: str, mode: str, provisioner: str = EBS) -> Document:
    """A class."""
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": mode,
    }


def claim(
    name: str, kind: str = "", volume: str = "", size: str = "10Gi", mode: str = "ReadWriteOnce", **notes: str
) -> Document:
    """A claim of a class, bound to a volume if one is given; ``notes`` are its annotations."""
    bound = {"pv.kubernetes.io/bind-completed": "yes"} if volume else {}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": "default", "uid": name, "annotations": {**bound, **notes}},
        "spec": {
            "accessModes": [mode],
            "storageClassName": kind,
            "volumeName": volume,
            "resources": {"requests": {"storage": size}},
        },
        "status": {"phase": "Bound" if volume else "Pending"},
    }


def volume(name: str, of: str = "", kind: str = "", size: str = "10Gi", **spec: Any) -> Document:
    """A volume, of a claim if one is given."""
    reference = {"kind": "PersistentVolumeClaim", "namespace": "default", "name": of, "uid": of}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": kind,
            **({"claimRef": reference} if of else {}),
            **(spec or {"csi": {"driver": EBS, "volumeHandle": name}}),
        },
        "status": {"phase": "Bound" if of else "Available"},
    }


def only_on(key: str, *values: str) -> Document:
    """The node affinity of a volume."""
    expression = {"key": key, "operator": "In", "values": list(values)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def test_an_unbound_immediate_claim_is_not_found() -> None:
    """What ends the sentence is DynamicResources, asked for claims that nobody looked up."""
    found = ask(using(pending(), "data"), node("n1"), storage("std", "Immediate"), claim("data", "std"))
    assert found["fitError"] == (
        "0/1 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found"
    )


def test_a_claim_that_is_missing() -> None:
    found = ask(using(pending(), "data"), node("n1"))
    assert found["fitError"] == '0/1 nodes are available: persistentvolumeclaim "data" not found. not found'


def test_a_claim_remembers_a_node_that_is_gone() -> None:
    """karpenter 3262: ``volume.kubernetes.io/selected-node`` outlives the node, and no other one will do."""
    stale = claim("data", "gp3", **{"volume.kubernetes.io/selected-node": "gone"})
    found = ask(using(pending(), "data"), node("n1"), storage("gp3", "WaitForFirstConsumer"), stale)
    assert reason(found) == NOTHING_TO_BIND


def test_two_volumes_in_two_zones_fit_nowhere() -> None:
    """43504: each was provisioned without a thought of the other."""
    bound = [
        *(claim("d1", "std", "v1"), claim("d2", "std", "v2")),
        volume("v1", "d1", "std", nodeAffinity=only_on(ZONE, "a"), csi={"driver": EBS, "volumeHandle": "v1"}),
        volume("v2", "d2", "std", nodeAffinity=only_on(ZONE, "b"), csi={"driver": EBS, "volumeHandle": "v2"}),
    ]
    found = ask(using(pending(), "d1", "d2"), node("a1", "a"), node("b1", "b"), *bound)
    assert reason(found) == "0/2 nodes are available: 2 node(s) didn't match PersistentVolume's node affinity"


@pytest.mark.parametrize(
    ("zone", "feasible"),
    [("a__b", ["a1", "b1", "bare"]), ("c", ["bare"])],
    ids=["51232: two zones", "117983: another"],
)
def test_a_volume_with_a_zone_label(zone: str, feasible: list[str]) -> None:
    """A node without any zone is taken for one of a cluster without zones."""
    labelled = volume("v1", "d1")
    labelled["metadata"]["labels"] = {ZONE: zone}
    found = ask(
        using(pending(), "d1"),
        *(node("a1", "a"), node("b1", "b"), node("bare")),
        claim("d1", "", "v1"),
        labelled,
    )
    assert found["feasible"] == feasible


def local(name: str, where: str) -> Document:
    """A local volume of 10Gi on a node."""
    return volume(name, "", "local", local={"path": "/mnt"}, nodeAffinity=only_on(HOST, where))


def test_two_local_volumes_must_be_on_one_node() -> None:
    """external-storage 380"""
    found = ask(
        using(pending(), "d1", "d2"),
        *(node("n1"), node("n2"), storage("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")),
        *(claim("d1", "local"), claim("d2", "local")),
        *(local("v1", "n1"), local("v2", "n2"), local("v3", "n2")),
    )
    assert found["feasible"] == ["n2"]
    assert found["filter"]["n1"]["reasons"] == ["node(s) didn't find available persistent volumes to bind"]


def test_ten_gigabytes_are_too_small_for_ten_gibibytes() -> None:
    small = local("v1", "n1")
    small["spec"]["capacity"] = {"storage": "10G"}
    found = ask(
        using(pending(), "d1"),
        *(node("n1"), storage("local", "WaitForFirstConsumer", "kubernetes.io/no-provisioner")),
        *(claim("d1", "local"), small),
    )
    assert reason(found) == NOTHING_TO_BIND


@pytest.mark.parametrize(
    ("priority", "evicted"), [(0, {}), (5, {"n1": ["default/r"]})], ids=["equal", "114051: preemption"]
)
def test_a_volume_for_one_pod_only(priority: int, evicted: Document) -> None:
    """ReadWriteOncePod keeps others out on every node, and is given up to a pod of higher priority."""
    found = ask(
        using(pending(), "d1").priority(priority),
        *(node("n1"), node("n2"), claim("d1", "", "v1", mode="ReadWriteOncePod"), volume("v1", "d1")),
        using(running("r", "n1"), "d1"),
    )
    assert reason(found) == (
        "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod "
        "access mode already in-use by another pod"
    )
    assert victims(found) == evicted


def test_read_write_once_does_not_keep_a_pod_off_another_node() -> None:
    """103305: attaching will fail, scheduling does not."""
    found = ask(
        using(pending(), "d1"),
        *(node("n1"), node("n2"), claim("d1", "", "v1"), volume("v1", "d1"), using(running("r", "n1"), "d1")),
    )
    assert found["feasible"] == ["n1", "n2"]


def test_a_node_whose_driver_has_not_registered_yet_has_no_limit() -> None:
    """95911: pods are sent to a new node before its limit is known."""
    limited = {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "CSINode",
        "metadata": {"name": "old"},
        "spec": {
            "drivers": [{"name": EBS, "nodeID": "old", "topologyKeys": [], "allocatable": {"count": 1}}]
        },
    }
    found = ask(
        using(make_pod("pending"), "d2"),
        *(node("old"), node("new"), limited, using(running("r", "old"), "d1")),
        *(claim("d1", "", "v1"), volume("v1", "d1"), claim("d2", "", "v2"), volume("v2", "d2")),
    )
    assert found["feasible"] == ["new"]
    assert found["filter"]["old"]["reasons"] == ["node(s) exceed max volume count"]
