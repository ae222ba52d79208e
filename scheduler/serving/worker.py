"""gunicorn's threaded worker, changed where a thread of a program differs from a forked process.

* Signals, user ids and the parent process are the program's business: the start-up that touches them is left out.
* A connection waits in the poller until the head of a request is complete: a client that says nothing, or little, costs no thread.
* Requests with a body have a pool of threads of their own, and so have those about which the API server may be asked: however slow clients
  and the API server are, a health check finds a thread.
* Sockets have time limits. gunicorn's worker has none, a client that stops in the middle of a request would hold its thread forever.
* Closing a connection waits for the client in the connection's own thread, not in the loop that accepts everybody else.
* Stopping does not wait for idle connections.
* When there are as many connections as there may be, the one that has been silent for the longest gives way: nobody keeps others out, health
  checks above all, by opening connections and saying nothing.
* What gunicorn logs goes to this package's logger, without tracebacks of what clients did.

docs/design/serving.md lists what this relies on; tests/serving/test_http.py fails when a new gunicorn changes it.

::

                                                      ┌─ with a body ──► in a thread of ``bodies`` ──┐
    accepted ─► waiting for a complete head (poller) ─┼─ not open ─────► in a thread of ``reviews`` ─┼─► idle (keep-alive) ─► ... ─► closed
                      │                               └─ neither ──────► in a spare thread ──────────┘
                      └─ idle time over, or stopping ─► closed
"""

import contextlib
import errno
import logging
import math
import selectors
import socket
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from gunicorn.config import Config
from gunicorn.http.errors import LimitRequestHeaders
from gunicorn.workers.gthread import _DEFER, ThreadWorker

from scheduler.serving.connection import Connection, Limits
from scheduler.serving.tls.sockets import TLSSocket

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from scheduler.serving.tls import ContextSource

logger = logging.getLogger(__name__)

_OUT_OF_FILES_PAUSE_SECONDS = 0.05
_ELSEWHERE = object()


class _Settings(Config):  # type: ignore[misc]  # gunicorn is untyped
    """gunicorn's settings, of which a worker reads a few; TLS is this package's own."""

    def __init__(self, limits: Limits, tls: "ContextSource | None", is_open: Callable[[str], bool]) -> None:
        super().__init__()
        self.tls = tls
        self.is_open = is_open
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


class _Application:
    """What gunicorn's worker calls an application."""

    def __init__(self, app: "WSGIApplication") -> None:
        self.wsgi = lambda: app


class InProcessWorker(ThreadWorker):  # type: ignore[misc]  # gunicorn is untyped
    """One worker, whose loop runs in the thread that calls `serve`."""

    def __init__(
        self,
        app: "WSGIApplication",
        listener: socket.socket,
        limits: Limits,
        tls: "ContextSource | None",
        is_open: Callable[[str], bool],
    ) -> None:
        super().__init__(0, 0, [listener], _Application(app), 0, _Settings(limits, tls, is_open), _Log())
        self.tmp.close()
        self.ready = threading.Event()
        self.bodies = ThreadPoolExecutor(limits.threads)
        self.reviews = ThreadPoolExecutor(limits.review_threads)

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
        self.bodies.shutdown(wait=False)
        self.reviews.shutdown(wait=False)

    def get_thread_pool(self) -> ThreadPoolExecutor:
        """The threads for requests that wait for nobody."""
        return ThreadPoolExecutor(self.cfg.limits.spare_threads)

    def drain(self, grace: float) -> None:
        """Make `serve` return: at once when nothing is in flight, after ``grace`` seconds at the latest."""
        self.cfg.set("graceful_timeout", math.ceil(grace))
        self.alive = False
        self.method_queue.defer(lambda: None)

    def notify(self) -> None:
        """No arbiter waits for a sign of life; the loop calls this when it runs, before it decides whether to accept."""
        self.ready.set()
        self._make_room()

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
        connection = Connection(self.cfg, client, address, listener.getsockname())
        connection.set_timeout()
        self.pending_conns.append(connection)
        wake = partial(self.on_pending_socket_readable, connection)
        self.poller.register(client, selectors.EVENT_READ, wake)

    def _make_room(self) -> None:
        """Close a connection that waits, if the limit is reached: rather one that never said a whole word than one that has been served.

        Not while the poller's events are being looked at: one of them may be about this very connection.
        """
        waiting = self.pending_conns if len(self.pending_conns) > 1 else self.keepalived_conns
        if self.nr_conns < self.worker_connections or not waiting:
            return
        connection = waiting.popleft()
        self.poller.unregister(connection.sock)
        self.nr_conns -= 1
        connection.close()

    def enqueue_req(self, conn: Connection) -> None:
        """In the loop: a request for another pool, whose head is there at once, takes no spare thread; everything else does."""
        pool = None
        # What goes wrong here goes wrong in the spare thread again, which may take its time to say so.
        with contextlib.suppress(LimitRequestHeaders, OSError):
            if conn.has_shaken_hands and conn.receive():
                pool = self._pool_of(conn)
        if pool is None:
            super().enqueue_req(conn)
        else:
            self._answer_in(pool, conn)

    def handle(self, conn: Connection) -> Any:
        """In a spare thread: take what has arrived, and answer when that is a whole head; what gunicorn's `finish_request` expects."""
        try:
            if not conn.receive():
                return _DEFER if self.alive else False
        except LimitRequestHeaders as error:
            self.handle_error(None, conn.sock, conn.client, error)
            return False
        except OSError as error:
            logger.log(_level(error), "connection closed: %s", error)
            return False
        pool = self._pool_of(conn)
        if pool is None:
            return self._answer(conn)
        self._answer_in(pool, conn)
        return _ELSEWHERE

    def handle_request(self, req: Any, conn: Connection) -> Any:
        """One request; its headers as they came stay with the connection, since WSGI joins those that are repeated."""
        if isinstance(conn.sock, TLSSocket):
            conn.sock.request_headers = tuple(req.headers)
        return super().handle_request(req, conn)

    def finish_request(self, conn: Connection, fs: "Future[Any]") -> None:
        """In the loop: what becomes of the connection, unless another thread still answers."""
        if fs.cancelled() or fs.exception() or fs.result() is not _ELSEWHERE:
            super().finish_request(conn, fs)

    def _pool_of(self, conn: Connection) -> ThreadPoolExecutor | None:
        """Whose thread answers a request whose head is complete; nothing: a spare one."""
        if conn.announces_body:
            return self.bodies
        return self.reviews if conn.may_need_review else None

    def _answer_in(self, pool: ThreadPoolExecutor, conn: Connection) -> None:
        future = pool.submit(self._answer, conn)
        future.add_done_callback(lambda done: self.method_queue.defer(self.finish_request, conn, done))

    def _answer(self, conn: Connection) -> bool:
        """One request; true when the connection stays. None stays once the worker is stopping."""
        stays = bool(super().handle(conn)) and self.alive
        if not stays:
            conn.close(graceful=True)
        return stays

    def _cap_keepalive(self, deadline: float) -> None:  # noqa: ARG002  # called by gunicorn when it stops accepting
        now = time.monotonic()
        super()._cap_keepalive(now)
        for connection in self.pending_conns:
            connection.timeout = now


def _level(error: OSError) -> int:
    return logging.INFO if isinstance(error, TimeoutError) else logging.DEBUG


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
            quote(environ.get("PATH_INFO", request.path)),
            response.status,
            duration.total_seconds() * 1000,
            environ.get("REMOTE_ADDR", "?"),
        )
