"""Kubernetes' protobuf encoding, reading only: Go clients (kubectl's create, drain, auth among them) send typed objects in it.

    "k8s\\0" + Unknown{1: TypeMeta{1: apiVersion, 2: kind}, 2: the object's bytes, ...}

The object is decoded by the wire numbers of `schema` into the same plain values that JSON would give. Go sends every field that is no pointer,
even empty ones; those are left out, as Go's JSON leaves them out. Replies go out as JSON, which all these clients accept as well.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from scheduler.sandbox.gotime import written
from scheduler.sandbox.resources import BY_KIND
from scheduler.sandbox.schema import FieldType, ModelSchema, model_schema

Object = dict[str, Any]
MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
_MAGIC = b"k8s\x00"
_MODELS = {
    "DeleteOptions": "meta.v1.DeleteOptions",
    "Eviction": "policy.v1.Eviction",
    "Scale": "autoscaling.v1.Scale",
}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_ZERO: tuple[Any, ...] = ("", 0, None, [], {})


class ProtobufError(ValueError):
    """The bytes are no object of a kind that the sandbox knows."""


def decode(body: bytes) -> Object:
    """The object in a body. Raises `ProtobufError`."""
    if not body.startswith(_MAGIC):
        raise ProtobufError("provided data does not appear to be a protobuf message, expected prefix k8s\\0")
    try:
        envelope = dict(_fields(body[len(_MAGIC) :]))
        meta = {number: _text(value) for number, value in _fields(envelope.get(1, b""))}
        version, kind = meta.get(1, ""), meta.get(2, "")
        schema = _schema_of(version, kind)
        return {"kind": kind, "apiVersion": version, **_message(envelope.get(2, b""), schema)}
    except (
        struct.error,
        IndexError,
        TypeError,
        UnicodeDecodeError,
        OverflowError,
        RecursionError,
        msgspec.DecodeError,
    ) as error:
        raise ProtobufError(f"the protobuf message is damaged: {error}") from None


def _schema_of(version: str, kind: str) -> ModelSchema:
    resource = BY_KIND.get((version, kind))
    schema = model_schema(resource.model if resource else _MODELS.get(kind, ""))
    if schema is None:
        raise ProtobufError(f'no kind "{kind}" is registered for version "{version}"')
    return schema


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ProtobufError("the protobuf message is damaged: a number is too long")


def _fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Field numbers and raw values: numbers for varints, bytes for everything else."""
    at, size = 0, len(data)
    while at < size:
        tag, at = _varint(data, at)
        wire = tag & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield tag >> 3, value
            continue
        if wire == 2:
            length, at = _varint(data, at)
        else:
            length = {1: 8, 5: 4}.get(wire, size + 1)
        if at + length > size:
            raise ProtobufError("the protobuf message is damaged: it ends too early")
        yield tag >> 3, data[at : at + length]
        at += length


def _message(data: bytes, schema: ModelSchema) -> Object:
    result: Object = {}
    for number, raw in _fields(data):
        name, field = schema.wire.get(number, ("", None))
        if field is None:
            continue
        if field.shape == "^":
            result.update(_value(raw, field))
        elif field.shape == "[]":
            result.setdefault(name, []).extend(_items(raw, field))
        elif field.shape == "{}":
            entry = dict(_fields(raw))
            result.setdefault(name, {})[_text(entry.get(1, b""))] = _value(entry.get(2, b""), field)
        else:
            value = _value(raw, field)
            if field.shape == "*" or (value not in _ZERO and value is not False):
                result[name] = value
    return result


def _items(raw: Any, field: FieldType) -> list[Any]:
    if field.name in ("int", "bool") and isinstance(raw, bytes):
        at, values = 0, []
        while at < len(raw):
            value, at = _varint(raw, at)
            values.append(_value(value, field))
        return values
    return [_value(raw, field)]


def _value(raw: Any, field: FieldType) -> Any:
    if field.is_model:
        schema = model_schema(field.name)
        return _message(raw, schema) if schema else {}
    match field.name:
        case "string":
            return _text(raw)
        case "int":
            return raw - (1 << 64) if raw >= 1 << 63 else raw
        case "bool":
            return bool(raw)
        case "float":
            return struct.unpack("<d", raw)[0]
        case "bytes":
            return base64.b64encode(raw).decode()
    return _special(raw, field.name)


def _special(raw: bytes, name: str) -> Any:
    parts = dict(_fields(raw))
    match name:
        case "time" | "microtime":
            return _moment(parts, name)
        case "quantity":
            return _text(parts.get(1, b"0")) or "0"
        case "intorstring":
            return _text(parts.get(3, b"")) if parts.get(1) else parts.get(2, 0)
        case "strings":
            return [_text(value) for number, value in _fields(raw) if number == 1]
        case "any":
            return msgspec.json.decode(parts[1]) if parts.get(1) else None
    raise ProtobufError(f"the sandbox cannot read {name} in protobuf")


def _moment(parts: dict[int, Any], kind: str) -> str | None:
    if not parts:
        return None
    seconds = parts.get(1, 0)
    moment = _EPOCH + timedelta(
        seconds=seconds - (1 << 64) if seconds >= 1 << 63 else seconds, microseconds=parts.get(2, 0) // 1000
    )
    return written(moment, kind)


def _text(raw: bytes) -> str:
    return raw.decode()
