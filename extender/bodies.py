"""Reading a request's body without trusting what it says of itself.

The server may have limits of its own; these hold whatever the blueprint is mounted on, for bodies of announced length and
for chunked ones. A body in gzip counts by what it inflates to, and is inflated no further than the limit.
"""

from __future__ import annotations

import io
import mmap
import zlib
from http import HTTPStatus
from typing import Protocol

from flask import Request

_STEP = 1 << 20
_PIECE = 1 << 18
_LARGE = 1 << 22
_DROP_AT_MOST = 1 << 28
_GZIP = zlib.MAX_WBITS | 16


Body = bytes | memoryview
"""A request's body, not to be written to."""


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


def read_json(request: Request, limit: int) -> Body:
    """The body of a JSON request. A request that does not name its type is taken for one.

    Raises:
        RefusedError: it is of another type, or larger than ``limit`` bytes.
    """
    if request.mimetype and not request.is_json:
        expected = "send application/json"
        raise _unsupported(f"the content type {request.mimetype!r} is not understood: {expected}")
    encoding = request.headers.get("Content-Encoding", "identity").strip().lower()
    if encoding == "gzip":
        return _read(Inflated(request.stream), None, limit, sent=request.stream)
    if encoding != "identity":
        raise _unsupported(
            f"the content encoding {encoding!r} is not understood: send gzip, or the body as it is"
        )
    return _read(request.stream, request.content_length, limit, sent=request.stream)


class Inflated:
    """A gzip stream of one member, inflated piece by piece, so that a small body cannot become a large one at once.

    ``read`` raises RefusedError for what is no gzip, for a stream that breaks off, and for bytes behind its end.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._gzip = zlib.decompressobj(_GZIP)

    def read(self, size: int = -1, /) -> bytes:
        """At most ``size`` bytes; none at the end."""
        wanted = _STEP if size < 0 else size
        while wanted and not self._gzip.eof:
            packed = self._gzip.unconsumed_tail or self._stream.read(_STEP)
            if not packed:
                raise _broken("it breaks off")
            try:
                data = self._gzip.decompress(packed, wanted)
            except zlib.error as error:
                raise _broken(str(error)) from error
            if data:
                return data
        if wanted and (self._gzip.unused_data or self._stream.read(1)):
            raise _broken("there is more behind its end")
        return b""


def _broken(why: str) -> RefusedError:
    return RefusedError(HTTPStatus.BAD_REQUEST, f"the request body is no gzip stream: {why}")


def _unsupported(message: str) -> RefusedError:
    return RefusedError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, message)


def _read(stream: Stream, announced: int | None, limit: int, *, sent: Stream) -> Body:
    """The body; ``sent`` is what is on the wire, ``stream`` what it means."""
    if announced is not None and announced > limit:
        raise _too_large(sent, f"{announced} bytes", limit)
    body: io.BytesIO | _Mapped = io.BytesIO()
    if announced is not None and announced > _LARGE:
        body = _Mapped(announced)
    room = limit + 1
    # Below here each layer copies what it hands on, so it is taken piece by piece.
    while room and (data := stream.read(min(_PIECE, room))):
        body.write(data)
        room -= len(data)
    if not room:
        raise _too_large(sent, f"more than {limit} bytes", limit)
    return body.getvalue()


class _Mapped:
    """A large body, in a mapping of its own, whose pages come as it is written and go back to the system with it.

    A piece of the heap that grows to such a size stays with the process, one for each thread that ever served such a request.
    """

    def __init__(self, size: int) -> None:
        self._body = mmap.mmap(-1, size)

    def write(self, data: bytes) -> None:
        """Append; at most as much as was announced comes."""
        self._body.write(data)

    def getvalue(self) -> memoryview:
        """What was written."""
        return memoryview(self._body)[: self._body.tell()].toreadonly()


def _too_large(stream: Stream, size: str, limit: int) -> RefusedError:
    """The refusal, after the rest was dropped, within bounds: most clients read no answer while they are sending."""
    dropped = 0
    while dropped < _DROP_AT_MOST and (data := stream.read(_STEP)):
        dropped += len(data)
    message = f"the request body is too large: {size}, at most {limit} are accepted"
    return RefusedError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, message)
