"""Links: kept-alive connections for short requests: a binding, an event, a status, a lease.

urllib3 spends about 0.2 ms on such a request, most of it on choices that are the same every time; with two requests for each pod that is
more than deciding where the pod goes. So here it only opens the connections, which it does with all that it knows of addresses, TLS and
certificates. The request is written in one piece, and ``http.client`` reads the answer::

    idle ──taken──> in use ──answer read to its end──> idle
     │                │
     │                └──failed, or the server wants to close──> closed
     └──the server has closed it meanwhile──> closed; the next one is taken

Nothing is sent twice here: whether a lost answer may be asked for again is the caller's business.
"""

from __future__ import annotations

import weakref
from collections import deque
from collections.abc import Mapping
from http.client import HTTPResponse
from typing import NamedTuple
from urllib.parse import urlsplit

from urllib3 import HTTPConnectionPool
from urllib3.connection import HTTPConnection

from scheduler.client.errors import TransportError
from scheduler.client.transport import BODY_LIMIT, CONNECT_SECONDS, PIECE


class Answer(NamedTuple):
    """An answer, read to its end. ``retry_after``: that header, ``""`` when there is none."""

    status: int
    retry_after: str
    body: bytes


class Links:
    """The connections to one server. Thread-safe; each is used by one thread at a time.

    Args:
        url: the server's, as ``Access.host``; a path in it comes before every target.
        pool: makes the connections; what it keeps itself is left alone.
    """

    def __init__(self, url: str, pool: HTTPConnectionPool) -> None:
        parts = urlsplit(url)
        self._host = parts.netloc
        self._root = parts.path
        self._pool = pool
        self._idle: deque[HTTPConnection] = deque()
        weakref.finalize(self, _close, self._idle)

    def exchange(
        self, method: str, target: str, headers: Mapping[str, str], payload: bytes | None, timeout: float
    ) -> Answer:
        """Send a request and read the answer.

        Args:
            target: path and query, quoted.
            timeout: seconds of silence after which the request has failed.

        Raises what ``transport_errors`` knows when there is no complete answer, TransportError when it is too large.
        """
        request = self._written(method, target, headers, payload)
        connection = self._take(timeout)
        try:
            answer, keep = _exchanged(connection, request, method, timeout)
        except BaseException:
            connection.close()
            raise
        if keep:
            self._idle.append(connection)
        else:
            connection.close()
        return answer

    def close(self) -> None:
        """Drop the idle connections."""
        _close(self._idle)

    def _written(self, method: str, target: str, headers: Mapping[str, str], payload: bytes | None) -> bytes:
        lines = [
            f"{method} {self._root}{target} HTTP/1.1",
            f"Host: {self._host}",
            "Accept-Encoding: identity",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        if payload is not None:
            lines.append(f"Content-Length: {len(payload)}")
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a line of the request contains a line break")
        return b"".join(("\r\n".join(lines).encode(), b"\r\n\r\n", payload or b""))

    def _take(self, timeout: float) -> HTTPConnection:
        """A connection, the one used last that is alive, else a new one."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._open(timeout)
            if connection.is_connected:
                return connection
            connection.close()

    def _open(self, timeout: float) -> HTTPConnection:
        # What a pool is subclassed for: it knows the class of connections and everything that TLS needs.
        connection: HTTPConnection = self._pool._new_conn()  # type: ignore[assignment]  # noqa: SLF001
        connection.timeout = min(CONNECT_SECONDS, timeout)
        connection.connect()
        return connection


def _close(idle: deque[HTTPConnection]) -> None:
    while idle:
        idle.pop().close()


def _exchanged(
    connection: HTTPConnection, request: bytes, method: str, timeout: float
) -> tuple[Answer, bool]:
    """The answer, and whether the connection may be used again."""
    link = connection.sock
    link.settimeout(timeout)
    link.sendall(request)
    answer = HTTPResponse(link, method=method)
    try:
        answer.begin()
        body = _body(answer)
        return Answer(answer.status, answer.headers.get("Retry-After", ""), body), not answer.will_close
    finally:
        answer.close()


def _body(answer: HTTPResponse) -> bytes:
    """The whole body; in one piece when its length is announced, for only then is a cut-off one noticed."""
    if answer.length is not None and answer.length <= BODY_LIMIT:
        return answer.read()
    pieces: list[bytes] = []
    total = answer.length or 0
    while total <= BODY_LIMIT and (piece := answer.read(PIECE)):
        pieces.append(piece)
        total += len(piece)
    if total > BODY_LIMIT:
        raise TransportError(f"the answer exceeds {BODY_LIMIT} bytes")
    return b"".join(pieces)
