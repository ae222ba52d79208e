"""What fields a kind has: names, types, merge keys and wire numbers, for every type that the sandbox serves.

`api_fields.json` holds the facts of Kubernetes 1.36's API types, taken from the tags of the Go structs in k8s.io/api: one line per type, one
entry per field: the protobuf number, a shape (`*` may be absent, `[]` list, `{}` map, `^` fields of another type written inline), a type, and
the key by which a list merges (`-`: a list of plain values that merges). A type is a scalar or the name of another line.

`Cleaner` does with a JSON body what Go's decoder does: null means absent, unknown fields are dropped and reported, a wrong JSON type is an
error, quantities come out in canonical form (`0.5` is stored as `500m`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import msgspec

from scheduler.apis.quantity import QuantityError, from_json
from scheduler.sandbox.gotime import TimeError, canonical_time

_ENTRY = re.compile(r"(\d+) (\*|\[\]|\{\}|\^)?(\S+)(?: (\S+))?")
_JSON_TYPES = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
_SCALARS: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "time": (str,),
    "microtime": (str,),
    "duration": (str,),
    "bytes": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
    "intorstring": (int, str),
    "strings": (list,),
}
_GO_TYPES = {"int": "int64", "float": "float64", "bytes": "[]uint8", "time": "Time", "microtime": "MicroTime"}


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field: `shape` is "", "*", "[]", "{}" or "^"; `name` a scalar (`string`, `quantity`, `any`, ...) or, `is_model`, a type."""

    number: int
    shape: str
    name: str
    is_model: bool
    merge_key: str


@dataclass(frozen=True, slots=True)
class ModelSchema:
    """A type: `fields` by JSON name with inline types resolved, `wire` as it is sent in protobuf (number to JSON name and type)."""

    name: str
    fields: dict[str, FieldType]
    wire: dict[int, tuple[str, FieldType]]


class WrongTypeError(Exception):
    """A JSON value of another type than the field has; the text is worded like Go's decoder."""


@cache
def _lines() -> dict[str, dict[str, str]]:
    raw = resources.files("scheduler.sandbox").joinpath("api_fields.json").read_bytes()
    return msgspec.json.decode(raw, type=dict[str, dict[str, str]])


@cache
def model_schema(name: str) -> ModelSchema | None:
    """The schema of a type such as `core.v1.Pod`, or None when the sandbox does not know it."""
    line = _lines().get(name)
    if line is None:
        return None
    fields: dict[str, FieldType] = {}
    wire = {}
    for json_name, entry in line.items():
        field = _parse(entry)
        wire[field.number] = (json_name, field)
        inner = model_schema(field.name) if field.shape == "^" else None
        fields |= inner.fields if inner else {json_name: field}
    return ModelSchema(name, fields, wire)


def _parse(entry: str) -> FieldType:
    match = _ENTRY.fullmatch(entry)
    if match is None:
        raise ValueError(f"api_fields.json: bad entry {entry!r}")
    number, shape, name, key = match.groups()
    return FieldType(int(number), shape or "", name, "." in name, key or "")


@lru_cache(maxsize=8192, typed=True)
def canonical(quantity: str | float) -> str:
    """A quantity as an API server stores it: `0.5` becomes `500m`, `1024Mi` becomes `1Gi`. Raises `QuantityError`."""
    return str(from_json(quantity))


class Cleaner:
    """Cleans one body. `unknown` collects paths of unknown fields, as `spec.containers[0].imagee`."""

    def __init__(self) -> None:
        self.unknown: list[str] = []

    def clean(self, value: dict[str, Any], model: str, path: str = "") -> dict[str, Any]:
        """A new dict without nulls and unknown fields, quantities canonical. Raises `WrongTypeError`."""
        schema = model_schema(model)
        if schema is None:
            return value
        result = {}
        for key, item in value.items():
            field = schema.fields.get(key)
            if field is None and not (path == "" and key in ("kind", "apiVersion")):
                self.unknown.append(f"{path}.{key}" if path else key)
            elif field is None:
                result[key] = item
            elif item is not None:
                result[key] = self._field(item, field, model, f"{path}.{key}" if path else key)
        return result

    def _field(self, item: Any, field: FieldType, model: str, path: str) -> Any:
        if field.shape == "[]":
            if type(item) is not list:
                raise _wrong(item, model, path, "[]" + _go_type(field.name))
            return [
                self._value(entry, field, model, f"{path}[{index}]")
                for index, entry in enumerate(item)
                if entry is not None
            ]
        if field.shape == "{}":
            if type(item) is not dict:
                raise _wrong(item, model, path, f"map[string]{_go_type(field.name)}")
            return {
                key: self._value(_present(entry, field), field, model, f"{path}.{key}")
                for key, entry in item.items()
            }
        return self._value(item, field, model, path)

    def _value(self, item: Any, field: FieldType, model: str, path: str) -> Any:
        if not field.is_model:
            return _scalar(item, field.name, model, path)
        if type(item) is not dict:
            raise _wrong(item, model, path, _go_type(field.name))
        return self.clean(item, field.name, path)


def _present(entry: Any, field: FieldType) -> Any:
    """Null in a map is the type's zero value."""
    if entry is not None:
        return entry
    return (
        {} if field.is_model else [] if field.name == "strings" else "0" if field.name == "quantity" else ""
    )


def _scalar(item: Any, name: str, model: str, path: str) -> Any:
    if name == "quantity":
        if type(item) not in (str, int, float):
            raise _wrong(item, model, path, "Quantity")
        try:
            return canonical(item)
        except QuantityError as error:
            raise WrongTypeError(str(error)) from None
    allowed = _SCALARS.get(name)
    if allowed is None or type(item) in allowed:
        return _time(item, name) if name in ("time", "microtime") else item
    if name == "int" and type(item) is float and item.is_integer():
        return int(item)
    raise _wrong(item, model, path, _go_type(name))


def _time(text: str, name: str) -> str:
    try:
        return canonical_time(text, name)
    except TimeError as error:
        raise WrongTypeError(str(error)) from None


def _go_type(name: str) -> str:
    if "." in name:
        return f"v1.{name.rpartition('.')[2]}"
    return _GO_TYPES.get(name, name)


def _wrong(item: Any, model: str, path: str, go_type: str) -> WrongTypeError:
    place = re.sub(r"\[\d+\]", "", path)
    owner = model.rpartition(".")[2]
    return WrongTypeError(
        f"json: cannot unmarshal {_JSON_TYPES[type(item)]} into Go struct field {owner}.{place} of type {go_type}"
    )
