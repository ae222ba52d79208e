"""Content negotiation: the first acceptable alternative of the Accept header decides between objects, tables and metadata."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from scheduler.sandbox import errors
from scheduler.sandbox.events import from_core
from scheduler.sandbox.reads.views import MetadataView, PlainView, TableView, View
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.wire.http import Request

_JSON = frozenset({"application/json", "application/*", "*/*", ""})


def alternatives(accept: str) -> list[tuple[str, dict[str, str]]]:
    """The media types of an Accept header with their parameters, in order."""
    found = []
    for item in accept.split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        pairs = (parameter.partition("=") for parameter in parameters)
        found.append((name.lower(), {key: value for key, _, value in pairs}))
    return found


def wants_yaml(request: Request) -> bool:
    """Whether YAML comes before JSON in what the client accepts."""
    for name, _ in alternatives(request.headers.get("accept", "")):
        if name in ("application/yaml", "text/yaml"):
            return True
        if name in _JSON:
            return False
    return False


def view_for(resource: Resource, request: Request, now: Callable[[], datetime]) -> View:
    """The view that the client asks for. Raises 406."""
    for name, parameters in alternatives(request.headers.get("accept", "")):
        form = parameters.get("as", "")
        if name in ("application/yaml", "text/yaml") or (name in _JSON and not form):
            return PlainView(resource, from_core if resource.group == "events.k8s.io" else None)
        if name in _JSON and form == "Table":
            return TableView(resource, request.query.get("includeObject", "Metadata"), now)
        if name in _JSON and form in ("PartialObjectMetadata", "PartialObjectMetadataList"):
            return MetadataView()
    raise errors.not_acceptable("application/json, application/yaml")
