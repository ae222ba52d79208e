"""Reading a request's body without trusting what it says of itself.

The server may have limits of its own; these hold whatever the blueprint is mounted on, for bodies of announced length and
for chunked ones.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Protocol

from flask import Request

_STEP = 1 << 20
_DROP_AT_MOST = 1 << 28


class Stream(Protocol):
    """Bytes to come."""

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        ...


class RefusedError(Exception):
    """The request is refused before its body is looked into: with this status, for this reason."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


def read_json(request: Request, limit: int) -> bytes:
    """The body of a JSON request. A request that does not name its type is taken for one.

    Raises:
        RefusedError: it is of another type, or larger than ``limit`` bytes.
    """
    if request.mimetype and not request.is_json:
        expected = "send application/json"
        raise _unsupported(f"the content type {request.mimetype!r} is not understood: {expected}")
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding != "identity":
        raise _unsupported(f"the content encoding {encoding!r} is not understood: send the body as it is")
    return _read(request.stream, request.content_length, limit)


def _unsupported(message: str) -> RefusedError:
    return RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)


def _read(stream: Stream, announced: int | None, limit: int) -> bytes:
    if announced is not None and announced > limit:
        raise _too_large(stream, f"{announced} bytes", limit)
    parts: list[bytes] = []
    room = limit + 1
    while room and (data := stream.read(min(announced or _STEP, room))):
        parts.append(data)
        room -= len(data)
    if not room:
        raise _too_large(stream, f"more than {limit} bytes", limit)
    return b"".join(parts)


def _too_large(stream: Stream, size: str, limit: int) -> RefusedError:
    """The refusal, after the rest was dropped, within bounds: most clients read no answer while they are sending."""
    dropped = 0
    while dropped < _DROP_AT_MOST and (data := stream.read(_STEP)):
        dropped += len(data)
    message = f"the request body is too large: {size}, at most {limit} are accepted"
    return RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
