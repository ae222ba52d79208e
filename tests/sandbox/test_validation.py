"""Validation: every fault of an object at once, each with its field."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Object, Rest, deployment, node, pod

_CONTAINER = {"name": "main", "image": "i"}
_AFFINITY = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"


def _resources(**resources: Any) -> Object:
    return {"containers": [{**_CONTAINER, "resources": resources}]}


def _required_terms(*terms: Object) -> Object:
    return {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}
            }
        }
    }


def _anti_affinity(**term: Any) -> Object:
    return {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}


POD_FAULTS: list[tuple[str, Object, list[str]]] = [
    ("no containers", {"containers": []}, ["spec.containers"]),
    ("no image", {"containers": [{"name": "a"}]}, ["spec.containers[0].image"]),
    ("two names", {"containers": [_CONTAINER, _CONTAINER]}, ["spec.containers[1].name"]),
    ("bad name", {"containers": [{"name": "A_", "image": "i"}]}, ["spec.containers[0].name"]),
    ("restart", {"restartPolicy": "Perhaps"}, ["spec.restartPolicy"]),
    ("negative", _resources(requests={"cpu": "-1"}), ["spec.containers[0].resources.requests[cpu]"]),
    ("more than limit", _resources(requests={"cpu": "2"}, limits={"cpu": "1"}), ["spec.containers[0].resources.requests"]),
    ("unknown resource", _resources(requests={"foo": "1"}), ["spec.containers[0].resources.requests[foo]"] * 2),
    ("a quota's resource", _resources(requests={"pods": "1"}), ["spec.containers[0].resources.requests[pods]"]),
    ("only huge pages", _resources(limits={"hugepages-2Mi": "2Mi"}), ["spec.containers[0].resources"]),
    ("half a huge page", _resources(limits={"cpu": "1", "hugepages-2Mi": "3Mi"}),
     [f"spec.containers[0].resources.{part}[hugepages-2Mi]" for part in ("limits", "requests")]),
    ("pod-level gpu", {"resources": {"limits": {"x.org/gpu": "1"}}}, ["spec.resources.limits[x.org/gpu]"]),
    ("less than its containers", {**_resources(requests={"cpu": "2"}), "resources": {"requests": {"cpu": "1"}}},
     ["spec.resources.requests[cpu]"]),
    ("one host port twice", {"containers": [{**_CONTAINER, "ports": [{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}]}]},
     ["spec.containers[0].ports[1].hostPort"]),
    ("sidecar", {"initContainers": [{"name": "s", "image": "i", "restartPolicy": "Foo"}]}, ["spec.initContainers[0].restartPolicy"]),
    ("half a gpu", _resources(limits={"x.org/gpu": "500m"}), ["spec.containers[0].resources.limits[x.org/gpu]",
      "spec.containers[0].resources.requests[x.org/gpu]"]),
    ("gpu without limit", _resources(requests={"x.org/gpu": "1"}), ["spec.containers[0].resources.limits"]),
    ("port", {"containers": [{**_CONTAINER, "ports": [{"containerPort": 70000}]}]}, ["spec.containers[0].ports[0].containerPort"]),
    ("toleration", {"tolerations": [{"key": "a", "operator": "Foo"}]}, ["spec.tolerations[0].operator"]),
    ("toleration without key", {"tolerations": [{"value": "a"}]}, ["spec.tolerations[0].operator"]),
    ("toleration seconds", {"tolerations": [{"key": "a", "operator": "Exists", "tolerationSeconds": 3}]}, ["spec.tolerations[0].effect"]),
    ("no terms", _required_terms(), [_AFFINITY]),
    ("operator", _required_terms({"matchExpressions": [{"key": "a", "operator": "Is"}]}),
     [f"{_AFFINITY}[0].matchExpressions[0].operator"]),
    ("no values", _required_terms({"matchExpressions": [{"key": "a", "operator": "In"}]}),
     [f"{_AFFINITY}[0].matchExpressions[0].values"]),
    ("topology key", _anti_affinity(labelSelector={}),
     ["spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey"]),
    ("skew", {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]},
     ["spec.topologySpreadConstraints[0].maxSkew"]),
    ("gates and node", {"schedulingGates": [{"name": "g"}], "nodeName": "n"}, ["spec.nodeName"]),
    ("two gates", {"schedulingGates": [{"name": "g"}, {"name": "g"}]}, ["spec.schedulingGates[1]"]),
    ("node selector", {"nodeSelector": {"a": "b c"}}, ["spec.nodeSelector"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("spec", "fields"), [case[1:] for case in POD_FAULTS], ids=[case[0] for case in POD_FAULTS]
)
def test_pods(rest: Rest, spec: Object, fields: list[str]) -> None:
    reply = rest.post(PODS, pod(**spec))
    assert (reply.status, reply.body["reason"]) == (422, "Invalid")
    assert reply.causes == fields


def test_every_fault_is_reported(rest: Rest) -> None:
    body = pod(restartPolicy="x", containers=[{"name": "A", "image": "i"}])
    body["metadata"] = {"name": "B_", "labels": {"k": "v v"}}
    reply = rest.post(PODS, body)
    assert reply.causes == [
        "metadata.name",
        "metadata.labels",
        "spec.containers[0].name",
        "spec.restartPolicy",
    ]
    assert reply.body["message"].startswith(
        'Pod "B_" is invalid: [metadata.name: Invalid value: "B_": a lowercase RFC 1123'
    )


def test_a_bad_quantity_is_not_even_a_pod(rest: Rest) -> None:
    reply = rest.post(PODS, pod(**_resources(requests={"cpu": "1 core"})))
    assert reply.status == 400
    assert "quantities must match the regular expression" in reply.body["message"]


OTHER_FAULTS: list[tuple[str, str, Object, list[str]]] = [
    ("node taint", NODES, node() | {"spec": {"taints": [{"key": "a", "effect": "Never"}]}}, ["metadata.taints[0].effect"]),
    ("node capacity", NODES, node() | {"status": {"allocatable": {"cpu": "-1"}}}, ["status.allocatable.cpu"]),
    ("nameless", NODES, {"metadata": {}}, ["metadata.name"]),
    ("namespace", "/api/v1/namespaces", {"metadata": {"name": "a.b"}}, ["metadata.name"]),
    ("selector", "/apis/apps/v1/namespaces/default/deployments", deployment(selector={"matchLabels": {"a": "b"}}),
     ["spec.template.metadata.labels"]),
    ("user priority", "/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "x"}, "value": 1000000001}, ["value"]),
    ("lease", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
     {"metadata": {"name": "l"}, "spec": {"leaseDurationSeconds": 0}}, ["spec.leaseDurationSeconds"]),
    ("claim", "/api/v1/namespaces/default/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {}},
     ["spec.accessModes", "spec.resources[storage]"]),
    ("lease transitions", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
     {"metadata": {"name": "l"}, "spec": {"leaseTransitions": -1}}, ["spec.leaseTransitions"]),
    ("class", "/apis/storage.k8s.io/v1/storageclasses", {"metadata": {"name": "c"}}, ["provisioner"]),
    ("owner", NODES, node("n", ownerReferences=[{"kind": "a", "name": "b", "apiVersion": "v1", "uid": ""}]),
     ["metadata.ownerReferences[0].uid"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "fields"), [case[1:] for case in OTHER_FAULTS], ids=[case[0] for case in OTHER_FAULTS]
)
def test_other_kinds(rest: Rest, path: str, body: Object, fields: list[str]) -> None:
    reply = rest.post(path, body)
    assert (reply.status, reply.causes) == (422, fields)


POD_CHANGES: list[tuple[str, Object, int]] = [
    ("image", {"spec": {"containers": [{"name": "main", "image": "new"}]}}, 200),
    ("deadline", {"spec": {"activeDeadlineSeconds": 9}}, 200),
    ("no tolerations but those that admission gives", {"spec": {"tolerations": None}}, 200),
    ("other tolerations", {"spec": {"tolerations": [{"operator": "Exists"}]}}, 422),
    ("node", {"spec": {"nodeName": "n1"}}, 422),
    ("selector", {"spec": {"nodeSelector": {"a": "b"}}}, 422),
    ("new gate", {"spec": {"schedulingGates": [{"name": "g"}]}}, 422),
    ("scheduler", {"spec": {"schedulerName": "x"}}, 422),
]


@pytest.mark.parametrize(
    ("patch", "status"), [case[1:] for case in POD_CHANGES], ids=[case[0] for case in POD_CHANGES]
)
def test_a_pods_spec_is_fixed(sandbox: Sandbox, rest: Rest, patch: Object, status: int) -> None:
    sandbox.load([pod()])
    assert rest.patch(f"{PODS}/a", patch).status == status


def test_tolerations_may_be_added(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    operation = {"op": "add", "path": "/spec/tolerations/-", "value": {"key": "x", "operator": "Exists"}}
    assert len(rest.patch(f"{PODS}/a", [operation], "json").body["spec"]["tolerations"]) == 3


def test_gates_may_only_go(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(schedulingGates=[{"name": "a"}, {"name": "b"}])])
    remove = [{"op": "remove", "path": "/spec/schedulingGates/0"}]
    assert rest.patch(f"{PODS}/a", remove, "json").body["spec"]["schedulingGates"] == [{"name": "b"}]
    assert rest.patch(f"{PODS}/a", {"spec": {"schedulingGates": [{"name": "c"}]}}).status == 422
    assert (
        "schedulingGates"
        not in rest.patch(f"{PODS}/a", {"spec": {"schedulingGates": None}}, "merge").body["spec"]
    )


def test_a_gated_pod_may_become_stricter(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(schedulingGates=[{"name": "a"}], nodeSelector={"x": "1"})])
    assert rest.patch(f"{PODS}/a", {"spec": {"nodeSelector": {"y": "2"}}}).body["spec"]["nodeSelector"] == {
        "x": "1",
        "y": "2",
    }
    assert rest.patch(f"{PODS}/a", {"spec": {"nodeSelector": {"x": "3"}}}).status == 422
    assert (
        rest.patch(
            f"{PODS}/a", {"spec": _required_terms({"matchExpressions": [{"key": "a", "operator": "Exists"}]})}
        ).status
        == 200
    )


@pytest.mark.parametrize(
    ("path", "body", "patch"),
    [
        ("/apis/scheduling.k8s.io/v1/priorityclasses", {"metadata": {"name": "x"}, "value": 1}, {"value": 2}),
        (
            "/apis/apps/v1/namespaces/default/deployments",
            deployment("x"),
            {"spec": {"selector": {"matchLabels": {"b": "c"}}}},
        ),
    ],
    ids=["priority", "selector"],
)
def test_immutable_fields(rest: Rest, path: str, body: Object, patch: Object) -> None:
    rest.post(path, body)
    assert rest.patch(f"{path}/x", patch).status == 422
