"""Texts for `kubectl explain`, read from the official client's models: the `kubernetes` package carries what every field means."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

KIND_FIELDS = {
    "apiVersion": "APIVersion defines the versioned schema of this representation of an object.",
    "kind": "Kind is a string value representing the REST resource this object represents.",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """What a type and its fields mean, and which fields are required."""

    about: str
    fields: dict[str, str]
    required: tuple[str, ...]


@cache
def describe(model: str) -> Texts:
    """The texts of a type such as `core.v1.Pod`; empty ones when this version of the client has none."""
    found = _find(model)
    if found is None:
        return Texts("", {}, ())
    infos: dict[str, Any] = getattr(found, "model_fields", {})
    fields, required = {}, []
    for python_name, json_name in found.attribute_map.items():
        info = infos.get(python_name)
        if info is not None:
            fields[json_name] = info.description or ""
            if info.is_required():
                required.append(json_name)
    about = (found.__doc__ or "").partition("Attributes:")[0].strip()
    return Texts(about, fields, tuple(required))


def _find(model: str) -> Any:
    from kubernetes.client import models  # loads a hundred modules: only `explain` and `apply` pay for them

    group, version, kind = model.split(".")
    plain = f"{version.upper()}{kind}"
    for name in (plain, f"{group.capitalize()}{plain}"):
        found = getattr(models, name, None)
        if found is not None:
            return found
    return None
