"""Discovery: which groups, versions and resources exist; the old form (one document per group) and the aggregated one (apidiscovery.k8s.io)."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from scheduler.sandbox.resources import GROUP_VERSIONS, SUBRESOURCE_KINDS, Resource, resources_of
from scheduler.sandbox.wire.http import Response

Object = dict[str, Any]
VERSION: Object = {
    "major": "1",
    "minor": "36",
    "gitVersion": "v1.36.0+sandbox",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "sandbox/any",
}
CUSTOM_RESOURCES = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
"""kubectl lists them before it says that there are no matches for a kind; discovery does not offer them."""
_NO_CUSTOM_RESOURCES: Object = {
    "kind": "CustomResourceDefinitionList",
    "apiVersion": "apiextensions.k8s.io/v1",
    "metadata": {"resourceVersion": "0"},
    "items": [],
}
_SUBRESOURCE_VERBS = {
    "binding": ("create",),
    "eviction": ("create",),
    "finalize": ("update",),
    "log": ("get",),
}
_OBJECT_VERBS = ("get", "patch", "update")


def _subresource_verbs(name: str) -> tuple[str, ...]:
    return _SUBRESOURCE_VERBS.get(name, _OBJECT_VERBS)


@cache
def legacy(path: str) -> Object | None:
    """The document at a discovery path, or None when there is none."""
    if path == CUSTOM_RESOURCES:
        return _NO_CUSTOM_RESOURCES
    words = path.strip("/").split("/")
    match words:
        case ["version"]:
            return VERSION
        case [""]:
            return {
                "paths": [
                    "/api",
                    "/api/v1",
                    "/apis",
                    *_group_paths(),
                    "/healthz",
                    "/livez",
                    "/openapi/v2",
                    "/openapi/v3",
                    "/readyz",
                    "/version",
                ]
            }
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            groups = [_group(group, version) for group, version in GROUP_VERSIONS if group]
            return {"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}
        case ["apis", group]:
            found = next((version for name, version in GROUP_VERSIONS if name == group), "")
            return {"kind": "APIGroup", "apiVersion": "v1", **_group(group, found)} if found else None
        case ["api", "v1"]:
            return _resource_list("", "v1")
        case ["apis", group, version] if (group, version) in GROUP_VERSIONS:
            return _resource_list(group, version)
    return None


def _group_paths() -> list[str]:
    return [
        path
        for group, version in GROUP_VERSIONS
        if group
        for path in (f"/apis/{group}", f"/apis/{group}/{version}")
    ]


def _group(group: str, version: str) -> Object:
    entry = {"groupVersion": f"{group}/{version}", "version": version}
    return {"name": group, "versions": [entry], "preferredVersion": entry}


def _resource_list(group: str, version: str) -> Object:
    resources: list[Object] = []
    for resource in resources_of(group, version):
        entry: Object = {
            "name": resource.plural,
            "singularName": resource.kind.lower(),
            "namespaced": resource.namespaced,
            "kind": resource.kind,
            "verbs": list(resource.verbs),
        }
        if resource.short_names:
            entry["shortNames"] = list(resource.short_names)
        if resource.categories:
            entry["categories"] = list(resource.categories)
        resources.append(entry)
        resources.extend(_legacy_subresource(resource, name) for name in resource.subresources)
    group_version = f"{group}/{version}" if group else version
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": group_version,
        "resources": resources,
    }


def _legacy_subresource(resource: Resource, name: str) -> Object:
    entry: Object = {
        "name": f"{resource.plural}/{name}",
        "singularName": "",
        "namespaced": resource.namespaced,
        "kind": resource.kind,
    }
    if name in SUBRESOURCE_KINDS:
        group, version, kind = SUBRESOURCE_KINDS[name]
        entry |= {"kind": kind, "group": group, "version": version}
    return entry | {"verbs": list(_subresource_verbs(name))}


@cache
def _aggregated_body(path: str, version: str) -> bytes:
    items = []
    for group, group_version in GROUP_VERSIONS:
        if (path == "/api") is (group == ""):
            resources = [_aggregated_resource(resource) for resource in resources_of(group, group_version)]
            versions = [{"version": group_version, "resources": resources, "freshness": "Current"}]
            meta: Object = {"name": group} if group else {}
            items.append({"metadata": meta | {"creationTimestamp": None}, "versions": versions})
    document = {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": f"apidiscovery.k8s.io/{version}",
        "metadata": {},
        "items": items,
    }
    return msgspec.json.encode(document)


def aggregated(path: str, version: str) -> Response:
    """The aggregated document of `/api` or `/apis`."""
    content_type = f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList"
    return Response(200, _aggregated_body(path, version), content_type)


def _aggregated_resource(resource: Resource) -> Object:
    entry: Object = {
        "resource": resource.plural,
        "responseKind": {"group": resource.group, "version": resource.version, "kind": resource.kind},
        "scope": "Namespaced" if resource.namespaced else "Cluster",
        "singularResource": resource.kind.lower(),
        "verbs": list(resource.verbs),
    }
    if resource.short_names:
        entry["shortNames"] = list(resource.short_names)
    if resource.categories:
        entry["categories"] = list(resource.categories)
    if resource.subresources:
        entry["subresources"] = [_aggregated_subresource(resource, name) for name in resource.subresources]
    return entry


def _aggregated_subresource(resource: Resource, name: str) -> Object:
    group, version, kind = SUBRESOURCE_KINDS.get(name, (resource.group, resource.version, resource.kind))
    return {
        "subresource": name,
        "responseKind": {"group": group, "version": version, "kind": kind},
        "verbs": list(_subresource_verbs(name)),
    }
