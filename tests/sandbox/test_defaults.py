"""What the server fills in and what admission does, where a scheduler depends on it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Object, Rest, deployment, node, pod

CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


def _with_resources(limits: Object | None = None, requests: Object | None = None, **spec: Any) -> Object:
    made = pod(**spec)
    resources = {"limits": limits, "requests": requests}
    made["spec"]["containers"][0]["resources"] = {key: value for key, value in resources.items() if value}
    return made


def test_a_plain_pod(rest: Rest) -> None:
    created = rest.post(PODS, pod()).body
    spec, container = created["spec"], created["spec"]["containers"][0]
    assert (spec["schedulerName"], spec["restartPolicy"], spec["dnsPolicy"]) == (
        "default-scheduler",
        "Always",
        "ClusterFirst",
    )
    assert (spec["terminationGracePeriodSeconds"], spec["enableServiceLinks"], spec["securityContext"]) == (
        30,
        True,
        {},
    )
    assert (spec["serviceAccountName"], spec["priority"], spec["preemptionPolicy"]) == (
        "default",
        0,
        "PreemptLowerPriority",
    )
    assert (container["terminationMessagePath"], container["imagePullPolicy"]) == (
        "/dev/termination-log",
        "IfNotPresent",
    )
    assert created["status"] == {"phase": "Pending", "qosClass": "BestEffort"}


def test_requests_come_from_limits(rest: Rest) -> None:
    body = _with_resources({"cpu": "0.5", "memory": "1024Mi"}, {"cpu": "100m"})
    body["spec"]["initContainers"] = [{"name": "i", "image": "i", "resources": {"limits": {"cpu": 2}}}]
    spec = rest.post(PODS, body).body["spec"]
    assert spec["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1Gi"},
        "requests": {"cpu": "100m", "memory": "1Gi"},
    }
    assert spec["initContainers"][0]["resources"]["requests"] == {"cpu": "2"}


def test_templates_keep_their_requests(rest: Rest) -> None:
    template = {"metadata": {"labels": {"app": "d"}}, "spec": _with_resources({"cpu": "1"})["spec"]}
    body = rest.post("/apis/apps/v1/namespaces/default/deployments", deployment(template=template)).body
    assert body["spec"]["template"]["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}}
    assert body["spec"]["replicas"] == 1


@pytest.mark.parametrize(
    ("containers", "limits", "requests"),
    [
        ({}, {"cpu": "2", "memory": "1Gi"}, {"cpu": "2", "memory": "1Gi"}),
        ({"cpu": "500m"}, {"cpu": "2"}, {"cpu": "500m"}),
        ({"cpu": "500m", "memory": "1Gi"}, {"cpu": "2"}, {"cpu": "500m", "memory": "1Gi"}),
    ],
    ids=["from limits", "from containers", "both"],
)
def test_pod_level_requests(rest: Rest, containers: Object, limits: Object, requests: Object) -> None:
    body = _with_resources(requests=containers, resources={"limits": limits})
    assert rest.post(PODS, body).body["spec"]["resources"]["requests"] == requests


@pytest.mark.parametrize(
    ("limits", "requests", "qos"),
    [
        (None, None, "BestEffort"),
        ({"cpu": "1", "memory": "1Gi"}, None, "Guaranteed"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "1"}, "Guaranteed"),
        ({"cpu": "1", "memory": "1Gi"}, {"cpu": "500m"}, "Burstable"),
        ({"cpu": "1"}, None, "Burstable"),
        (None, {"memory": "1Gi"}, "Burstable"),
    ],
)
def test_quality_of_service(rest: Rest, limits: Object | None, requests: Object | None, qos: str) -> None:
    assert rest.post(PODS, _with_resources(limits, requests)).body["status"]["qosClass"] == qos


def test_host_network_claims_host_ports(rest: Rest) -> None:
    body = pod(hostNetwork=True)
    body["spec"]["containers"][0]["ports"] = [{"containerPort": 80}]
    assert rest.post(PODS, body).body["spec"]["containers"][0]["ports"] == [
        {"containerPort": 80, "protocol": "TCP", "hostPort": 80}
    ]


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("a", "Always"),
        ("a:latest", "Always"),
        ("r:5000/a", "Always"),
        ("a:1", "IfNotPresent"),
        ("a@sha256:00", "IfNotPresent"),
    ],
)
def test_pull_policy(rest: Rest, image: str, policy: str) -> None:
    body = pod()
    body["spec"]["containers"][0]["image"] = image
    assert rest.post(PODS, body).body["spec"]["containers"][0]["imagePullPolicy"] == policy


def test_tolerations_of_sick_nodes(rest: Rest) -> None:
    own = {
        "key": "node.kubernetes.io/not-ready",
        "operator": "Exists",
        "effect": "NoExecute",
        "tolerationSeconds": 5,
    }
    tolerations = rest.post(PODS, pod(tolerations=[own])).body["spec"]["tolerations"]
    assert [(t["key"], t["tolerationSeconds"]) for t in tolerations] == [
        ("node.kubernetes.io/not-ready", 5),
        ("node.kubernetes.io/unreachable", 300),
    ]


def test_priority_of_a_class(rest: Rest) -> None:
    rest.post(CLASSES, {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    spec = rest.post(PODS, pod(priorityClassName="high")).body["spec"]
    assert (spec["priority"], spec["preemptionPolicy"]) == (1000, "Never")


def test_priority_of_the_default_class(rest: Rest) -> None:
    rest.post(CLASSES, {"metadata": {"name": "usual"}, "value": 7, "globalDefault": True})
    spec = rest.post(PODS, pod()).body["spec"]
    assert (spec["priority"], spec["priorityClassName"]) == (7, "usual")


def test_system_classes_exist(rest: Rest) -> None:
    spec = rest.post(PODS, pod(priorityClassName="system-node-critical")).body["spec"]
    assert spec["priority"] == 2000001000


@pytest.mark.parametrize(
    "spec", [{"priorityClassName": "none"}, {"priority": 5}, {"runtimeClassName": "none"}], ids=str
)
def test_admission_refuses(rest: Rest, spec: Object) -> None:
    reply = rest.post(PODS, pod(**spec))
    assert (reply.status, reply.body["reason"]) == (403, "Forbidden")


def test_overhead_of_a_runtime_class(rest: Rest) -> None:
    overhead = {"podFixed": {"cpu": "250m"}}
    rest.post(
        "/apis/node.k8s.io/v1/runtimeclasses",
        {"metadata": {"name": "kata"}, "handler": "kata", "overhead": overhead},
    )
    assert rest.post(PODS, pod(runtimeClassName="kata")).body["spec"]["overhead"] == {"cpu": "250m"}
    assert rest.post(PODS, pod("b", runtimeClassName="kata", overhead={"cpu": "1"})).status == 403
    assert rest.post(PODS, pod("c", overhead={"cpu": "250m"})).status == 403


def test_placement_of_a_runtime_class(rest: Rest) -> None:
    scheduling = {"nodeSelector": {"vm": "yes"}, "tolerations": [{"key": "vm", "operator": "Exists"}]}
    rest.post(
        "/apis/node.k8s.io/v1/runtimeclasses",
        {"metadata": {"name": "kata"}, "handler": "kata", "scheduling": scheduling},
    )
    spec = rest.post(PODS, pod(runtimeClassName="kata", nodeSelector={"a": "b"})).body["spec"]
    assert spec["nodeSelector"] == {"a": "b", "vm": "yes"}
    assert spec["tolerations"][-1] == {"key": "vm", "operator": "Exists"}
    refused = rest.post(PODS, pod("b", runtimeClassName="kata", nodeSelector={"vm": "no"}))
    text = "conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no"
    assert (refused.status, text in refused.body["message"]) == (403, True)


def test_limit_ranges_fill_containers(rest: Rest) -> None:
    item = {"type": "Container", "default": {"cpu": "2"}, "defaultRequest": {"cpu": "1"}}
    rest.post(
        "/api/v1/namespaces/default/limitranges", {"metadata": {"name": "l"}, "spec": {"limits": [item]}}
    )
    resources = rest.post(PODS, pod()).body["spec"]["containers"][0]["resources"]
    assert resources == {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}


def test_the_default_storage_class(rest: Rest) -> None:
    marked = {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}
    created = rest.post(
        "/apis/storage.k8s.io/v1/storageclasses", {"metadata": marked, "provisioner": "p"}
    ).body
    assert (created["volumeBindingMode"], created["reclaimPolicy"]) == ("Immediate", "Delete")
    claim = {
        "metadata": {"name": "c"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    body = rest.post("/api/v1/namespaces/default/persistentvolumeclaims", claim).body
    assert (body["spec"]["storageClassName"], body["status"]["phase"]) == ("fast", "Pending")


def test_allocatable_of_a_node(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node()])
    status = rest.get(f"{NODES}/n1").body["status"]
    assert status["allocatable"] == status["capacity"]


def test_what_a_cluster_starts_with(rest: Rest) -> None:
    assert rest.get("/api/v1/namespaces").names == [
        "default",
        "kube-node-lease",
        "kube-public",
        "kube-system",
    ]
    labels = rest.get("/api/v1/namespaces/default").body["metadata"]["labels"]
    assert labels == {"kubernetes.io/metadata.name": "default"}


def test_texts_of_a_secret_become_data(rest: Rest) -> None:
    secrets = "/api/v1/namespaces/default/secrets"
    made = {"metadata": {"name": "s"}, "data": {"a": "b2xk", "b": "b2xk"}, "stringData": {"a": "new"}}
    rest.post(secrets, made)
    patched = rest.patch(f"{secrets}/s", {"stringData": {"c": "ü"}}).body
    assert patched == rest.get(f"{secrets}/s").body
    assert patched["data"] == {"a": "bmV3", "b": "b2xk", "c": "w7w="}
    assert "stringData" not in patched
