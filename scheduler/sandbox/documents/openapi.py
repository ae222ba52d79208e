"""OpenAPI v2 and v3, made from the same field schemas that bodies are checked with.

kubectl reads v3: to know that the server validates fields (the parameter fieldValidation of PATCH), by which keys lists merge, and for
`explain`. Documents are built when first asked for: the texts of a large group take about half a second to load.
"""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

import msgspec

from scheduler.sandbox import errors
from scheduler.sandbox.documents import openapi_protobuf
from scheduler.sandbox.documents.descriptions import KIND_FIELDS, describe
from scheduler.sandbox.resources import GROUP_VERSIONS, RESOURCES, Resource, resources_of
from scheduler.sandbox.schema import FieldType, ModelSchema, model_schema
from scheduler.sandbox.wire.http import Request, Response

Object = dict[str, Any]
_SCALARS: dict[str, Object] = {
    "string": {"type": "string"},
    "int": {"type": "integer", "format": "int64"},
    "float": {"type": "number", "format": "double"},
    "bool": {"type": "boolean"},
    "time": {"type": "string", "format": "date-time"},
    "microtime": {"type": "string", "format": "date-time"},
    "duration": {"type": "string"},
    "bytes": {"type": "string", "format": "byte"},
    "quantity": {"x-kubernetes-int-or-string": True},
    "intorstring": {"x-kubernetes-int-or-string": True},
    "strings": {"type": "array", "items": {"type": "string"}},
    "any": {"type": "object"},
}
_PATCHES = (
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
)
_PARAMETERS = ("dryRun", "fieldManager", "fieldValidation", "pretty")
_INFO = {"title": "Kubernetes", "version": "v1.36.0+sandbox"}


def document(path: str, request: Request) -> Response:
    """The document at an `/openapi` path. Raises 404, 406."""
    if path == "/openapi/v3":
        return Response(200, _index())
    if path.startswith("/openapi/v3/"):
        words = path.removeprefix("/openapi/v3/").split("/")
        group, version = (
            ("", words[1])
            if words[0] == "api" and len(words) == 2
            else (words[1], words[2])
            if len(words) == 3
            else ("", "")
        )
        if (group, version) in GROUP_VERSIONS:
            return Response(200, _v3(group, version))
    if path == "/openapi/v2":
        return _v2_as(request.headers.get("accept", "*/*"))
    raise errors.no_such_path()


def _v2_as(accept: str) -> Response:
    if openapi_protobuf.ASKED_FOR in accept:
        return Response(200, _v2_protobuf(), openapi_protobuf.MEDIA_TYPE)
    if "json" not in accept and "*/*" not in accept:
        raise errors.not_acceptable(f"application/json, {openapi_protobuf.MEDIA_TYPE}")
    return Response(200, _v2())


@cache
def _index() -> bytes:
    paths = {}
    for group, version in GROUP_VERSIONS:
        name = f"apis/{group}/{version}" if group else f"api/{version}"
        mark = (
            hashlib.sha256(repr([r for r in RESOURCES if r.group == group]).encode()).hexdigest()[:32].upper()
        )
        paths[name] = {"serverRelativeURL": f"/openapi/v3/{name}?hash={mark}"}
    return msgspec.json.encode({"paths": paths})


@cache
def _v3(group: str, version: str) -> bytes:
    resources = resources_of(group, version)
    schemas = _schemas(resources, "#/components/schemas/", allof=True)
    paths: Object = {}
    for resource in resources:
        paths |= _v3_paths(resource)
    return msgspec.json.encode(
        {"openapi": "3.0.0", "info": _INFO, "paths": paths, "components": {"schemas": schemas}}
    )


@cache
def _v2() -> bytes:
    return msgspec.json.encode(_v2_document())


@cache
def _v2_protobuf() -> bytes:
    return openapi_protobuf.encode(_v2_document())


def _v2_document() -> Object:
    paths: Object = {}
    for resource in RESOURCES:
        collection, item = _paths_of(resource)
        kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
        body = {
            "name": "body",
            "in": "body",
            "required": True,
            "schema": {"$ref": f"#/definitions/{_full_name(resource.model)}"},
        }
        query = [{"name": name, "in": "query", "type": "string"} for name in _PARAMETERS]
        answer = {
            "200": {"description": "OK", "schema": {"$ref": f"#/definitions/{_full_name(resource.model)}"}}
        }
        common = {"responses": answer, "x-kubernetes-group-version-kind": kind}
        paths[collection] = {"post": {**common, "parameters": [body, *query], "x-kubernetes-action": "post"}}
        if "patch" in resource.verbs:
            patch = {"name": "body", "in": "body", "required": True, "schema": {"type": "object"}}
            paths[item] = {
                "get": {**common, "x-kubernetes-action": "get"},
                "patch": {
                    **common,
                    "consumes": list(_PATCHES),
                    "parameters": [patch, *query],
                    "x-kubernetes-action": "patch",
                },
            }
    definitions = _schemas(list(RESOURCES), "#/definitions/", allof=False)
    return {"swagger": "2.0", "info": _INFO, "paths": paths, "definitions": definitions}


def _paths_of(resource: Resource) -> tuple[str, str]:
    root = f"/apis/{resource.group}/{resource.version}" if resource.group else f"/api/{resource.version}"
    collection = (
        f"{root}/namespaces/{{namespace}}/{resource.plural}"
        if resource.namespaced
        else f"{root}/{resource.plural}"
    )
    return collection, collection + "/{name}"


def _v3_paths(resource: Resource) -> Object:
    collection, item = _paths_of(resource)
    kind = {"group": resource.group, "version": resource.version, "kind": resource.kind}
    reference = {"schema": {"$ref": f"#/components/schemas/{_full_name(resource.model)}"}}
    query = [{"name": name, "in": "query", "schema": {"type": "string"}} for name in _PARAMETERS]
    answer = {"200": {"description": "OK", "content": {"application/json": reference}}}
    common = {"responses": answer, "parameters": query, "x-kubernetes-group-version-kind": kind}
    body = {"content": {"application/json": reference, "*/*": reference}}
    paths: Object = {collection: {"post": {**common, "requestBody": body, "x-kubernetes-action": "post"}}}
    if "patch" in resource.verbs:
        patches = {"content": {name: {"schema": {"type": "object"}} for name in _PATCHES}}
        paths[item] = {
            "get": {
                "responses": answer,
                "x-kubernetes-action": "get",
                "x-kubernetes-group-version-kind": kind,
            },
            "put": {**common, "requestBody": body, "x-kubernetes-action": "put"},
            "patch": {**common, "requestBody": patches, "x-kubernetes-action": "patch"},
        }
    return paths


def _schemas(resources: list[Resource], prefix: str, *, allof: bool) -> Object:
    found: dict[str, ModelSchema] = {}
    waiting = [resource.model for resource in resources]
    while waiting:
        name = waiting.pop()
        schema = model_schema(name)
        if name in found or schema is None:
            continue
        found[name] = schema
        waiting.extend(field.name for field in schema.fields.values() if field.is_model)
    kinds: dict[str, list[Object]] = {}
    for resource in resources:
        kinds.setdefault(resource.model, []).append(
            {"group": resource.group, "version": resource.version, "kind": resource.kind}
        )
    return {
        _full_name(name): _object(schema, prefix, kinds.get(name), allof=allof)
        for name, schema in sorted(found.items())
    }


def _full_name(model: str) -> str:
    """The name in real OpenAPI documents: `io.k8s.api.core.v1.Pod`."""
    if model.startswith("meta."):
        return f"io.k8s.apimachinery.pkg.apis.{model}"
    return f"io.k8s.api.{model}"


def _object(schema: ModelSchema, prefix: str, kinds: list[Object] | None, *, allof: bool) -> Object:
    texts = describe(schema.name)
    properties = {}
    if kinds:
        properties = {name: {"type": "string", "description": text} for name, text in KIND_FIELDS.items()}
    for name, field in schema.fields.items():
        text = texts.fields.get(name) or (describe(field.name).about if field.is_model else "")
        properties[name] = _property(field, prefix, text, allof=allof)
    result: Object = {"type": "object", "description": texts.about, "properties": properties}
    if texts.required:
        result["required"] = list(texts.required)
    if kinds:
        result["x-kubernetes-group-version-kind"] = kinds
    return result


def _property(field: FieldType, prefix: str, description: str, *, allof: bool) -> Object:
    reference: Object = {"$ref": prefix + _full_name(field.name)}
    value: Object = reference if field.is_model else dict(_SCALARS[field.name])
    if field.is_model and allof:
        value = {"allOf": [reference], "default": {}}
    extra: Object = {"description": description} if description else {}
    if field.shape == "[]":
        if field.merge_key:
            extra["x-kubernetes-patch-strategy"] = "merge"
        if field.merge_key not in ("", "-"):
            extra["x-kubernetes-patch-merge-key"] = field.merge_key
        return {"type": "array", "items": value, **extra}
    if field.shape == "{}":
        return {"type": "object", "additionalProperties": value, **extra}
    return {**value, **extra}
