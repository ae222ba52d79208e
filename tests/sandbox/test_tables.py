"""Tables: the cells that kubectl prints."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from scheduler.sandbox.ages import age, span
from scheduler.sandbox.reads.pod_row import pod_ready, pod_restarts, pod_status
from scheduler.sandbox.reads.tables import columns, row
from scheduler.sandbox.resources import BY_KIND, RESOURCES
from tests.sandbox.rest import NODES, PODS, Object, Rest, node, pod

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)


def _row(obj: Object) -> dict[str, Any]:
    resource = BY_KIND[obj["apiVersion"], obj["kind"]]
    cells = row(resource, obj, NOW)
    return {column["name"]: cell for column, cell in zip(columns(resource), cells, strict=True)}


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-5, "<invalid>"), (0, "0s"), (119, "119s"), (120, "2m"), (130, "2m10s"), (599, "9m59s"), (600, "10m"), (10800, "3h"),
     (11100, "3h5m"), (28800, "8h"), (172800, "2d"), (180000, "2d2h"), (691200, "8d"), (63072000, "2y"), (315360000, "10y")],
)  # fmt: skip
def test_spans(seconds: int, text: str) -> None:
    assert span(seconds) == text


def test_ages() -> None:
    assert age((NOW - timedelta(minutes=5)).isoformat(), NOW) == "5m"
    assert age(None, NOW) == "<unknown>"


def _state(**state: Any) -> Object:
    return {"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 0, **state}]}


STATES: list[tuple[str, Object, str]] = [
    ("pending", {"phase": "Pending"}, "Pending"),
    ("evicted", {"phase": "Failed", "reason": "Evicted"}, "Evicted"),
    (
        "gated",
        {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]},
        "SchedulingGated",
    ),
    ("waiting", _state(state={"waiting": {"reason": "CrashLoopBackOff"}}), "CrashLoopBackOff"),
    ("failed", _state(state={"terminated": {"exitCode": 3}}), "ExitCode:3"),
    ("killed", _state(state={"terminated": {"exitCode": 137, "reason": "OOMKilled"}}), "OOMKilled"),
    ("done", _state(state={"terminated": {"exitCode": 0, "reason": "Completed"}}), "Completed"),
    ("running", _state(ready=True, state={"running": {}}), "Running"),
    (
        "init",
        {"phase": "Pending", "initContainerStatuses": [{"name": "i", "state": {"running": {}}}]},
        "Init:0/1",
    ),
    (
        "init failed",
        {
            "initContainerStatuses": [
                {"name": "i", "state": {"terminated": {"exitCode": 1, "reason": "Error"}}}
            ]
        },
        "Init:Error",
    ),
]


@pytest.mark.parametrize(("status", "word"), [case[1:] for case in STATES], ids=[case[0] for case in STATES])
def test_the_status_of_a_pod(status: Object, word: str) -> None:
    assert pod_status(pod(initContainers=[{"name": "i"}]) | {"status": status}) == word


def test_a_pod_on_its_way_out() -> None:
    leaving = pod() | {"status": {"phase": "Running"}}
    leaving["metadata"]["deletionTimestamp"] = "2026-06-01T00:00:00Z"
    assert pod_status(leaving) == "Terminating"


def test_ready_and_restarts() -> None:
    running = pod() | {"status": _state(ready=True, state={"running": {}}) | {}}
    running["status"]["containerStatuses"][0] |= {
        "restartCount": 2,
        "lastState": {"terminated": {"finishedAt": "2026-06-01T11:55:00Z"}},
    }
    assert (pod_ready(running), pod_restarts(running, NOW)) == ("1/1", "2 (5m ago)")


def test_a_nodes_row(sandbox: Sandbox, rest: Rest) -> None:
    made = node(labels={"node-role.kubernetes.io/control-plane": ""}) | {"spec": {"unschedulable": True}}
    made["status"] |= {
        "conditions": [{"type": "Ready", "status": "True"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
        "nodeInfo": {"kubeletVersion": "v1.36.0", "kernelVersion": "6", "architecture": "arm64"},
    }
    sandbox.load([made])
    cells = _row(rest.get(f"{NODES}/n1").body)
    assert (cells["Status"], cells["Roles"], cells["Version"]) == (
        "Ready,SchedulingDisabled",
        "control-plane",
        "v1.36.0",
    )
    assert (cells["Internal-IP"], cells["External-IP"], cells["OS-Image"]) == (
        "10.0.0.1",
        "<none>",
        "<unknown>",
    )
    assert cells["Kernel-Version"] == "6 (arm64)"


ROWS: list[tuple[Object, dict[str, Any]]] = [
    ({"apiVersion": "v1", "kind": "PersistentVolume", "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
      "claimRef": {"namespace": "a", "name": "b"}}, "status": {"phase": "Bound"}},
     {"Capacity": "1Gi", "Access Modes": "RWO", "Claim": "a/b", "Status": "Bound"}),
    ({"apiVersion": "v1", "kind": "Service", "spec": {"type": "NodePort", "clusterIP": "10.0.0.9",
      "ports": [{"port": 80, "nodePort": 30080, "protocol": "TCP"}]}},
     {"Port(s)": "80:30080/TCP", "External-IP": "<none>", "Cluster-IP": "10.0.0.9"}),
    ({"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"replicas": 3, "selector": {"matchLabels": {"a": "b"}}},
      "status": {"readyReplicas": 2}}, {"Ready": "2/3", "Selector": "a=b"}),
    ({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "spec": {"minAvailable": "50%"}, "status": {"disruptionsAllowed": 1}},
     {"Min Available": "50%", "Max Unavailable": "N/A", "Allowed Disruptions": 1}),
    ({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "status": {"allocation": {"x": 1}, "reservedFor": [{}]}},
     {"State": "allocated,reserved"}),
    ({"apiVersion": "batch/v1", "kind": "Job", "spec": {"completions": 2}, "status": {"succeeded": 1}},
     {"Status": "Running", "Completions": "1/2"}),
]  # fmt: skip


@pytest.mark.parametrize(("obj", "cells"), ROWS, ids=[obj["kind"] for obj, _ in ROWS])
def test_rows(obj: Object, cells: dict[str, Any]) -> None:
    assert cells.items() <= _row(obj | {"metadata": {"name": "x"}}).items()


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: f"{resource.group}/{resource.plural}")
def test_every_kind_has_a_row_even_when_empty(resource: Any) -> None:
    assert len(row(resource, {"metadata": {"name": "x"}, "spec": {}}, NOW)) == len(columns(resource))


@pytest.mark.parametrize(
    ("include", "kind"), [("Metadata", "PartialObjectMetadata"), ("Object", "Pod"), ("None", None)]
)
def test_what_a_row_carries(sandbox: Sandbox, rest: Rest, include: str, kind: str | None) -> None:
    sandbox.load([pod()])
    table = rest.get(PODS, accept=TABLE, includeObject=include).body
    assert table["kind"] == "Table"
    assert table["rows"][0].get("object", {}).get("kind") == kind
