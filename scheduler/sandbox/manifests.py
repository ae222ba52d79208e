"""Manifest files: YAML or JSON, many documents, Lists; every error names the file, the document and the line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from scheduler.sandbox.yamlreader import YamlError, documents

Object = dict[str, Any]
_MAX_FILE = 512 * 1024 * 1024


class ManifestError(Exception):
    """One clear line: which file, which place, what is wrong."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object and where it stands: `cluster.yaml: document 3 (line 40)`."""

    obj: Object
    place: str


def read(paths: Iterable[Path]) -> Iterator[Manifest]:
    """The objects of the files, in order. Raises `ManifestError`."""
    for path in paths:
        yield from _read_file(path)


def _read_file(path: Path) -> Iterator[Manifest]:
    try:
        if path.stat().st_size > _MAX_FILE:
            raise ManifestError(f"{path}: the file is larger than {_MAX_FILE} bytes")
        text = path.read_bytes()
    except OSError as error:
        raise ManifestError(f"{path}: {error.strerror or error}") from None
    try:
        for number, (line, value) in enumerate(_documents(text), start=1):
            yield from _objects(value, f"{path}: document {number} (line {line})")
    except YamlError as error:
        raise ManifestError(f"{path}: {error}") from None


def _documents(text: bytes) -> Iterator[tuple[int, Any]]:
    """The documents with their first lines. JSON is YAML, but its own decoder is fifty times faster."""
    if text.lstrip()[:1] == b"{":
        try:
            value = msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass  # not JSON as a whole: the YAML reader names the place, or accepts it
        else:
            yield 1, value
            return
    yield from documents(text)


def _objects(value: Any, place: str) -> Iterator[Manifest]:
    if not isinstance(value, dict):
        raise ManifestError(
            f"{place}: expected an object with apiVersion and kind, found {type(value).__name__}"
        )
    kind, items = value.get("kind"), value.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for index, item in enumerate(items):
            yield from _objects(item, f"{place}, items[{index}]")
        return
    for field in ("apiVersion", "kind"):
        if not isinstance(value.get(field), str) or not value[field]:
            raise ManifestError(f"{place}: {field} not set")
    yield Manifest(value, place)
