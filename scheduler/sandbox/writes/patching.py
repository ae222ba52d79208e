"""PATCH: apply the patch to the current object in the form that the client sees, then update like any other write.

Server-side apply is simple here: managedFields are not kept, so there are no conflicts between managers. The sandbox remembers what each
manager applied last; fields and list items that the manager no longer applies are removed, everything else merges as in a strategic merge.
"""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import required
from scheduler.sandbox import errors
from scheduler.sandbox.schema import FieldType, model_schema
from scheduler.sandbox.wire import bodies
from scheduler.sandbox.wire.http import Request
from scheduler.sandbox.writes.patch import PatchError, json_patch, merge_patch
from scheduler.sandbox.writes.strategic import strategic_merge

Object = dict[str, Any]
APPLY = ("application/apply-patch+yaml", "application/apply-patch+cbor")
_TYPES = "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml"


def patched(current: Object, request: Request, model: str) -> Object:
    """The object after the patch. Raises `StatusError` (400, 415, 422)."""
    kind = bodies.media_type(request)
    try:
        match kind:
            case "application/json-patch+json":
                result = json_patch(current, bodies.from_json(request.body))
            case "application/merge-patch+json":
                result = merge_patch(current, bodies.from_json(request.body))
            case "application/strategic-merge-patch+json":
                result = strategic_merge(current, bodies.from_json(request.body), model)
            case _:
                raise errors.unsupported_media(_TYPES)
    except PatchError as error:
        if kind == "application/json-patch+json":
            raise errors.StatusError(
                422, "Invalid", f"the server rejected our request due to an error in our request: {error}"
            ) from None
        raise errors.bad_request(str(error)) from None
    if not isinstance(result, dict):
        raise errors.bad_request("the patched document is no object")
    return result


def applied(current: Object, previous: Object, configuration: Object, model: str) -> Object:
    """The object after a server-side apply: `previous` is what this manager applied the last time ({} the first time). Raises 400."""
    kept = _without_dropped(current, previous, configuration, model)
    try:
        merged: Object = strategic_merge(kept, configuration, model)
    except PatchError as error:
        raise errors.bad_request(str(error)) from None
    return merged


def apply_body(request: Request) -> Object:
    """The configuration of an apply request. Raises `StatusError` (400, 422)."""
    if not request.query.get("fieldManager"):
        fault = required("fieldManager", "is required for apply patch")
        raise errors.invalid("PatchOptions", "meta.k8s.io", "", [fault])
    body = bodies.from_yaml(request.body)
    if not isinstance(body, dict):
        raise errors.bad_request("an apply configuration is an object")
    metadata = body.get("metadata") or {}
    if isinstance(metadata, dict) and metadata.get("managedFields"):
        raise errors.bad_request("metadata.managedFields must be nil")
    return body


def _without_dropped(current: Object, previous: Object, configuration: Object, model: str | None) -> Object:
    """`current` without what `previous` had and `configuration` no longer has."""
    schema = model_schema(model) if model else None
    result = dict(current)
    for name, old in previous.items():
        field = schema.fields.get(name) if schema else None
        kept = _kept(result.get(name), old, configuration.get(name), field)
        if kept is None:
            result.pop(name, None)
        else:
            result[name] = kept
    return result


def _kept(current: Any, old: Any, configured: Any, field: FieldType | None) -> Any:
    """What stays of one field; None when nothing does."""
    inner = field.name if field and field.is_model else None
    if isinstance(old, dict) and isinstance(current, dict):
        return _without_dropped(current, old, configured if isinstance(configured, dict) else {}, inner)
    if configured is None:
        return None
    if (
        field
        and field.merge_key not in ("", "-")
        and all(isinstance(value, list) for value in (current, old, configured))
    ):
        return _items_without_dropped(current, old, configured, field.merge_key, inner)
    return current


def _items_without_dropped(
    current: list[Any], old: list[Any], configured: list[Any], key: str, model: str | None
) -> list[Any]:
    before = {item.get(key): item for item in old if isinstance(item, dict)}
    after = {item.get(key): item for item in configured if isinstance(item, dict)}
    kept = []
    for item in current:
        name = item.get(key) if isinstance(item, dict) else None
        if name in before and name not in after:
            continue
        kept.append(_without_dropped(item, before[name], after[name], model) if name in before else item)
    return kept
