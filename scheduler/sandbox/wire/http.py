"""A small HTTP/1.1 server on asyncio: keep-alive, chunked bodies in and out, size limits, optional TLS.

    head ──► body ──► handler(request) ──► Response          written whole, the connection stays
      │        │                      └──► Stream             chunked until ended: watches
      │        └── larger than the limit: 413, close
      └── not HTTP: 400, close

Why not a framework: a scheduler's benchmark needs thousands of small requests per second from one thread and one lock, and fault injection
needs the socket (to drop it before or after a reply). One thread runs the loop; handlers are plain functions that never wait.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import parse_qsl, unquote

import msgspec

from scheduler.sandbox import errors

MAX_HEAD = 64 * 1024
MAX_BODY = 3 * 1024 * 1024
"""Bytes of a request's body, as a kube-apiserver limits them."""
MAX_BACKLOG = 256 * 1024 * 1024
"""Bytes that may wait for a slow reader of a watch before it loses the connection."""
_LINGER_SECONDS = 2.0
_PHRASES = {status.value: status.phrase for status in HTTPStatus} | {
    413: "Request Entity Too Large",  # Go's words: Python 3.13 renamed both
    422: "Unprocessable Entity",
}


@dataclass(slots=True)
class Request:
    """One request; header names are lower case, `query` holds the last value of each parameter."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes = b""

    def asks(self, parameter: str) -> bool:
        """Whether a boolean parameter such as `watch` is set."""
        return self.query.get(parameter) in ("1", "true")


@dataclass(slots=True)
class Response:
    """A whole reply. `delay` seconds pass before it is written; `drop` closes the connection instead of writing it."""

    status: int = 200
    body: bytes = b""
    content_type: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False


class Stream:
    """A chunked reply that stays open. All methods belong to the loop's thread; `on_close` runs once, however it ends.

    What is sent before the connection is there goes out right behind the head: a watch is subscribed before its client hears of it.
    """

    def __init__(self, content_type: str = "application/json") -> None:
        self.content_type = content_type
        self.on_close: Callable[[], None] = lambda: None
        self._connection: Connection | None = None
        self._early: list[bytes] | None = []
        self._over = False

    def open_on(self, connection: Connection) -> None:
        """Take over the connection: head, and what was sent so far."""
        early, self._early = self._early or [], None
        self._connection = connection
        head = f"HTTP/1.1 200 OK\r\nContent-Type: {self.content_type}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.transport.write(head.encode() + b"".join(map(_chunk, early)))
        if self._over:
            self._connection = None
            connection.transport.write(_LAST_CHUNK)
            connection.stream_ended()

    def send(self, data: bytes) -> None:
        """Write one chunk; a reader that fell too far behind loses the connection."""
        if not data:
            return
        if self._early is not None:
            self._early.append(data)
        elif self._connection is not None:
            transport = self._connection.transport
            if transport.get_write_buffer_size() > MAX_BACKLOG:
                self.abort()
            else:
                transport.write(_chunk(data))

    def end(self) -> None:
        """End the reply properly; the connection takes the next request."""
        connection = self._release()
        if connection is not None:
            connection.transport.write(_LAST_CHUNK)
            connection.stream_ended()

    def abort(self) -> None:
        """Cut the connection in the middle of the reply."""
        connection = self._release()
        if connection is not None:
            connection.transport.abort()

    def closed(self) -> None:
        """The peer went away."""
        self._release()

    def _release(self) -> Connection | None:
        connection, self._connection = self._connection, None
        if not self._over:
            self._over = True
            self.on_close()
        return connection


_LAST_CHUNK = b"0\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


Handler = Callable[[Request], "Response | Stream"]


class ProtocolError(Exception):
    """Not HTTP, or too large; `status` is the reply before the connection closes."""

    def __init__(self, status: int) -> None:
        limit = f": limit is {MAX_BODY}" if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE else ""
        super().__init__(_PHRASES[status] + limit)
        self.status = status


class Connection(asyncio.Protocol):
    """One client connection: collects bytes, answers requests one after the other."""

    transport: asyncio.Transport

    def __init__(self, handler: Handler, connections: set[Connection]) -> None:
        self._handler = handler
        self._connections = connections
        self._buffer = bytearray()
        self._request: Request | None = None
        self._stream: Stream | None = None
        self._busy = False
        self._closing = False
        self._discarding = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)  # noqa: S101 - narrows the type; the loop passes nothing else
        self.transport = transport
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        self._connections.discard(self)
        if self._stream is not None:
            self._stream.closed()

    def data_received(self, data: bytes) -> None:
        if self._discarding:
            return
        self._buffer += data
        if len(self._buffer) > MAX_BODY + 2 * MAX_HEAD and self._busy:
            self.transport.abort()
            return
        self._advance()

    def stream_ended(self) -> None:
        """The stream is finished: go on with the next request."""
        self._stream = None
        self._done()

    def _advance(self) -> None:
        try:
            while not self._busy and not self._closing:
                request = self._next_request()
                if request is None:
                    return
                self._busy = True
                self._answer(request)
        except ProtocolError as error:
            self._refuse(error)

    def _refuse(self, error: ProtocolError) -> None:
        """Answer, then let the client finish sending: closing with unread bytes would destroy the answer on its way."""
        status = errors.StatusError(error.status, _PHRASES[error.status].replace(" ", ""), str(error)).body()
        self._write(Response(error.status, msgspec.json.encode(status), headers={"Connection": "close"}))
        self._closing = self._discarding = True
        self._buffer.clear()
        asyncio.get_running_loop().call_later(_LINGER_SECONDS, self.transport.close)

    def _answer(self, request: Request) -> None:
        if request.headers.get("connection", "").lower() == "close":
            self._closing = True
        reply = self._handler(request)
        if isinstance(reply, Stream):
            self._stream = reply
            reply.open_on(self)
        elif reply.delay:
            asyncio.get_running_loop().call_later(reply.delay, self._finish, reply)
        else:
            self._finish(reply)

    def _finish(self, reply: Response) -> None:
        if reply.drop:
            self.transport.abort()
        elif not self.transport.is_closing():
            self._write(reply)
            self._done()

    def _done(self) -> None:
        self._busy = False
        if self._closing:
            self._close()
        elif self._buffer:
            asyncio.get_running_loop().call_soon(self._advance)

    def _close(self) -> None:
        self._closing = True
        self.transport.close()

    def _write(self, reply: Response) -> None:
        extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
        head = (
            f"HTTP/1.1 {reply.status} {_PHRASES.get(reply.status, '')}\r\nContent-Type: {reply.content_type}\r\n"
            f"Content-Length: {len(reply.body)}\r\n{extra}\r\n"
        )
        self.transport.write(head.encode() + reply.body)

    def _next_request(self) -> Request | None:
        if self._request is None:
            end = self._buffer.find(b"\r\n\r\n", 0, MAX_HEAD)
            if end < 0:
                if len(self._buffer) >= MAX_HEAD:
                    raise ProtocolError(431)
                return None
            self._request = parse_head(bytes(self._buffer[:end]))
            del self._buffer[: end + 4]
            if self._request.headers.get("expect", "").lower() == "100-continue":
                self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = self._body(self._request.headers)
        if body is None:
            return None
        request, self._request = self._request, None
        request.body = body
        return request

    def _body(self, headers: dict[str, str]) -> bytes | None:
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return self._chunked_body()
        text = headers.get("content-length", "0")
        if not text.isascii() or not text.isdigit():
            raise ProtocolError(400)
        length = int(text[:12])
        if length > MAX_BODY:
            raise ProtocolError(413)
        if len(self._buffer) < length:
            return None
        body = bytes(self._buffer[:length])
        del self._buffer[:length]
        return body

    def _chunked_body(self) -> bytes | None:
        parts: list[bytes] = []
        at = total = 0
        while True:
            end = self._buffer.find(b"\r\n", at)
            if end < 0:
                break
            try:
                size = int(bytes(self._buffer[at:end]).partition(b";")[0], 16)
            except ValueError:
                raise ProtocolError(400) from None
            total += size
            if size < 0 or total > MAX_BODY:
                raise ProtocolError(413)
            at = end + 2 + size + 2
            if len(self._buffer) < at:
                break
            if size == 0:
                del self._buffer[:at]
                return b"".join(parts)
            parts.append(bytes(self._buffer[end + 2 : at - 2]))
        return None


def parse_head(head: bytes) -> Request:
    """Request line and headers. Raises `ProtocolError`."""
    lines = head.decode("latin-1").split("\r\n")
    words = lines[0].split(" ")
    if len(words) != 3 or not words[2].startswith("HTTP/1."):
        raise ProtocolError(400)
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or name != name.strip():
            raise ProtocolError(400)
        headers[name.lower()] = value.strip()
    if words[2] == "HTTP/1.0":
        headers["connection"] = "close"
    path, _, query = words[1].partition("?")
    parameters = dict(parse_qsl(query, keep_blank_values=True)) if query else {}
    return Request(words[0], unquote(path) if "%" in path else path, parameters, headers)
