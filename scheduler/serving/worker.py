"""gunicorn's threaded worker, changed where a thread of a program differs from a forked process.

* Signals, user ids and the parent process are the program's business: the start-up that touches them is left out.
* A new connection waits in the poller until its first byte arrives: a client that connects and says nothing costs no thread.
* Sockets have time limits. gunicorn's worker has none, a client that stops in the middle of a request would hold its thread forever.
* Closing a connection waits for the client in the connection's own thread, not in the loop that accepts everybody else.
* Stopping does not wait for idle connections.
* What gunicorn logs goes to this package's logger, without tracebacks of what clients did.

docs/design/serving.md lists what this relies on; tests/serving/test_http.py fails when a new gunicorn changes it.

::

    accepted -> waiting for a byte -> in a thread: handshake, request, response -> idle (keep-alive) -> ... -> closed
                      \\____________ idle time over, or stopping ________________________/
"""

import errno
import logging
import math
import selectors
import socket
import sys
import threading
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from gunicorn import util
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser
from gunicorn.workers.gthread import TConn, ThreadWorker

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from scheduler.serving.tls import ContextSource

logger = logging.getLogger(__name__)

_LAST_WORDS_SECONDS = 0.5
_OUT_OF_FILES_PAUSE_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Limits:
    """What clients may take: sizes in bytes, times in seconds.

    ``idle``: without a request; ``stall``: without a byte sent or received inside one; ``request``: to receive a whole request.
    """

    threads: int = 16
    connections: int = 1000
    header_line: int = 8190
    header_fields: int = 100
    idle: float = 90.0
    stall: float = 10.0
    request: float = 60.0


class _Settings(Config):  # type: ignore[misc]  # gunicorn is untyped
    """gunicorn's settings, of which a worker reads a few; TLS is this package's own."""

    def __init__(self, limits: Limits, tls: "ContextSource | None") -> None:
        super().__init__()
        self.tls = tls
        self.limits = limits
        for name, value in {
            "threads": limits.threads,
            "worker_connections": limits.connections,
            "keepalive": math.ceil(limits.idle),
            "limit_request_line": limits.header_line,
            "limit_request_field_size": limits.header_line,
            "limit_request_fields": limits.header_fields,
            "forwarded_allow_ips": "",
            "http_parser": "python",
        }.items():
            self.set(name, value)

    @property
    def is_ssl(self) -> bool:
        return self.tls is not None


class _PatientSource:
    """The socket that the request parser reads, until the request's time is over."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self.deadline = deadline

    def recv(self, size: int) -> bytes:
        if time.monotonic() > self.deadline:
            raise TimeoutError("the request took too long to arrive")
        return self._sock.recv(size)

    def gettimeout(self) -> float | None:
        return self._sock.gettimeout()

    def settimeout(self, seconds: float | None) -> None:
        self._sock.settimeout(seconds)


class _Connection(TConn):  # type: ignore[misc]  # gunicorn is untyped
    """A client's connection; initialised anew for every request on it, which starts that request's clock."""

    sock: socket.socket
    source: _PatientSource | None = None
    closed = False

    def init(self) -> None:
        limits: Limits = self.cfg.limits
        self.sock.settimeout(limits.stall)
        deadline = time.monotonic() + limits.request
        if self.source is not None:
            self.source.deadline = deadline
            return
        if self.cfg.tls is not None:
            self.sock = self.cfg.tls.context().wrap_socket(self.sock, server_side=True)
        self.initialized = True
        self.source = _PatientSource(self.sock, deadline)
        self.parser = RequestParser(self.cfg, self.source, self.client)

    def close(self, graceful: bool = False) -> None:
        if self.closed:
            return
        self.closed = True
        if graceful:
            util.close_graceful(self.sock, timeout=_LAST_WORDS_SECONDS)
        else:
            util.close(self.sock)


class _Application:
    """What gunicorn's worker calls an application."""

    def __init__(self, app: "WSGIApplication") -> None:
        self.wsgi = lambda: app


class InProcessWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn is untyped
    """One worker, whose loop runs in the thread that calls `serve`."""

    def __init__(
        self, app: "WSGIApplication", listener: socket.socket, limits: Limits, tls: "ContextSource | None"
    ) -> None:
        super().__init__(0, 0, [listener], _Application(app), 0, _Settings(limits, tls), _Log())
        self.tmp.close()
        self.ready = threading.Event()

    def serve(self) -> None:
        """Serve until `drain` is called; sockets are closed on return."""
        self.tpool = self.get_thread_pool()
        self.poller = selectors.DefaultSelector()
        self.method_queue.init()
        self.load_wsgi()
        try:
            self.run()
        except Exception:
            logger.exception("the serving port is closed: its loop failed")
        for connection in self.pending_conns:
            connection.close()

    def drain(self, grace: float) -> None:
        """Make `serve` return: at once when nothing is in flight, after ``grace`` seconds at the latest."""
        self.cfg.set("graceful_timeout", math.ceil(grace))
        self.alive = False
        self.method_queue.defer(lambda: None)

    def notify(self) -> None:
        """No arbiter waits for a sign of life; the loop calls this when it runs."""
        self.ready.set()

    def is_parent_alive(self) -> bool:
        """The program's parent does not matter to a thread of it."""
        return True

    def accept(self, listener: socket.socket) -> None:
        """Take a new connection into the poller, where it waits for its first byte."""
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                logger.warning("cannot accept connections: %s", error.strerror)
                time.sleep(_OUT_OF_FILES_PAUSE_SECONDS)
            return
        self.nr_conns += 1
        connection = _Connection(self.cfg, client, address, listener.getsockname())
        connection.set_timeout()
        self.pending_conns.append(connection)
        wake = partial(self.on_pending_socket_readable, connection)
        self.poller.register(client, selectors.EVENT_READ, wake)

    def handle(self, conn: _Connection) -> Any:
        """One request, in a thread of the pool; true when the connection stays. None stays once the worker is stopping."""
        stays = super().handle(conn) and self.alive
        if not stays:
            conn.close(graceful=True)
        return stays

    def _cap_keepalive(self, deadline: float) -> None:  # noqa: ARG002  # called by gunicorn when it stops accepting
        now = time.monotonic()
        super()._cap_keepalive(now)
        for connection in self.pending_conns:
            connection.timeout = now


class _Log:
    """The logger that gunicorn's worker expects, over this module's."""

    debug = staticmethod(logger.debug)
    info = staticmethod(logger.debug)
    warning = staticmethod(logger.info)
    error = staticmethod(logger.error)

    def exception(self, message: str, *args: object) -> None:
        """One line for what a client did, a traceback only for what went wrong here."""
        cause = sys.exc_info()[1]
        if isinstance(cause, TimeoutError):
            logger.info("connection closed: %s", cause)
        else:
            logger.error(message, *args, exc_info=cause)

    def access(self, response: Any, request: Any, environ: dict[str, Any], duration: Any) -> None:
        """The access log, at debug level."""
        logger.debug(
            "%s %s %s in %.1f ms from %s",
            request.method,
            environ.get("PATH_INFO", request.uri),
            response.status,
            duration.total_seconds() * 1000,
            environ.get("REMOTE_ADDR", "?"),
        )
