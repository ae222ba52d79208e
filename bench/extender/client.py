"""A client that keeps its connections and does little else, so that what is measured is the server.

It writes a request in one piece and reads the answer by its ``Content-Length``. Times are from the first byte written to the last one read.
"""

from __future__ import annotations

import re
import selectors
import socket
import ssl
import time
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

_END_OF_HEAD = b"\r\n\r\n"
_LENGTH = re.compile(rb"\r\ncontent-length: (\d+)", re.IGNORECASE)
_OK = b"HTTP/1.1 200 "
_PIECE = 1 << 16
_PATIENCE_SECONDS = 60.0


class Connection:
    """One connection. ``certificate``: the client's certificate and key, for https."""

    def __init__(self, url: str, certificate: Path | None = None) -> None:
        address = urlsplit(url)
        self._host = address.netloc
        self._sock = socket.create_connection((address.hostname, address.port), _PATIENCE_SECONDS)
        self._sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if certificate is not None:
            self._sock = _tls(certificate).wrap_socket(self._sock)

    def request(self, path: str, body: bytes) -> bytes:
        """The bytes of a request, to be sent any number of times."""
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body

    def milliseconds(self, request: bytes) -> float:
        """How long one request takes."""
        started = time.perf_counter()
        self.send(request)
        self.receive()
        return (time.perf_counter() - started) * 1e3

    def send(self, request: bytes) -> None:
        """Send it, without waiting for the answer."""
        self._sock.sendall(request)

    def receive(self) -> int:
        """The size of the answer in bytes. Raises ``RuntimeError`` for one that is not 200."""
        received = b""
        while _END_OF_HEAD not in received:
            received += self._some()
        head, _, rest = received.partition(_END_OF_HEAD)
        length = _LENGTH.search(head)
        if not head.startswith(_OK) or length is None:
            raise RuntimeError(f"the webhook answered {received[:500]!r}")
        size, there = int(length[1]), len(rest)
        while there < size:
            there += len(self._some())
        return size

    def fileno(self) -> int:
        """For selectors."""
        return self._sock.fileno()

    def close(self) -> None:
        """Close it."""
        self._sock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _some(self) -> bytes:
        data = self._sock.recv(_PIECE)
        if not data:
            raise RuntimeError("the webhook has closed the connection")
        return data


def concurrently(connections: list[Connection], request: bytes, count: int) -> list[float]:
    """Send a request so many times over all connections, on each the next one when the last is answered; milliseconds of each."""
    started: dict[Connection, float] = {}
    times: list[float] = []
    with selectors.DefaultSelector() as poller:
        for connection in connections:
            poller.register(connection, selectors.EVENT_READ, connection)
            started[connection] = time.perf_counter()
            connection.send(request)
        sent = len(connections)
        while len(times) < sent:
            for key, _ in poller.select(_PATIENCE_SECONDS):
                connection = key.data
                connection.receive()
                now = time.perf_counter()
                times.append((now - started[connection]) * 1e3)
                if sent < count:
                    sent, started[connection] = sent + 1, now
                    connection.send(request)
    return times


def _tls(certificate: Path) -> ssl.SSLContext:
    """The server's own certificate is made for one run; nobody could vouch for it."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.load_cert_chain(certificate)
    return context
