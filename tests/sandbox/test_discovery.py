"""Discovery, OpenAPI, reviews, health: what clients ask before they begin."""

from __future__ import annotations

import pytest

from scheduler.sandbox import Sandbox
from scheduler.sandbox.resources import GROUP_VERSIONS, RESOURCES
from tests.sandbox.rest import PODS, Rest, event, pod

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"


def _aggregated(rest: Rest, path: str) -> set[tuple[str, str]]:
    found = set()
    for item in rest.get(path, accept=AGGREGATED).body["items"]:
        for resource in item["versions"][0]["resources"]:
            found.add((item["metadata"].get("name", ""), resource["resource"]))
    return found


def test_both_forms_list_every_resource(rest: Rest) -> None:
    expected = {(resource.group, resource.plural) for resource in RESOURCES}
    legacy = set()
    for group, version in GROUP_VERSIONS:
        path = f"/apis/{group}/{version}" if group else f"/api/{version}"
        listed = rest.get(path).body["resources"]
        legacy |= {(group, resource["name"]) for resource in listed if "/" not in resource["name"]}
    assert legacy == expected
    assert _aggregated(rest, "/api") | _aggregated(rest, "/apis") == expected


def test_subresources_are_listed(rest: Rest) -> None:
    names = {resource["name"]: resource["kind"] for resource in rest.get("/api/v1").body["resources"]}
    assert (names["pods/binding"], names["pods/eviction"], names["pods/status"]) == (
        "Binding",
        "Eviction",
        "Pod",
    )


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api", "APIVersions"),
        ("/apis", "APIGroupList"),
        ("/apis/apps", "APIGroup"),
        ("/apis/apps/v1", "APIResourceList"),
    ],
)
def test_documents(rest: Rest, path: str, kind: str) -> None:
    assert rest.get(path).body["kind"] == kind
    assert rest.get(f"{path}/").body["kind"] == kind


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz", "/readyz/ping"])
def test_health(rest: Rest, path: str) -> None:
    assert rest.get(path).raw == b"ok"


def test_version_and_root(rest: Rest) -> None:
    assert rest.get("/version").body["minor"] == "36"
    assert "/apis/apps/v1" in rest.get("/").body["paths"]
    assert rest.get("/nothing").status == 404
    assert rest.post("/version", {}).status == 405


def test_every_document_of_openapi_resolves(rest: Rest) -> None:
    for entry in rest.get("/openapi/v3").body["paths"].values():
        document = rest.get(entry["serverRelativeURL"].partition("?")[0])
        names = document.body["components"]["schemas"]
        references = {
            text.split('"')[0] for text in document.raw.decode().split('"$ref":"#/components/schemas/')[1:]
        }
        assert references <= set(names)


def test_openapi_tells_merge_keys_and_field_validation(rest: Rest) -> None:
    document = rest.get("/openapi/v3/api/v1").body
    containers = document["components"]["schemas"]["io.k8s.api.core.v1.PodSpec"]["properties"]["containers"]
    assert containers["x-kubernetes-patch-merge-key"] == "name"
    patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]
    assert rest.get("/openapi/v2").body["swagger"] == "2.0"


@pytest.mark.parametrize(
    ("path", "body", "field", "value"),
    [
        (
            "authorization.k8s.io/v1/selfsubjectaccessreviews",
            {"spec": {"resourceAttributes": {"verb": "get"}}},
            "allowed",
            True,
        ),
        (
            "authorization.k8s.io/v1/subjectaccessreviews",
            {"spec": {"user": "kubernetes-admin"}},
            "allowed",
            True,
        ),
        ("authorization.k8s.io/v1/subjectaccessreviews", {"spec": {"user": "nobody"}}, "allowed", False),
        (
            "authorization.k8s.io/v1/selfsubjectrulesreviews",
            {"spec": {"namespace": "default"}},
            "incomplete",
            False,
        ),
        ("authentication.k8s.io/v1/tokenreviews", {"spec": {"token": "any"}}, "authenticated", True),
        ("authentication.k8s.io/v1/tokenreviews", {"spec": {}}, "authenticated", False),
    ],
)
def test_reviews(rest: Rest, path: str, body: dict[str, object], field: str, value: bool) -> None:
    reply = rest.post(f"/apis/{path}", body)
    assert (reply.status, reply.body["status"][field]) == (201, value)


def test_who_am_i(rest: Rest) -> None:
    reply = rest.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {})
    assert reply.body["status"]["userInfo"]["username"] == "kubernetes-admin"


def test_logs_say_why_there_are_none(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(), pod("b", nodeName="n1")])
    assert rest.get(f"{PODS}/a/log").body["message"] == "pod a does not have a host assigned"
    assert "runs no containers" in rest.get(f"{PODS}/b/log").body["message"]


def test_events_are_one_thing_with_two_names(rest: Rest) -> None:
    new = "/apis/events.k8s.io/v1/namespaces/default/events"
    old = "/api/v1/namespaces/default/events"
    body = event("e", note="hello")
    rest.post(new, body)
    core = rest.get(f"{old}/e").body
    assert (core["apiVersion"], core["involvedObject"], core["message"]) == ("v1", body["regarding"], "hello")
    assert core["reportingComponent"] == "tester"
    rest.patch(
        f"{new}/e", {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:00.000000Z"}}, "merge"
    )
    assert rest.get(f"{old}/e").body["series"]["count"] == 2
    listed = rest.get(new).body
    assert (listed["apiVersion"], listed["items"][0]["note"]) == ("events.k8s.io/v1", "hello")
