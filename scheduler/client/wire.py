"""The envelopes of lists and watches, decoded so far that the objects in them stay raw bytes."""

import msgspec

from scheduler.client.errors import MalformedAnswerError


class _ListMeta(msgspec.Struct, rename="camel"):
    resource_version: str | None = None
    continue_: str | None = msgspec.field(default=None, name="continue")


class _List(msgspec.Struct):
    metadata: _ListMeta | None = None
    items: list[msgspec.Raw] | None = None


class _Meta(msgspec.Struct, rename="camel"):
    name: str | None = None
    namespace: str | None = None
    resource_version: str | None = None


class _Object(msgspec.Struct):
    metadata: _Meta | None = None


class _Event(msgspec.Struct):
    type: str
    object: msgspec.Raw


class Page(msgspec.Struct, frozen=True):
    """One page of a list; ``items`` are views into the body. ``continue_``: token of the next page, or ""."""

    resource_version: str
    continue_: str
    items: list[msgspec.Raw]


class WatchEvent(msgspec.Struct, frozen=True):
    """``type``: ADDED, MODIFIED, DELETED, BOOKMARK or ERROR; ``object``: a view into the line."""

    type: str
    object: msgspec.Raw


class Identity(msgspec.Struct, frozen=True):
    """What an object is called and which version of it this is; fields are "" when absent."""

    namespace: str
    name: str
    resource_version: str

    @property
    def key(self) -> str:
        """``namespace/name``, or ``name`` for a cluster-wide object."""
        return object_key(self.namespace, self.name)


_lists = msgspec.json.Decoder(_List)
_objects = msgspec.json.Decoder(_Object)
_events = msgspec.json.Decoder(_Event)


def object_key(namespace: str, name: str) -> str:
    """The key of an object in an informer's store: ``namespace/name``, or ``name`` for a cluster-wide object."""
    return f"{namespace}/{name}" if namespace else name


def parse_page(body: bytes) -> Page:
    """One page of a list. Raises MalformedAnswerError."""
    try:
        page = _lists.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAnswerError(f"the list does not parse: {error}") from None
    meta = page.metadata or _ListMeta()
    return Page(meta.resource_version or "", meta.continue_ or "", page.items or [])


def parse_event(line: bytes) -> WatchEvent:
    """One line of a watch. Raises MalformedAnswerError."""
    try:
        event = _events.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAnswerError(f"the event of the watch does not parse: {error}") from None
    return WatchEvent(event.type, event.object)


def identify(raw: bytes | msgspec.Raw) -> Identity:
    """Name and version of an object that may be of the wrong shape elsewhere. Raises MalformedAnswerError."""
    try:
        meta = _objects.decode(raw).metadata or _Meta()
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedAnswerError(f"the object has no readable metadata: {error}") from None
    return Identity(meta.namespace or "", meta.name or "", meta.resource_version or "")
