"""Create, read, replace, delete: what the server stamps, keeps and refuses."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Object, Rest, deployment, node, pod


def test_create_stamps_identity(rest: Rest) -> None:
    reply = rest.post(PODS, pod())
    meta = reply.body["metadata"]
    assert reply.status == 201
    assert meta["namespace"] == "default"
    assert meta["generation"] == 1
    assert len(meta["uid"]) == 36
    assert int(meta["resourceVersion"]) > 0
    assert meta["creationTimestamp"].endswith("Z")


def test_generate_name_adds_a_suffix(rest: Rest) -> None:
    body = pod()
    body["metadata"] = {"generateName": "web-"}
    names = {rest.post(PODS, body).body["metadata"]["name"] for _ in range(3)}
    assert len(names) == 3
    assert all(name.startswith("web-") and len(name) == 9 for name in names)


def test_versions_grow_with_every_write(rest: Rest) -> None:
    first = rest.post(PODS, pod("a")).body["metadata"]["resourceVersion"]
    second = rest.post(NODES, node()).body["metadata"]["resourceVersion"]
    third = rest.patch(f"{PODS}/a", {"metadata": {"labels": {"x": "y"}}}).body["metadata"]["resourceVersion"]
    assert int(first) < int(second) < int(third)


def test_an_update_that_changes_nothing_writes_nothing(rest: Rest) -> None:
    before = rest.post(PODS, pod()).body
    assert rest.put(f"{PODS}/a", before).body == before


def test_stale_version_is_a_conflict(rest: Rest) -> None:
    old = rest.post(NODES, node()).body
    rest.patch(f"{NODES}/n1", {"metadata": {"labels": {"x": "1"}}})
    reply = rest.put(f"{NODES}/n1", old)
    assert (reply.status, reply.body["reason"]) == (409, "Conflict")
    assert "the object has been modified" in reply.body["message"]


def test_update_without_version_is_unconditional(rest: Rest) -> None:
    body = rest.post(NODES, node()).body
    del body["metadata"]["resourceVersion"]
    body["spec"] = {"unschedulable": True}
    assert rest.put(f"{NODES}/n1", body).body["spec"] == {"unschedulable": True}


def test_another_uid_is_a_conflict(rest: Rest) -> None:
    body = rest.post(NODES, node()).body
    body["metadata"]["uid"] = "other"
    assert rest.put(f"{NODES}/n1", body).status == 409


def test_leases_need_a_version_to_be_updated(rest: Rest) -> None:
    path = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
    body = rest.post(path, {"metadata": {"name": "l"}, "spec": {"holderIdentity": "a"}}).body
    del body["metadata"]["resourceVersion"]
    reply = rest.put(f"{path}/l", body)
    assert (reply.status, reply.causes) == (422, ["metadata.resourceVersion"])


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "reason"),
    [
        ("GET", f"{PODS}/none", None, 404, "NotFound"),
        ("GET", "/api/v1/nothings", None, 404, "NotFound"),
        ("GET", "/apis/none/v1/things", None, 404, "NotFound"),
        ("POST", "/api/v1/namespaces/none/pods", pod(), 404, "NotFound"),
        ("POST", PODS, b"{not json", 400, "BadRequest"),
        ("POST", PODS, b"[1]", 400, "BadRequest"),
        ("POST", PODS, node(), 400, "BadRequest"),
        ("POST", PODS, {**pod(), "apiVersion": "v2"}, 400, "BadRequest"),
        ("POST", PODS, pod() | {"metadata": {"name": "a", "namespace": "other"}}, 400, "BadRequest"),
        ("POST", PODS, pod() | {"metadata": {"name": "a", "resourceVersion": "1"}}, 400, "BadRequest"),
        ("POST", f"{PODS}/a", pod(), 405, "MethodNotAllowed"),
        ("PUT", PODS, pod(), 405, "MethodNotAllowed"),
        ("PUT", f"{PODS}/none", pod("none"), 404, "NotFound"),
        ("DELETE", f"{PODS}/none", None, 404, "NotFound"),
        ("GET", "/api/v1/bindings", None, 405, "MethodNotAllowed"),
    ],
)
def test_refusals(rest: Rest, method: str, path: str, body: Any, status: int, reason: str) -> None:
    reply = rest.send(method, path, body)
    assert (reply.status, reply.body["kind"], reply.body["reason"]) == (status, "Status", reason)


def test_existing_names_are_refused(rest: Rest) -> None:
    rest.post(PODS, pod())
    reply = rest.post(PODS, pod())
    assert (reply.status, reply.body["reason"]) == (409, "AlreadyExists")
    assert reply.body["message"] == 'pods "a" already exists'
    assert reply.body["details"] == {"name": "a", "kind": "pods"}


def test_unknown_media_type(rest: Rest) -> None:
    assert rest.send("POST", PODS, b"x", content="text/plain").status == 415


def test_yaml_in_and_out(rest: Rest) -> None:
    text = b"metadata: {name: a}\nspec:\n  containers: [{name: c, image: i}]\n"
    assert rest.send("POST", PODS, text, content="application/yaml").status == 201
    reply = rest.get(f"{PODS}/a", accept="application/yaml")
    assert reply.headers["Content-Type"] == "application/yaml"
    assert reply.raw.startswith(b"kind: Pod\napiVersion: v1\n")


def test_only_json_is_acceptable(rest: Rest) -> None:
    assert rest.get(PODS, accept="application/vnd.kubernetes.protobuf").status == 406


def test_dry_run_writes_nothing(rest: Rest) -> None:
    assert rest.post(PODS, pod(), dryRun="All").status == 201
    assert rest.get(f"{PODS}/a").status == 404


@pytest.mark.parametrize(
    ("strictness", "status", "warning"),
    [("Strict", 400, None), ("Warn", 201, "spec.imagee"), ("Ignore", 201, None)],
)
def test_unknown_fields(rest: Rest, strictness: str, status: int, warning: str | None) -> None:
    reply = rest.post(PODS, pod(imagee=1), fieldValidation=strictness)
    assert reply.status == status
    assert (warning is None) == ("Warning" not in reply.headers)
    if status == 201:
        assert "imagee" not in reply.body["spec"]
    else:
        assert 'unknown field "spec.imagee"' in reply.body["message"]


def test_a_wrong_type_names_the_field(rest: Rest) -> None:
    reply = rest.post(PODS, pod(priority="high"))
    assert reply.status == 400
    assert (
        "cannot unmarshal string into Go struct field PodSpec.spec.priority of type int64"
        in reply.body["message"]
    )


def test_null_is_absent(rest: Rest) -> None:
    body = pod(nodeName=None)
    body["metadata"]["creationTimestamp"] = None
    assert "nodeName" not in rest.post(PODS, body).body["spec"]


def test_a_gated_pod_says_so_from_the_start(rest: Rest) -> None:
    (condition,) = rest.post(PODS, pod(schedulingGates=[{"name": "g"}])).body["status"]["conditions"]
    told = (condition["type"], condition["status"], condition["reason"], condition["message"])
    text = "Scheduling is blocked due to non-empty scheduling gates"
    assert told == ("PodScheduled", "False", "SchedulingGated", text)


def test_a_binding_is_no_new_generation(rest: Rest) -> None:
    rest.post(PODS, pod())
    rest.post(f"{PODS}/a/binding", {"target": {"name": "n1"}})
    assert rest.get(f"{PODS}/a").body["metadata"]["generation"] == 1


def test_a_pod_is_replaced_without_what_admission_added(rest: Rest) -> None:
    rest.post(PODS, pod())
    again = {**pod(serviceAccountName="default"), "metadata": {"name": "a", "labels": {"x": "y"}}}
    reply = rest.put(f"{PODS}/a", again)
    assert (reply.status, reply.body["metadata"]["labels"]) == (200, {"x": "y"})


def test_generation_follows_the_spec_only(rest: Rest) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    rest.post(path, deployment())
    assert rest.patch(f"{path}/d", {"metadata": {"labels": {"a": "b"}}}).body["metadata"]["generation"] == 1
    assert rest.patch(f"{path}/d", {"spec": {"replicas": 3}}).body["metadata"]["generation"] == 2


def test_the_main_endpoint_ignores_status_and_the_other_way_round(rest: Rest) -> None:
    rest.post(PODS, pod())
    both: Object = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"activeDeadlineSeconds": 5},
        "status": {"phase": "Running"},
    }
    through_main = rest.patch(f"{PODS}/a", both).body
    assert (through_main["status"]["phase"], through_main["spec"]["activeDeadlineSeconds"]) == ("Pending", 5)
    both["spec"] = {"activeDeadlineSeconds": 3}
    through_status = rest.patch(f"{PODS}/a/status", both).body
    assert (through_status["status"]["phase"], through_status["spec"]["activeDeadlineSeconds"]) == (
        "Running",
        5,
    )


def test_resize_changes_resources_and_nothing_else(rest: Rest) -> None:
    rest.post(PODS, pod())
    container = {"name": "main", "image": "other", "resources": {"requests": {"cpu": "2"}}}
    body = rest.patch(f"{PODS}/a/resize", {"spec": {"containers": [container], "nodeName": "n1"}}).body[
        "spec"
    ]
    assert (body["containers"][0]["resources"], body["containers"][0]["image"]) == (
        {"requests": {"cpu": "2"}},
        pod()["spec"]["containers"][0]["image"],
    )
    assert "nodeName" not in body


def test_ephemeral_containers_are_added(rest: Rest) -> None:
    rest.post(PODS, pod())
    debugger = {"name": "debug", "image": "shell", "targetContainerName": "main"}
    body = rest.patch(
        f"{PODS}/a/ephemeralcontainers", {"spec": {"ephemeralContainers": [debugger], "nodeName": "n1"}}
    ).body["spec"]
    assert body["ephemeralContainers"][0]["name"] == "debug"
    assert "nodeName" not in body


def test_scale_reads_and_writes_replicas(rest: Rest) -> None:
    path = "/apis/apps/v1/namespaces/default/deployments"
    rest.post(path, deployment())
    scale = rest.get(f"{path}/d/scale").body
    assert (scale["kind"], scale["spec"], scale["status"]["selector"]) == ("Scale", {"replicas": 1}, "app=d")
    scale["spec"]["replicas"] = 4
    assert rest.put(f"{path}/d/scale", scale).body["spec"] == {"replicas": 4}
    assert rest.get(f"{path}/d").body["spec"]["replicas"] == 4
    assert rest.put(f"{path}/d/scale", scale).status == 409


def test_a_client_cannot_create_a_status_but_a_load_can(sandbox: Sandbox, rest: Rest) -> None:
    assert rest.post(PODS, pod() | {"status": {"phase": "Running"}}).body["status"]["phase"] == "Pending"
    sandbox.load([pod("b") | {"status": {"phase": "Running"}}])
    assert rest.get(f"{PODS}/b").body["status"]["phase"] == "Running"


def test_load_goes_the_way_of_http(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node(), pod()])
    assert rest.get(f"{PODS}/a").body["spec"]["schedulerName"] == "default-scheduler"
    assert rest.get(f"{NODES}/n1").body["status"]["allocatable"]["cpu"] == "4"
