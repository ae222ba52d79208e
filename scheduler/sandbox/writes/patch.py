"""The patch forms except strategic merge: JSON patch (RFC 6902) and merge patch (RFC 7386). Pure functions; inputs are never changed."""

from __future__ import annotations

import copy
from typing import Any


class PatchError(ValueError):
    """A patch that cannot be applied; the text says which operation and why."""


def merge_patch(target: Any, patch: Any) -> Any:
    """RFC 7386: null deletes, objects merge, everything else replaces."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result


def json_patch(target: Any, operations: Any) -> Any:
    """RFC 6902. Raises `PatchError`."""
    if not isinstance(operations, list):
        raise PatchError("a JSON patch is a list of operations")
    document = copy.deepcopy(target)
    for operation in operations:
        if not isinstance(operation, dict) or not isinstance(operation.get("path"), str):
            raise PatchError("an operation of a JSON patch is an object with op and path")
        document = _apply(document, operation)
    return document


def _apply(document: Any, operation: dict[str, Any]) -> Any:
    verb, path = operation.get("op"), operation["path"]
    match verb:
        case "test":
            if _read(document, path) != operation.get("value"):
                raise PatchError(f"testing path {path} failed")
            return document
        case "remove":
            return _remove(document, path)
        case "add":
            return _add(document, path, _value(operation))
        case "replace":
            _read(document, path)
            return _add(_remove(document, path), path, _value(operation)) if path else _value(operation)
        case "copy" | "move":
            source = operation.get("from")
            if not isinstance(source, str):
                raise PatchError(f"operation {verb} needs a from")
            value = copy.deepcopy(_read(document, source))
            return _add(_remove(document, source) if verb == "move" else document, path, value)
    raise PatchError(f"unexpected kind of operation: {verb}")


def _value(operation: dict[str, Any]) -> Any:
    if "value" not in operation:
        raise PatchError(f"operation {operation['op']} needs a value")
    return copy.deepcopy(operation["value"])


def _tokens(path: str) -> list[str]:
    if path == "":
        return []
    if not path.startswith("/"):
        raise PatchError(f"path {path} does not start with /")
    return [token.replace("~1", "/").replace("~0", "~") for token in path[1:].split("/")]


def _index(container: list[Any], token: str, path: str, *, end: bool = False) -> int:
    if end and token == "-":  # noqa: S105 - the word for the end of a list
        return len(container)
    if not token.isdigit() or int(token) > len(container) - (0 if end else 1):
        raise PatchError(f"path {path}: no index {token}")
    return int(token)


def _step(container: Any, token: str, path: str) -> Any:
    if isinstance(container, dict) and token in container:
        return container[token]
    if isinstance(container, list):
        return container[_index(container, token, path)]
    raise PatchError(f"path {path}: missing key {token}")


def _read(document: Any, path: str) -> Any:
    for token in _tokens(path):
        document = _step(document, token, path)
    return document


def _parent(document: Any, path: str) -> tuple[Any, str]:
    tokens = _tokens(path)
    for token in tokens[:-1]:
        document = _step(document, token, path)
    return document, tokens[-1]


def _remove(document: Any, path: str) -> Any:
    if path == "":
        raise PatchError("cannot remove the whole document")
    container, token = _parent(document, path)
    _step(container, token, path)
    if isinstance(container, list):
        del container[_index(container, token, path)]
    else:
        del container[token]
    return document


def _add(document: Any, path: str, value: Any) -> Any:
    if path == "":
        return value
    container, token = _parent(document, path)
    if isinstance(container, list):
        container.insert(_index(container, token, path, end=True), value)
    elif isinstance(container, dict):
        container[token] = value
    else:
        raise PatchError(f"path {path}: the parent is neither object nor list")
    return document
