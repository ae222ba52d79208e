"""OpenAPI v2 in protobuf, the only form of it that Go clients ask for.

kubectl looks here for a kind that v3 does not have: without an answer it says that it cannot validate, with one that there are no matches for
the kind, as with a real server; `kubectl explain --output=plaintext-openapiv2` and clients before 1.27 read everything from it.

The messages are those of gnostic's `OpenAPIv2.proto` (`openapi.v2.Document`). A field of the JSON document is one of three things there: a
text, a message of its own, or, when its name begins with `x-`, a `NamedAny` with the value as YAML, of which JSON is a part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

Object = dict[str, Any]
Encode = Callable[[Any], bytes]

MEDIA_TYPE: Final = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
ASKED_FOR: Final = "application/com.github.proto-openapi.spec.v2"
"""How the media type begins in `Accept`; clients write `@v1.0` after it, which is no media type."""

_TRUE_4: Final = b"\x20\x01"
"""A true in field 4: a body is required."""


def encode(document: Object) -> bytes:
    """The document, of which `swagger`, `info`, `paths` and `definitions` are told."""
    info = _text(1, document["info"]["title"]) + _text(2, document["info"]["version"])
    paths = b"".join(_named(2, path, _path(item)) for path, item in document["paths"].items())
    definitions = _schemas(document["definitions"])
    return _text(1, document["swagger"]) + _message(2, info) + _message(8, paths) + _message(9, definitions)


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _message(number: int, payload: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(payload)) + payload


def _text(number: int, value: str) -> bytes:
    return _message(number, value.encode())


def _texts(number: int, values: list[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _named(number: int, name: str, payload: bytes) -> bytes:
    return _message(number, _text(1, name) + _message(2, payload))


def _fields(value: Object, fields: Mapping[str, Encode], extensions: int) -> bytes:
    """The message of an object: `fields` encode what is under their name, `x-` names go into the field `extensions`."""
    out = []
    for name, inner in value.items():
        if name in fields:
            out.append(fields[name](inner))
        elif name.startswith("x-"):
            out.append(_named(extensions, name, _text(2, msgspec.json.encode(inner).decode())))
    return b"".join(out)


def _schema(value: Object) -> bytes:
    return _fields(value, _SCHEMA, extensions=31)


def _schemas(value: Object) -> bytes:
    return b"".join(_named(1, name, _schema(inner)) for name, inner in value.items())


def _path(value: Object) -> bytes:
    return _fields(value, _PATH, extensions=10)


def _operation(value: Object) -> bytes:
    return _fields(value, _OPERATION, extensions=13)


def _parameter(value: Object) -> bytes:
    if value["in"] == "body":
        body = _text(2, value["name"]) + _text(3, "body") + _TRUE_4 + _message(5, _schema(value["schema"]))
        return _message(1, _message(1, body))
    query = _text(2, value["in"]) + _text(4, value["name"]) + _text(6, value["type"])
    return _message(1, _message(2, _message(3, query)))


def _response(code: str, value: Object) -> bytes:
    body = _text(1, value["description"]) + _message(2, _message(1, _schema(value["schema"])))
    return _named(1, code, _message(1, body))


_SCHEMA: Final[Mapping[str, Encode]] = {
    "$ref": lambda value: _text(1, value),
    "format": lambda value: _text(2, value),
    "description": lambda value: _text(4, value),
    "required": lambda value: _texts(19, value),
    "additionalProperties": lambda value: _message(21, _message(1, _schema(value))),
    "type": lambda value: _message(22, _text(1, value)),
    "items": lambda value: _message(23, _message(1, _schema(value))),
    "properties": lambda value: _message(25, _schemas(value)),
}
_PATH: Final[Mapping[str, Encode]] = {
    "get": lambda value: _message(2, _operation(value)),
    "post": lambda value: _message(4, _operation(value)),
    "patch": lambda value: _message(8, _operation(value)),
}
_OPERATION: Final[Mapping[str, Encode]] = {
    "consumes": lambda value: _texts(7, value),
    "parameters": lambda value: b"".join(_message(8, _parameter(each)) for each in value),
    "responses": lambda value: _message(9, b"".join(_response(code, each) for code, each in value.items())),
}
