"""Manifest files: YAML or JSON, many documents, Lists; every error names the file, the document and the line.

A List may be one that ``kubectl get -o yaml`` printed, whose items name their kinds, or one that an API server sent (``PodList``), whose
items leave that to the list.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from scheduler.apis import jsonreader, yamlreader

Object = dict[str, Any]
STDIN = Path("-")
_MAX_FILE = 512 * 1024 * 1024
_LIKE_JSON = re.compile(rb"(\xef\xbb\xbf)?\s*\{\s*[\"}]")
_WORDS = {str: "text", list: "a list", bool: "true or false", dict: "an object", type(None): "nothing"}


class ManifestError(Exception):
    """One clear line: which file, which place, what is wrong."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object and where it stands: `cluster.yaml: document 3 (line 40)`."""

    obj: Object
    place: str


def read(paths: Iterable[Path], stdin: BinaryIO | None = None) -> Iterator[Manifest]:
    """The objects of the files, in order; `-` is the standard input, or ``stdin``. Raises `ManifestError`."""
    for path in paths:
        yield from read_bytes(_content(path, stdin), "stdin" if path == STDIN else str(path))


def read_bytes(text: bytes, source: str) -> Iterator[Manifest]:
    """The objects of one text. Raises `ManifestError`, which names the source."""
    try:
        for number, (line, value) in enumerate(_documents(text), start=1):
            yield from _objects(value, f"{source}: document {number} (line {line})", {})
    except (yamlreader.YamlError, jsonreader.JsonError) as error:
        raise ManifestError(f"{source}: {error}") from None


def _content(path: Path, stdin: BinaryIO | None) -> bytes:
    try:
        if path == STDIN:
            text = (stdin or sys.stdin.buffer).read(_MAX_FILE + 1)
        else:
            with path.open("rb") as file:
                text = file.read(_MAX_FILE + 1)
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror or error}") from None
    if len(text) > _MAX_FILE:
        raise ManifestError(f"{path}: the file is larger than {_MAX_FILE} bytes")
    return text


def _documents(text: bytes) -> Iterable[tuple[int, Any]]:
    """The documents with their first lines. JSON is YAML, but its own decoder is fifty times faster."""
    if not _LIKE_JSON.match(text):
        return yamlreader.documents(text)
    try:
        return list(jsonreader.documents(text))
    except jsonreader.JsonError as error:
        if error.cut_off or isinstance(error, jsonreader.DuplicateKeyError):
            raise
        try:
            return list(yamlreader.documents(text))
        except yamlreader.YamlError:
            raise error from None


def _objects(value: Any, place: str, defaults: Object) -> Iterator[Manifest]:
    if not isinstance(value, dict):
        raise ManifestError(f"{place}: expected an object with apiVersion and kind, found {_word(value)}")
    if defaults:
        value = {**defaults, **value}
    kind = value.get("kind")
    items = value.get("items") if isinstance(kind, str) and kind.endswith("List") else None
    if items is not None:
        if not isinstance(items, list):
            raise ManifestError(f"{place}: items: expected a list, found {_word(items)}")
        for index, item in enumerate(items):
            yield from _objects(item, f"{place}, items[{index}]", _of_items(value))
        return
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str) or not value[field]:
            raise ManifestError(f"{place}: {field} not set")
    if not (str(kind).endswith("List") and "items" in value):  # a list of nothing
        yield Manifest(value, place)


def _of_items(value: Object) -> Object:
    """What a typed list says of its items."""
    kind = value["kind"].removesuffix("List")
    return {"apiVersion": value.get("apiVersion"), "kind": kind} if kind else {}


def _word(value: Any) -> str:
    return _WORDS.get(type(value), "a number")
