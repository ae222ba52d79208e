"""Pods with claims that wait for their first consumer: the simulation plays the volume controllers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.app.main import main
from tests.builders import make_node, make_pod

STORAGE = "storage.k8s.io/v1"


def storage_class(provisioner: str) -> dict[str, Any]:
    return {
        "apiVersion": STORAGE,
        "kind": "StorageClass",
        "metadata": {"name": "late"},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
    }


def claim(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name},
        "spec": {
            "storageClassName": "late",
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }


def volume(name: str, node: str) -> dict[str, Any]:
    expression = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "storageClassName": "late",
            "accessModes": ["ReadWriteOnce"],
            "capacity": {"storage": "2Gi"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}},
        },
        "status": {"phase": "Available"},
    }


def user(name: str, of: str) -> Any:
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": of}}]
    return make_pod(name).req(cpu="1").spec(volumes=volumes).doc()


def simulate(
    path: Path, capsys: pytest.CaptureFixture[str], *objects: Any, words: tuple[str, ...] = ()
) -> Any:
    nodes = [
        make_node(name).capacity(cpu="4").label("kubernetes.io/hostname", name).doc() for name in ("n1", "n2")
    ]
    file = path / "cluster.yaml"
    file.write_text(yaml.safe_dump_all([*nodes, *objects]))
    assert main(["simulate", *words, "-f", str(file), "-o", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_volume_that_exists_is_bound_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = simulate(
        tmp_path,
        capsys,
        storage_class("kubernetes.io/no-provisioner"),
        volume("v1", "n2"),
        claim("a"),
        claim("b"),
        user("first", "a"),
        user("second", "b"),
    )
    assert found["placed"] == [{"pod": "default/first", "node": "n2"}]
    (left,) = found["pending"]
    assert "2 node(s) didn't find available persistent volumes to bind" in left["reason"]


def test_a_volume_is_made_where_the_pod_goes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    csi_nodes = [
        {
            "apiVersion": STORAGE,
            "kind": "CSINode",
            "metadata": {"name": name},
            "spec": {
                "drivers": [
                    {"name": "disks.example.org", "nodeID": name, "topologyKeys": ["kubernetes.io/hostname"]}
                ]
            },
        }
        for name in ("n1", "n2")
    ]
    found = simulate(
        tmp_path,
        capsys,
        storage_class("disks.example.org"),
        *csi_nodes,
        claim("a"),
        user("first", "a"),
        user("second", "a"),
    )
    placed = {each["pod"]: each["node"] for each in found["placed"]}
    assert found["pending"] == []
    assert placed["default/first"] == placed["default/second"]


def test_a_stateful_set_brings_its_claims(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two volumes there are, for three replicas; the first replica has its claim already."""
    template = {"metadata": {"name": "data"}, "spec": claim("data")["spec"]}
    stateful = {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": {"name": "db"},
        "spec": {
            "replicas": 3,
            "template": {"spec": {"containers": [{"name": "c"}]}},
            "volumeClaimTemplates": [template],
        },
    }
    found = simulate(
        tmp_path,
        capsys,
        *(storage_class("kubernetes.io/no-provisioner"), stateful, claim("data-db-0")),
        *(volume("v1", "n1"), volume("v2", "n2")),
        words=("sts/db",),
    )
    assert [each["pod"] for each in found["placed"]] == ["default/db-0", "default/db-1"]
    assert {each["node"] for each in found["placed"]} == {"n1", "n2"}
    assert [each["pod"] for each in found["pending"]] == ["default/db-2"]
