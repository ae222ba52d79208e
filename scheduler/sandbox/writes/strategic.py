"""Strategic merge patch: lists of named things merge by their key instead of being replaced.

The merge keys are those of the Go types' `patchMergeKey` tags, kept in `schema`. Directives: `$patch: delete|replace|merge`, `$retainKeys`,
`$deleteFromPrimitiveList/<field>`, `$setElementOrder/<field>`.
"""

from __future__ import annotations

from typing import Any

from scheduler.sandbox.schema import FieldType, model_schema
from scheduler.sandbox.writes.patch import PatchError


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
            _merge_field(result, key, value, field)
    _reorder(result, patch, schema.fields if schema else {})
    return result


def _merge_field(result: dict[str, Any], key: str, value: Any, field: FieldType | None) -> None:
    if value is None:
        result.pop(key, None)
    elif isinstance(value, dict):
        current = result.get(key)
        inner = field.name if field and field.is_model and field.shape in ("", "*") else None
        result[key] = _merge_objects(current if isinstance(current, dict) else {}, value, inner)
    elif isinstance(value, list):
        result[key] = _merge_lists(result.get(key) or [], value, key, field)
    else:
        result[key] = value


def _merge_lists(target: list[Any], patch: list[Any], name: str, field: FieldType | None) -> list[Any]:
    key = field.merge_key if field else ""
    if key == "-":
        return _placed(target + [item for item in patch if item not in target], target, patch, key)
    if not key or not field:
        return [item for item in patch if not (isinstance(item, dict) and "$patch" in item)]
    if any(isinstance(item, dict) and item == {"$patch": "replace"} for item in patch):
        return [item for item in patch if item != {"$patch": "replace"}]
    result = list(target)
    for item in patch:
        _merge_item(result, item, key, field.name, name)
    return _placed(result, target, patch, key)


def _placed(merged: list[Any], target: list[Any], patch: list[Any], key: str) -> list[Any]:
    """The merged items in the API server's order: the patch's own in the patch's order, before the others except those that
    stood in front of them already. So what is new comes first, unless the patch names an old item before it.
    """
    places = {_rank_key(item, key): place for place, item in enumerate(target)}
    order = {_rank_key(item, key): rank for rank, item in enumerate(patch)}
    patched = sorted(
        (item for item in merged if _rank_key(item, key) in order),
        key=lambda item: order[_rank_key(item, key)],
    )
    others = [item for item in merged if _rank_key(item, key) not in order]
    result: list[Any] = []
    for item in patched:
        place = places.get(_rank_key(item, key), -1)
        while others and places[_rank_key(others[0], key)] < place:
            result.append(others.pop(0))
        result.append(item)
    return result + others


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


def _reorder(result: dict[str, Any], patch: dict[str, Any], fields: dict[str, FieldType]) -> None:
    for directive, order in patch.items():
        name = directive.removeprefix("$setElementOrder/")
        if name == directive or not isinstance(result.get(name), list) or not isinstance(order, list):
            continue
        field = fields.get(name)
        key = field.merge_key if field else ""
        ranks = {_rank_key(item, key): rank for rank, item in enumerate(order)}
        result[name] = sorted(result[name], key=lambda item: ranks.get(_rank_key(item, key), len(ranks)))


def _rank_key(item: Any, key: str) -> str:
    # As text: a patch may have anything where a name should be, and not everything can be looked up.
    return repr(item.get(key) if key not in ("", "-") and isinstance(item, dict) else item)
