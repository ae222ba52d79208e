"""What fields a kind has, read from the official client's models.

The `kubernetes` package carries every API type with its field names and types; reading them keeps the sandbox's idea of a Pod as complete as
the real one without a copy of the API here. Models load one by one when first asked for: a Pod costs some 0.2 s once.

`Cleaner` does what Go's decoder does with a body: null means absent, unknown fields are dropped and reported, a wrong JSON type is an error,
quantities come out in canonical form (`0.5` is stored as `500m`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from scheduler.apis.quantity import QuantityError, from_json

QUANTITY_FIELDS = frozenset(
    [
        "allocatable",
        "allocatedResources",
        "capacity",
        "default",
        "defaultRequest",
        "divisor",
        "hard",
        "limits",
        "max",
        "maxLimitRequestRatio",
        "maximumVolumeSize",
        "min",
        "overhead",
        "podFixed",
        "requests",
        "sizeLimit",
        "used",
        "value",
    ]
)
_QUANTITY_VALUE_MODELS = frozenset({"V1DeviceCapacity", "V1Counter"})
_TYPE = re.compile(r"^(?:(?P<outer>List|Dict\[str, )\[?)?(?P<inner>List\[)?(?P<name>\w+)\]*$")
_JSON_TYPES = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
_SCALARS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "datetime": (str,),
    "bytes": (str,),
    "int": (int,),
    "float": (int, float),
    "bool": (bool,),
}
_GO_TYPES = {
    "str": "string",
    "datetime": "string",
    "bytes": "[]uint8",
    "int": "int64",
    "float": "float64",
    "bool": "bool",
}


@dataclass(frozen=True, slots=True)
class FieldType:
    """A field: `shape` is "", "list" or "map"; `name` a scalar (`str`, `int`, `quantity`, `object`, ...) or a model's name."""

    shape: str
    name: str
    is_model: bool
    description: str = ""


@dataclass(frozen=True, slots=True)
class ModelSchema:
    """A type: its fields by JSON name, the required ones, and what it says about itself."""

    name: str
    fields: dict[str, FieldType]
    required: tuple[str, ...]
    description: str


class WrongTypeError(Exception):
    """A JSON value of another type than the field has; the text is worded like Go's decoder."""


def _parse_type(text: str, model: str, json_name: str, description: str) -> FieldType:
    shape = "list" if text.startswith("List[") else "map" if text.startswith("Dict[") else ""
    inner = text
    if shape:
        inner = text.removeprefix("List[").removeprefix("Dict[str, ")[:-1]
    if inner.startswith("List["):
        return FieldType(shape, "object", False, description)
    if _is_quantity(shape, inner, model, json_name):
        return FieldType(shape, "quantity", False, description)
    return FieldType(shape, inner, inner not in _SCALARS and inner != "object", description)


def _is_quantity(shape: str, inner: str, model: str, json_name: str) -> bool:
    if inner != "str" or shape == "list" or json_name not in QUANTITY_FIELDS:
        return False
    if json_name == "value":
        return model in _QUANTITY_VALUE_MODELS
    return shape == "map" or json_name in ("divisor", "sizeLimit", "maximumVolumeSize", "capacity")


@cache
def model_schema(name: str) -> ModelSchema | None:
    """The schema of a model of the official client, or None when this version of the client has no such type."""
    from kubernetes.client import models  # loads a hundred modules: only a server that gets a body pays

    model = getattr(models, name, None)
    if model is None:
        return None
    infos = getattr(model, "model_fields", {})
    fields, required = {}, []
    for python_name, type_text in model.openapi_types.items():
        json_name = model.attribute_map[python_name]
        info = infos.get(python_name)
        fields[json_name] = _parse_type(type_text, name, json_name, getattr(info, "description", None) or "")
        if info is not None and info.is_required():
            required.append(json_name)
    about = (model.__doc__ or "").partition("Attributes:")[0].strip()
    return ModelSchema(name, fields, tuple(required), about)


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
            if field is None:
                self.unknown.append(f"{path}.{key}" if path else key)
            elif item is not None:
                result[key] = self._field(item, field, model, f"{path}.{key}" if path else key)
        return result

    def _field(self, item: Any, field: FieldType, model: str, path: str) -> Any:
        if field.shape == "list":
            if type(item) is not list:
                raise _wrong(item, model, path, "[]" + _go_type(field.name))
            if field.is_model:
                return [
                    self._model(entry, field.name, f"{path}[{index}]")
                    for index, entry in enumerate(item)
                    if entry is not None
                ]
            return [_scalar(entry, field.name, model, path) for entry in item]
        if field.shape == "map":
            if type(item) is not dict:
                raise _wrong(item, model, path, f"map[string]{_go_type(field.name)}")
            if field.is_model:
                return {
                    key: self._model(entry, field.name, f"{path}.{key}")
                    for key, entry in item.items()
                    if entry is not None
                }
            return {
                key: _scalar("" if entry is None else entry, field.name, model, path)
                for key, entry in item.items()
            }
        if field.is_model:
            return self._model(item, field.name, path)
        return _scalar(item, field.name, model, path)

    def _model(self, item: Any, model: str, path: str) -> Any:
        if type(item) is not dict:
            raise _wrong(item, model, path, _go_type(model))
        return self.clean(item, model, path)


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
        return item
    if name == "int" and type(item) is float and item.is_integer():
        return int(item)
    raise _wrong(item, model, path, _go_type(name))


def _go_type(name: str) -> str:
    return (
        _GO_TYPES.get(name)
        or f"v1.{re.sub(r'^(Core|Events|Storage|Resource)?V[0-9a-z]+(?=[A-Z])', '', name)}"
    )


def _wrong(item: Any, model: str, path: str, go_type: str) -> WrongTypeError:
    place = re.sub(r"\[\d+\]", "", path)
    owner = _go_type(model).removeprefix("v1.")
    return WrongTypeError(
        f"json: cannot unmarshal {_JSON_TYPES[type(item)]} into Go struct field {owner}.{place} of type {go_type}"
    )
