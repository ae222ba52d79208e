"""How entries look to a client: plain objects, tables for kubectl, or metadata only.

A plain view splices the stored bytes; nothing is encoded again. The stored form begins with kind and apiVersion, which list items leave out,
as they do in a real server's lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Protocol

import msgspec

from scheduler.sandbox.reads.tables import columns, row
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.store import Entry

Object = dict[str, Any]
Columns = list[Object]
encode = msgspec.json.Encoder().encode
_META_VERSION = "meta.k8s.io/v1"


class View(Protocol):
    """Renders entries of one resource; every method returns JSON bytes, events end with a newline."""

    def object(self, entry: Entry) -> bytes:
        """One object."""
        ...

    def list(self, entries: Iterable[Entry], meta: Object) -> bytes:
        """A list with that ListMeta."""
        ...

    def event(self, kind: str, entry: Entry) -> bytes:
        """A watch event."""
        ...

    def bookmark(self, version: int, *, initial_end: bool = False) -> bytes:
        """A BOOKMARK event; `initial_end` marks the end of a streamed list."""
        ...

    def error(self, status: Object) -> bytes:
        """An ERROR event."""
        ...


def _error(status: Object) -> bytes:
    return encode({"type": "ERROR", "object": status}) + b"\n"


def _bookmark_meta(version: int, initial_end: bool) -> Object:
    meta: Object = {"resourceVersion": str(version), "creationTimestamp": None}
    if initial_end:
        meta["annotations"] = {"k8s.io/initial-events-end": "true"}
    return meta


def _partial(metadata: Object) -> Object:
    return {"kind": "PartialObjectMetadata", "apiVersion": _META_VERSION, "metadata": metadata}


class PlainView:
    """Objects as stored. `convert` is for a resource whose stored form is another version's (events.k8s.io)."""

    def __init__(self, resource: Resource, convert: Callable[[Object], Object] | None = None) -> None:
        self._resource = resource
        self._convert = convert
        self._prefix = len(encode({"kind": resource.kind, "apiVersion": resource.api_version})) - 1

    def object(self, entry: Entry) -> bytes:
        """The stored bytes."""
        return encode(self._convert(entry.obj)) if self._convert else entry.raw

    def list(self, entries: Iterable[Entry], meta: Object) -> bytes:
        """The items without kind and apiVersion, spliced."""
        cut = self._prefix + 1
        items = b",".join([b"{" + self.object(entry)[cut:] for entry in entries])
        head = encode(
            {"kind": f"{self._resource.kind}List", "apiVersion": self._resource.api_version, "metadata": meta}
        )
        return head[:-1] + b',"items":[' + items + b"]}"

    def event(self, kind: str, entry: Entry) -> bytes:
        """The stored bytes in an envelope."""
        return b'{"type":"%b","object":%b}\n' % (kind.encode(), self.object(entry))

    def bookmark(self, version: int, *, initial_end: bool = False) -> bytes:
        """An object of the resource's kind with nothing but a version."""
        meta = _bookmark_meta(version, initial_end)
        obj = {"kind": self._resource.kind, "apiVersion": self._resource.api_version, "metadata": meta}
        return encode({"type": "BOOKMARK", "object": obj}) + b"\n"

    error = staticmethod(_error)


class MetadataView:
    """PartialObjectMetadata: what metadata informers and garbage collectors ask for."""

    def object(self, entry: Entry) -> bytes:
        """Metadata only."""
        return encode(_partial(entry.obj["metadata"]))

    def list(self, entries: Iterable[Entry], meta: Object) -> bytes:
        """A PartialObjectMetadataList."""
        items = [_partial(entry.obj["metadata"]) for entry in entries]
        return encode(
            {
                "kind": "PartialObjectMetadataList",
                "apiVersion": _META_VERSION,
                "metadata": meta,
                "items": items,
            }
        )

    def event(self, kind: str, entry: Entry) -> bytes:
        """An event of a PartialObjectMetadata."""
        return encode({"type": kind, "object": _partial(entry.obj["metadata"])}) + b"\n"

    def bookmark(self, version: int, *, initial_end: bool = False) -> bytes:
        """A bookmark of the same kind."""
        obj = _partial(_bookmark_meta(version, initial_end))
        return encode({"type": "BOOKMARK", "object": obj}) + b"\n"

    error = staticmethod(_error)


class TableView:
    """Tables rendered by the server, as kubectl prints them. `include` is `Metadata`, `Object` or `None`.

    Only the first event of a watch carries the column definitions, as upstream does.
    """

    def __init__(self, resource: Resource, include: str, now: Callable[[], datetime]) -> None:
        self._resource = resource
        self._include = include
        self._now = now
        self._columns: Columns | None = columns(resource)

    def object(self, entry: Entry) -> bytes:
        """A table of one row."""
        return encode(self._table([entry], {"resourceVersion": str(entry.version)}, columns(self._resource)))

    def list(self, entries: Iterable[Entry], meta: Object) -> bytes:
        """A table of all rows."""
        return encode(self._table(entries, meta, columns(self._resource)))

    def event(self, kind: str, entry: Entry) -> bytes:
        """A table of one row in an envelope."""
        definitions, self._columns = self._columns, None
        table = self._table([entry], {"resourceVersion": str(entry.version)}, definitions)
        return encode({"type": kind, "object": table}) + b"\n"

    def bookmark(self, version: int, *, initial_end: bool = False) -> bytes:
        """A table without rows, or with the marker row at the end of a streamed list."""
        definitions, self._columns = self._columns, None
        table = self._table((), {"resourceVersion": str(version)}, definitions)
        if initial_end:
            marker = _partial(_bookmark_meta(version, initial_end))
            table["rows"] = [{"cells": [""] * len(columns(self._resource)), "object": marker}]
        return encode({"type": "BOOKMARK", "object": table}) + b"\n"

    def _table(self, entries: Iterable[Entry], meta: Object, definitions: Columns | None) -> Object:
        now = self._now()
        rows = [
            {"cells": row(self._resource, entry.obj, now), **self._row_object(entry)} for entry in entries
        ]
        return {
            "kind": "Table",
            "apiVersion": _META_VERSION,
            "metadata": meta,
            "columnDefinitions": definitions,
            "rows": rows,
        }

    def _row_object(self, entry: Entry) -> Object:
        if self._include == "None":
            return {}
        if self._include == "Object":
            return {"object": entry.obj}
        return {"object": _partial(entry.obj["metadata"])}

    error = staticmethod(_error)
