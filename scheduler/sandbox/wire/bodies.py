"""From the bytes of a request to an object of the right kind: media types, JSON or YAML, known fields only."""

from __future__ import annotations

from typing import Any

import msgspec

from scheduler.apis.yamlreader import YamlError, documents
from scheduler.sandbox import errors
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.schema import Cleaner, WrongTypeError
from scheduler.sandbox.wire import protobuf
from scheduler.sandbox.wire.http import Request

Object = dict[str, Any]
_ACCEPTED = "application/json, application/yaml, application/vnd.kubernetes.protobuf"


def media_type(request: Request) -> str:
    """The content type without parameters, lower case; JSON when none is given."""
    return request.headers.get("content-type", "application/json").partition(";")[0].strip().lower()


def decode(request: Request) -> Any:
    """The decoded body. Raises `StatusError` (400, 415)."""
    kind = media_type(request)
    if kind in ("application/json", ""):
        return from_json(request.body)
    if kind in ("application/yaml", "text/yaml"):
        return from_yaml(request.body)
    if kind == protobuf.MEDIA_TYPE:
        try:
            return protobuf.decode(request.body)
        except protobuf.ProtobufError as error:
            raise errors.bad_request(str(error)) from None
    raise errors.unsupported_media(_ACCEPTED)


def from_json(body: bytes) -> Any:
    """JSON to plain values. Raises 400."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise errors.bad_request(f"the body of the request is not valid JSON: {error}") from None


def from_yaml(body: bytes) -> Any:
    """One YAML document to plain values. Raises 400."""
    try:
        found = [value for _, value in documents(body)]
    except YamlError as error:
        raise errors.bad_request(f"the body of the request is not valid YAML: {error}") from None
    if len(found) != 1:
        raise errors.bad_request("the body of the request is not one YAML document")
    return found[0]


def as_kind(value: Any, resource: Resource) -> Object:
    """Check that a decoded body is an object of the resource's kind. Raises 400."""
    if not isinstance(value, dict):
        raise errors.bad_request(f"the body of the request is not a {resource.kind}: expected a JSON object")
    kind, version = value.get("kind") or resource.kind, value.get("apiVersion") or resource.api_version
    if kind != resource.kind:
        raise errors.bad_request(
            f"{kind} in version {_quoted(version)} cannot be handled as a {resource.kind}"
        )
    if version != resource.api_version:
        raise errors.bad_request(
            f"the API version in the data ({version}) does not match the expected API version ({resource.api_version})"
        )
    if not isinstance(value.get("metadata") or {}, dict):
        raise errors.bad_request(
            f"{kind} in version {_quoted(version)} cannot be handled as a {kind}: metadata is no object"
        )
    return value


def clean(obj: Object, resource: Resource, strictness: str) -> tuple[Object, list[str]]:
    """The object with known fields only, and warnings. `strictness` is the parameter fieldValidation. Raises 400."""
    return _cleaned(obj, resource.model, resource.version, strictness)


def decode_as(request: Request, kind: str, model: str) -> Object:
    """The body of a subresource as an object of its kind, known fields only. Raises 400, 415."""
    body = decode(request)
    if not isinstance(body, dict):
        raise errors.bad_request(f"the body of the request is not a {kind}: expected a JSON object")
    if body.get("kind") not in (None, "", kind):
        raise errors.bad_request(f"{body['kind']} cannot be handled as a {kind}")
    return _cleaned(body, model, model.split(".")[1], "Ignore")[0]


def _cleaned(obj: Object, model: str, version: str, strictness: str) -> tuple[Object, list[str]]:
    cleaner, kind = Cleaner(), model.rpartition(".")[2]
    what = f"{kind} in version {_quoted(version)} cannot be handled as a {kind}"
    try:
        cleaned = cleaner.clean(obj, model)
    except WrongTypeError as error:
        raise errors.bad_request(f"{what}: {error}") from None
    except RecursionError:
        raise errors.bad_request(f"{what}: nested too deeply") from None
    unknown = [f'unknown field "{path}"' for path in cleaner.unknown]
    if unknown and strictness == "Strict":
        raise errors.bad_request(f"{what}: strict decoding error: {', '.join(unknown)}")
    return cleaned, [] if strictness == "Ignore" else unknown


def _quoted(text: str) -> str:
    return f'"{text}"'
