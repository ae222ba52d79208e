"""From the bytes of a configuration file to a plain tree, with YAML's traps disarmed.

The tree is what JSON would hold: dicts with string keys, lists, text, numbers, booleans, None. Scalars mean what they mean
to Kubernetes' YAML reader (YAML 1.1: `yes` is a boolean, `010` is eight, `1e3` is a number, `1:30` and dates are text), a
key that appears twice in one mapping is an error (also when a merge `<<` brings it), and only the first document counts.

A file is input like any other: its size, its depth and the number of nodes after expanding aliases are limited, so that a
few lines of anchors cannot fill the memory. Text that starts with `{` is JSON and is read as JSON.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

import yaml

from scheduler.apis.fielderror import FieldError, forbidden, invalid
from scheduler.apis.requirements import child

MAX_BYTES: Final = 4 * 1024 * 1024
MAX_DEPTH: Final = 100
MAX_NODES: Final = 200_000

_MAX_DIGITS: Final = 100
_TAG: Final = "tag:yaml.org,2002:"
_NUMBER_TAG: Final = "tag:go,number"
_MERGE_TAG: Final = f"{_TAG}merge"
_TRUE: Final = frozenset(["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"])
_FALSE: Final = frozenset(["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"])
_NULL: Final = ("", "~", "null", "Null", "NULL")
_INTEGER = re.compile(r"([-+]?)(0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SPECIAL_FLOAT = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_BaseLoader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BaseLoader):  # type: ignore[misc]
    """PyYAML's safe loader, used up to its node graph, with Kubernetes' implicit types."""

    yaml_implicit_resolvers: dict[str | None, list[tuple[str, re.Pattern[str]]]] = {}


def _teach(tag: str, pattern: str, first: str) -> None:
    _Loader.add_implicit_resolver(tag, re.compile(f"^(?:{pattern})$"), list(first))


_teach(f"{_TAG}bool", "|".join(sorted(_TRUE | _FALSE)), "yYnNtTfFoO")
_teach(_MERGE_TAG, "<<", "<")
_teach(_NUMBER_TAG, r"[-+]?[0-9][0-9a-zA-Z_.+-]*|[-+]?\.[0-9a-zA-Z_+-]+", "-+.0123456789")
_Loader.add_implicit_resolver(f"{_TAG}null", re.compile(r"^(?:~|null|Null|NULL|)$"), ["~", "n", "N", ""])


class _StopError(Exception):
    """Reading cannot go on; carries the one fault that says why."""

    def __init__(self, error: FieldError) -> None:
        super().__init__(str(error))
        self.error = error


class Document(NamedTuple):
    """A tree, what is wrong with it, and whether more documents follow. With errors the tree must not be used."""

    tree: Any
    errors: list[FieldError]
    more: bool = False


def read(text: bytes | str, source: str) -> Document:
    """The tree of a JSON or YAML text.

    Faults of form carry `source` and the line as their place, faults of content the path in the tree.
    """
    size = len(text)
    if size > MAX_BYTES:
        return Document(None, [forbidden(source, f"the file is larger than {MAX_BYTES} bytes")])
    try:
        decoded = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        return Document(None, [invalid_form(source, f"not UTF-8 text: {error.reason} at byte {error.start}")])
    try:
        if decoded.lstrip().startswith("{"):
            return _read_json(decoded, source)
        return _read_yaml(decoded, source)
    except _StopError as stop:
        return Document(None, [stop.error])


def plain_means_text(text: str) -> bool:
    """Whether the text, written without quotes, is read back as itself."""
    if not text or text in _TRUE or text in _FALSE or text in _NULL or text == "<<":
        return False
    return not _SPECIAL_FLOAT.fullmatch(text) and _number(text.replace("_", "")) is None


def invalid_form(place: str, problem: str) -> FieldError:
    """A fault of the text itself, without a value to show."""
    return FieldError(place, invalid(place, None, "").type, detail=problem)


class _Object(dict[str, Any]):
    """A JSON object that remembers which of its keys came twice."""

    repeated: tuple[str, ...] = ()


def _read_json(text: str, source: str) -> Document:
    def pairs(items: list[tuple[str, Any]]) -> _Object:
        found = _Object(items)
        if len(found) < len(items):
            keys = [key for key, _ in items]
            found.repeated = tuple(sorted({key for key in keys if keys.count(key) > 1}))
        return found

    try:
        tree = json.loads(text, object_pairs_hook=pairs, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise _StopError(invalid_form(f"{source}:{error.lineno}:{error.colno}", error.msg)) from None
    except RecursionError:
        raise _StopError(forbidden(source, f"nested deeper than {MAX_DEPTH} levels")) from None
    except ValueError as error:
        raise _StopError(invalid_form(source, str(error))) from None
    errors = [
        invalid_form(child(path, key), f'key "{key}" is given more than once')
        for path, found in _objects(tree, "", 0)
        for key in found.repeated
    ]
    return Document(tree, errors)


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not a JSON number")


def _objects(tree: Any, path: str, depth: int) -> Iterator[tuple[str, _Object]]:
    if depth > MAX_DEPTH:
        raise _StopError(forbidden(path, f"nested deeper than {MAX_DEPTH} levels"))
    if isinstance(tree, _Object):
        yield path, tree
        for key, value in tree.items():
            yield from _objects(value, child(path, key), depth + 1)
    elif isinstance(tree, list):
        for i, value in enumerate(tree):
            yield from _objects(value, f"{path}[{i}]", depth + 1)


def _read_yaml(text: str, source: str) -> Document:
    loader: Any = None
    try:
        _check_depth(text, source)
        loader = _Loader(text)
        node = loader.get_node() if loader.check_node() else None
        more = _has_more(loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{source}:{mark.line + 1}:{mark.column + 1}" if mark else source
        raise _StopError(invalid_form(place, error.problem or "malformed YAML")) from None
    except yaml.YAMLError as error:
        raise _StopError(invalid_form(source, " ".join(str(error).split()))) from None
    finally:
        if loader is not None:
            loader.dispose()
    builder = _Builder()
    tree = builder.build(node, "", ()) if node is not None else None
    return Document(tree, builder.errors, more)


def _has_more(loader: Any) -> bool:
    """Whether something follows the first document; what it is does not matter, nor whether it is well-formed."""
    try:
        return bool(loader.check_node())
    except yaml.YAMLError:
        return True


def _check_depth(text: str, source: str) -> None:
    """Before anything recursive touches the text: how deep does its first document go?"""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        elif isinstance(event, yaml.DocumentEndEvent):
            return
        if depth > MAX_DEPTH:
            place = f"{source}:{event.start_mark.line + 1}" if event.start_mark else source
            raise _StopError(forbidden(place, f"nested deeper than {MAX_DEPTH} levels"))


class _Builder:
    """Turns the node graph into a tree, aliases expanded, within the budget of nodes."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []
        self._nodes = 0

    def build(self, node: Any, path: str, above: tuple[int, ...]) -> Any:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise _StopError(forbidden(path, f"more than {MAX_NODES} values after expanding aliases"))
        if id(node) in above or len(above) > MAX_DEPTH:
            raise _StopError(forbidden(path, "an anchor contains itself or aliases nest too deep"))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, (*above, id(node)))
        if isinstance(node, yaml.SequenceNode):
            inside = (*above, id(node))
            return [self.build(item, f"{path}[{i}]", inside) for i, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: Any, path: str, above: tuple[int, ...]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in self._pairs(node, path, above):
            key = self._key(key_node, path)
            place = child(path, key)
            if key in found:
                problem = f'key "{key}" is given more than once (line {key_node.start_mark.line + 1})'
                self.errors.append(invalid_form(place, problem))
            found[key] = self.build(value_node, place, above)
        return found

    def _pairs(self, node: Any, path: str, above: tuple[int, ...]) -> Iterator[tuple[Any, Any]]:
        for key, value in node.value:
            if key.tag != _MERGE_TAG:
                yield key, value
                continue
            for merged in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(merged, yaml.MappingNode) or id(merged) in above:
                    raise _StopError(
                        invalid_form(child(path, "<<"), "a merge needs a mapping or a list of mappings")
                    )
                yield from self._pairs(merged, path, (*above, id(merged)))

    def _key(self, node: Any, path: str) -> str:
        value = self._scalar(node, path) if isinstance(node, yaml.ScalarNode) else None
        if value is None:
            line = node.start_mark.line + 1
            raise _StopError(invalid_form(path, f"a key on line {line} is not text"))
        return value if isinstance(value, str) else json.dumps(value)

    def _scalar(self, node: Any, path: str) -> Any:
        tag, text = node.tag, node.value
        if tag in (_NUMBER_TAG, f"{_TAG}int", f"{_TAG}float"):
            return self._number(text, path)
        if tag == f"{_TAG}bool" and text in _TRUE | _FALSE:
            return text in _TRUE
        if tag == f"{_TAG}null" and text in _NULL:
            return None
        if tag == f"{_TAG}binary":
            return self._binary(text, path)
        return text

    def _number(self, text: str, path: str) -> int | float | str:
        if _SPECIAL_FLOAT.fullmatch(text):
            self.errors.append(invalid(path, text, "must be a finite number"))
            return 0
        number = _number(text.replace("_", ""))
        return text if number is None else number

    def _binary(self, text: str, path: str) -> str:
        try:
            return base64.b64decode("".join(text.split()), validate=True).decode()
        except (binascii.Error, UnicodeDecodeError):
            self.errors.append(invalid_form(path, "!!binary is not base64 of text"))
            return ""


def _number(text: str) -> int | float | None:
    match = _INTEGER.fullmatch(text)
    if match is not None and len(text) <= _MAX_DIGITS:
        digits = match[2].lower()
        bases = {"0x": 16, "0o": 8, "0b": 2}
        base = bases.get(digits[:2]) or (8 if digits.startswith("0") else 10)
        size = int(digits[2:] if digits[:2] in bases else digits, base)
        return -size if match[1] == "-" else size
    if not _FLOAT.fullmatch(text):
        return None
    number = float(text)
    # JSON has one kind of number: upstream writes 4.0 as 4 before it looks at the field's type.
    return int(number) if math.isfinite(number) and number.is_integer() and abs(number) < 1e21 else number
