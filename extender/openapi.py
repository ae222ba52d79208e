"""``/openapi.json``: the extender protocol as this webhook speaks it, for programs: clients are made from it, and fuzzers.

The envelopes are written down here, Pod and Node come from the classes that decode them, so that the document tells what is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import metadata
from typing import Any

import msgspec

from scheduler.apis.objects import Node, Pod

Schema = dict[str, Any]

_REF = "#/components/schemas/{name}"
_NAME: Schema = {"type": "string", "minLength": 1}
_INT64: Schema = {"type": "integer", "format": "int64", "minimum": -(1 << 63), "maximum": (1 << 63) - 1}
_REASONS: Schema = {"type": "object", "additionalProperties": {"type": "string"}}


@cache
def document() -> bytes:
    """The document, OpenAPI 3.1 as JSON."""
    paths: Schema = {}
    for verb, (arguments, result, summary) in _VERBS.items():
        paths[f"/{verb}"] = {"post": _operation(verb, arguments, result, summary)}
        paths[f"/profiles/{{profile}}/{verb}"] = {
            "parameters": [{"name": "profile", "in": "path", "required": True, "schema": _NAME}],
            "post": _operation(
                f"profile-{verb}", arguments, result, f"{summary} The profile of the path judges."
            ),
        }
    return msgspec.json.encode(
        {
            "openapi": "3.1.0",
            "info": {
                "title": "Wharfinger as a scheduler extender",
                "version": metadata.version("wharfinger"),
                "description": "Kubernetes' scheduler extender protocol, k8s.io/kube-scheduler/extender/v1.",
            },
            "paths": paths,
            "components": {"schemas": _schemas()},
        }
    )


_VERBS: Mapping[str, tuple[str, str, str]] = {
    "filter": ("ExtenderArgs", "ExtenderFilterResult", "Which of the nodes the pod fits."),
    "prioritize": ("ExtenderArgs", "HostPriorityList", "How well each of the nodes suits the pod."),
    "preempt": ("ExtenderPreemptionArgs", "ExtenderPreemptionResult", "Which pods have to leave which node."),
    "bind": ("ExtenderBindingArgs", "ExtenderBindingResult", "Bind the pod to the node."),
}

_REFUSALS: Mapping[str, str] = {
    "400": "Malformed; every fault with its place.",
    "404": "There is no such profile.",
    "405": "Not a POST.",
    "413": "The body is too large.",
    "415": "Another content type or encoding.",
    "500": "The verb failed, and its answer has no place to say so.",
    "503": "The cluster is not known yet.",
    "504": "No answer in time.",
}


def _operation(name: str, arguments: str, result: str, summary: str) -> Schema:
    responses = {"200": {"description": "Done, or Error says why not.", "content": _json(_ref(result))}}
    responses |= {
        code: {"description": text, "content": _json(_ref("ExtenderBindingResult"))}
        for code, text in _REFUSALS.items()
    }
    return {
        "operationId": name,
        "summary": summary,
        "requestBody": {"required": True, "content": _json(_ref(arguments))},
        "responses": responses,
    }


def _schemas() -> Schema:
    _, kubernetes = msgspec.json.schema_components([Pod, Node], ref_template=_REF)
    return {**kubernetes, **_requests(), **_answers()}


def _requests() -> Schema:
    uid = _object({"UID": _NAME}, "UID")
    pod = _object({"metadata": _object({"uid": _NAME}, "uid")}, "metadata")
    return {
        "NodeList": _object({"metadata": {"type": "object"}, "items": _list(_named(_ref("Node")))}),
        "ExtenderArgs": {
            **_object(
                {
                    "Pod": _ref("Pod"),
                    "Nodes": _or_null(_ref("NodeList")),
                    "NodeNames": _or_null(_list({"type": "string"})),
                },
                "Pod",
            ),
            "anyOf": [
                {"required": ["NodeNames"], "properties": {"NodeNames": {"type": "array"}}},
                {"required": ["Nodes"], "properties": {"Nodes": {"type": "object"}}},
            ],
        },
        "ExtenderPreemptionArgs": _object(
            {
                "Pod": _ref("Pod"),
                "NodeNameToVictims": _or_null(_map(_victims(pod))),
                "NodeNameToMetaVictims": _or_null(_map(_victims(uid))),
            },
            "Pod",
        ),
        "ExtenderBindingArgs": _object(
            {"PodName": _NAME, "PodNamespace": _NAME, "PodUID": {"type": "string"}, "Node": _NAME},
            "PodName",
            "PodNamespace",
            "Node",
        ),
    }


def _answers() -> Schema:
    score = {"type": "integer", "minimum": 0, "maximum": 10}
    victims = _victims(_object({"UID": _NAME}, "UID"))
    return {
        "ExtenderFilterResult": _object(
            {
                "Nodes": _or_null(
                    _object({"metadata": {"type": "object"}, "items": _list({"type": "object"})})
                ),
                "NodeNames": _or_null(_list({"type": "string"})),
                "FailedNodes": _REASONS,
                "FailedAndUnresolvableNodes": _REASONS,
                "Error": {"type": "string"},
            },
            "Nodes",
            "NodeNames",
            "FailedNodes",
            "FailedAndUnresolvableNodes",
            "Error",
        ),
        "HostPriorityList": _list(_object({"Host": {"type": "string"}, "Score": score}, "Host", "Score")),
        "ExtenderPreemptionResult": _object(
            {"NodeNameToMetaVictims": _map(victims)}, "NodeNameToMetaVictims"
        ),
        "ExtenderBindingResult": _object({"Error": {"type": "string"}}, "Error"),
    }


def _victims(pod: Schema) -> Schema:
    return _object({"Pods": _or_null(_list(pod)), "NumPDBViolations": _INT64})


def _named(node: Schema) -> Schema:
    """A node that has a name."""
    name = _object({"metadata": _object({"name": _NAME}, "name")}, "metadata")
    return {"allOf": [node, name]}


def _ref(name: str) -> Schema:
    return {"$ref": _REF.format(name=name)}


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _object(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _map(values: Schema) -> Schema:
    return {"type": "object", "additionalProperties": values}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}
