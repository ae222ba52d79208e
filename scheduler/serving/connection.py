"""A client's connection: its request head arrives without costing a thread, its body costs one for a limited time.

gunicorn reads everything in a thread that waits for the client. Here what has arrived of handshake and head is taken, and nobody waits for
the rest; a handshake, which computes, is a thread's work, a head the loop's::

    readable ── take what is there ──► head complete ──► answered
       ▲                 │ not complete
       └──── poller ◄────┘

So a client that trickles costs nobody else anything before its head is complete. A body is read while the application waits for it, in
a thread of its own pool (see ``worker``), and has to keep to a minimum rate.
"""

import contextlib
import re
import socket
import time
from dataclasses import dataclass
from typing import Any

from gunicorn import util
from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.http.message import Request
from gunicorn.http.parser import RequestParser
from gunicorn.workers.gthread import TConn

from scheduler.serving.tls.sockets import TLSSocket

_LAST_WORDS_SECONDS = 0.5
_LAST_WORDS_RATE = 1 << 24
_LAST_WORDS_BYTES = 1 << 28
_PIECE = 8192
_LARGE_PIECE = 1 << 16
_END_OF_HEAD = b"\r\n\r\n"
_ANNOUNCES_BODY = re.compile(rb"\r\n(?:content-length:[ \t]*0*[1-9]|transfer-encoding:)", re.IGNORECASE)
_SHOWS_CREDENTIALS = re.compile(rb"\r\nauthorization:", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take: sizes in bytes, times in seconds, rates in bytes per second.

    ``threads``: for requests with a body; ``review_threads``: for those about which the API server may have to be asked; ``spare_threads``:
    for everything else, so that a health check need wait neither for bodies nor for the API server.
    ``head``: request line and headers together. ``idle``: without a byte of a request; ``stall``: without a byte sent or received while
    a thread waits for it; ``request``: to receive a whole request. A body may take ``body_start`` and what its size takes at ``body_rate``.
    """

    threads: int = 16
    review_threads: int = 8
    spare_threads: int = 4
    connections: int = 1000
    head: int = 1 << 16
    header_line: int = 8190
    header_fields: int = 100
    idle: float = 90.0
    stall: float = 10.0
    request: float = 60.0
    body_start: float = 5.0
    body_rate: float = float(1 << 16)


class _PatientSource:
    """The socket that the request parser reads, until the request's time is over."""

    def __init__(self, sock: socket.socket | TLSSocket, limits: Limits) -> None:
        self._sock = sock
        self._limits = limits
        self._deadline = self._begun = 0.0
        self._received = 0

    def begin(self, deadline: float) -> None:
        """What follows belongs to another request."""
        self._deadline = deadline
        self._begun = time.monotonic()
        self._received = 0

    def recv(self, size: int) -> bytes:
        allowed = self._limits.body_start + self._received / self._limits.body_rate
        if time.monotonic() > min(self._deadline, self._begun + allowed):
            raise TimeoutError("the request took too long to arrive")
        data = self._sock.recv(size)
        self._received += len(data)
        return data

    def gettimeout(self) -> float | None:
        return self._sock.gettimeout()

    def settimeout(self, seconds: float | None) -> None:
        self._sock.settimeout(seconds)


class _Request(Request):  # type: ignore[misc]  # gunicorn is untyped
    """A request whose answer ends the connection when it comes before the body has been read: nobody waits for the rest."""

    def should_close(self) -> bool:
        return bool(super().should_close()) or not self._body_is_read()

    def _body_is_read(self) -> bool:
        reader = self.body.reader
        return getattr(reader, "length", 0) == 0 and getattr(reader, "parser", None) is None


class _Parser(RequestParser):  # type: ignore[misc]  # gunicorn is untyped
    mesg_class = _Request


class Connection(TConn):  # type: ignore[misc]  # gunicorn is untyped
    """A client's connection, used by one thread at a time."""

    sock: Any
    parser: Any
    closed = False
    _head = b""
    _deadline: float | None = None
    _shaken = False

    def receive(self) -> bool:
        """Take what has arrived of the next request's head, without waiting for more; whether the head is complete.

        Raises:
            OSError: the client has gone, took too long or cannot shake hands.
            LimitRequestHeaders: the head is too large.
        """
        if self._deadline is None:
            self._deadline = time.monotonic() + self.cfg.limits.request
            self._head = self.parser.unreader.take_buffered() if self.parser else b""
        self.sock.setblocking(False)
        try:
            self._shake_hands()
            while _END_OF_HEAD not in self._head:
                self._head += self._piece(self._deadline)
        except BlockingIOError:
            return False
        return True

    @property
    def has_shaken_hands(self) -> bool:
        """Whether there is nothing to agree on any more, or never was: then taking what has arrived takes no time."""
        return self.cfg.tls is None or self._shaken

    def _shake_hands(self) -> None:
        if self.has_shaken_hands:
            return
        if not isinstance(self.sock, TLSSocket):
            self.sock = self.cfg.tls.wrap(self.sock)
        self.sock.do_handshake()
        self._shaken = True

    def _piece(self, deadline: float) -> bytes:
        if time.monotonic() > deadline:
            raise TimeoutError("the request took too long to arrive")
        if len(self._head) > self.cfg.limits.head:
            raise LimitRequestHeaders("limit request headers total size")
        data: bytes = self.sock.recv(_PIECE)
        if not data:
            raise ConnectionResetError("the client has closed the connection")
        return data

    @property
    def announces_body(self) -> bool:
        """Whether the request, whose head is complete, has a body."""
        return _ANNOUNCES_BODY.search(self._head, 0, self._head.index(_END_OF_HEAD)) is not None

    @property
    def may_need_review(self) -> bool:
        """Whether the API server may have to be asked who the client is, or whether it may do this."""
        _, _, rest = self._head.partition(b" ")
        path = rest.partition(b" ")[0].partition(b"?")[0].decode("latin-1")
        if not self.cfg.is_open(path):
            return True
        return _SHOWS_CREDENTIALS.search(self._head, 0, self._head.index(_END_OF_HEAD)) is not None

    def init(self) -> None:
        """Hand the head to the parser; called by gunicorn in the thread that answers the request."""
        self.sock.settimeout(self.cfg.limits.stall)
        if self.parser is None:
            self.parser = _Parser(self.cfg, _PatientSource(self.sock, self.cfg.limits), self.client)
        self.parser.unreader.sock.begin(self._deadline)
        self.parser.unreader.unread(self._head)
        self.initialized = True
        self._head, self._deadline = b"", None

    def close(self, graceful: bool = False) -> None:
        """Close it; gracefully: the client has a moment to read the answer although it still sends."""
        if self.closed:
            return
        self.closed = True
        if graceful:
            _let_finish(self.sock)
        util.close(self.sock)


def _let_finish(sock: socket.socket | TLSSocket) -> None:
    """Send nothing more, and drop what the client still sends as long as it does so fast.

    Most clients read the answer only after they have sent everything, and never when the connection breaks before.
    """
    dropped = 0
    begun = time.monotonic()
    with contextlib.suppress(OSError):
        sock.shutdown(socket.SHUT_WR)
        while dropped < _LAST_WORDS_BYTES:
            left = begun + _LAST_WORDS_SECONDS + dropped / _LAST_WORDS_RATE - time.monotonic()
            sock.settimeout(max(left, 0.0))
            data = sock.recv(_LARGE_PIECE)
            if not data:
                return
            dropped += len(data)
