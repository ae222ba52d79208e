"""Strategic merge patch: lists of named things merge by their key instead of being replaced.

The merge keys are those of the Go types' `patchMergeKey` tags (k8s.io/api). Directives: `$patch: delete|replace|merge`, `$retainKeys`,
`$deleteFromPrimitiveList/<field>`, `$setElementOrder/<field>`.
"""

from __future__ import annotations

from typing import Any

from scheduler.sandbox.patch import PatchError
from scheduler.sandbox.schema import FieldType, model_schema

_BY_MODEL: dict[tuple[str, str], str] = {
    ("V1ObjectMeta", "ownerReferences"): "uid",
    ("V1PodSpec", "volumes"): "name",
    ("V1PodSpec", "containers"): "name",
    ("V1PodSpec", "initContainers"): "name",
    ("V1PodSpec", "ephemeralContainers"): "name",
    ("V1PodSpec", "imagePullSecrets"): "name",
    ("V1PodSpec", "hostAliases"): "ip",
    ("V1PodSpec", "topologySpreadConstraints"): "topologyKey",
    ("V1PodSpec", "resourceClaims"): "name",
    ("V1PodSpec", "schedulingGates"): "name",
    ("V1Container", "ports"): "containerPort",
    ("V1Container", "env"): "name",
    ("V1Container", "volumeMounts"): "mountPath",
    ("V1Container", "volumeDevices"): "devicePath",
    ("V1EphemeralContainer", "ports"): "containerPort",
    ("V1EphemeralContainer", "env"): "name",
    ("V1EphemeralContainer", "volumeMounts"): "mountPath",
    ("V1PodStatus", "podIPs"): "ip",
    ("V1PodStatus", "hostIPs"): "ip",
    ("V1PodStatus", "resourceClaimStatuses"): "name",
    ("V1NodeStatus", "addresses"): "type",
    ("V1ServiceSpec", "ports"): "port",
    ("V1ServiceAccount", "secrets"): "name",
    ("V1ServiceAccount", "imagePullSecrets"): "name",
    ("V1CSINodeSpec", "drivers"): "name",
    ("V1ResourceClaimStatus", "reservedFor"): "uid",
}
PRIMITIVE_LISTS = frozenset({("V1ObjectMeta", "finalizers"), ("V1NodeSpec", "podCIDRs")})


def merge_key(model: str, name: str, field: FieldType) -> str | None:
    """The key by which a list of objects merges, or None for a list that is replaced as a whole."""
    if name == "conditions" and field.shape == "list" and field.is_model:
        return "type"
    return _BY_MODEL.get((model, name))


def strategic_merge(target: Any, patch: Any, model: str | None) -> Any:
    """Merge `patch` into `target`, both of the type `model`. Raises `PatchError`."""
    if not isinstance(patch, dict):
        raise PatchError("a strategic merge patch is an object")
    return _merge_objects(target if isinstance(target, dict) else {}, patch, model)


def _merge_objects(target: dict[str, Any], patch: dict[str, Any], model: str | None) -> dict[str, Any]:
    directive = patch.get("$patch")
    if directive == "replace":
        return {key: value for key, value in patch.items() if not key.startswith("$")}
    if directive == "delete":
        return {}
    if directive not in (None, "merge"):
        raise PatchError(f"unknown $patch: {directive}")
    result = dict(target)
    if "$retainKeys" in patch:
        result = {key: value for key, value in result.items() if key in patch["$retainKeys"]}
    schema = model_schema(model) if model else None
    for key, value in patch.items():
        if key.startswith("$deleteFromPrimitiveList/"):
            name = key.partition("/")[2]
            result[name] = [item for item in result.get(name, ()) if item not in value]
        elif not key.startswith("$"):
            field = schema.fields.get(key) if schema else None
            _merge_field(result, key, value, model or "", field)
    _reorder(result, patch, model or "", schema.fields if schema else {})
    return result


def _merge_field(result: dict[str, Any], key: str, value: Any, model: str, field: FieldType | None) -> None:
    if value is None:
        result.pop(key, None)
    elif isinstance(value, dict):
        current = result.get(key)
        inner = field.name if field and field.is_model and field.shape == "" else None
        result[key] = _merge_objects(current if isinstance(current, dict) else {}, value, inner)
    elif isinstance(value, list):
        result[key] = _merge_lists(result.get(key) or [], value, model, key, field)
    else:
        result[key] = value


def _merge_lists(
    target: list[Any], patch: list[Any], model: str, name: str, field: FieldType | None
) -> list[Any]:
    if (model, name) in PRIMITIVE_LISTS:
        return target + [item for item in patch if item not in target]
    key = merge_key(model, name, field) if field else None
    if key is None or not field:
        return [item for item in patch if not (isinstance(item, dict) and "$patch" in item)]
    if any(isinstance(item, dict) and item == {"$patch": "replace"} for item in patch):
        return [item for item in patch if item != {"$patch": "replace"}]
    result = list(target)
    for item in patch:
        _merge_item(result, item, key, field.name, name)
    return result


def _merge_item(result: list[Any], item: Any, key: str, model: str, name: str) -> None:
    if not isinstance(item, dict) or key not in item:
        raise PatchError(f"map: {item} does not contain declared merge key: {key} (in {name})")
    at = next(
        (index for index, old in enumerate(result) if isinstance(old, dict) and old.get(key) == item[key]),
        None,
    )
    if item.get("$patch") == "delete":
        if at is not None:
            del result[at]
    elif at is None:
        result.append(_merge_objects({}, item, model))
    else:
        result[at] = _merge_objects(result[at], item, model)


def _reorder(result: dict[str, Any], patch: dict[str, Any], model: str, fields: dict[str, FieldType]) -> None:
    for directive, order in patch.items():
        name = directive.removeprefix("$setElementOrder/")
        if name == directive or not isinstance(result.get(name), list) or not isinstance(order, list):
            continue
        field = fields.get(name)
        key = merge_key(model, name, field) if field else None
        ranks = {_rank_key(item, key): rank for rank, item in enumerate(order)}
        result[name] = sorted(result[name], key=lambda item: ranks.get(_rank_key(item, key), len(ranks)))


def _rank_key(item: Any, key: str | None) -> Any:
    return item.get(key) if key and isinstance(item, dict) else repr(item)
