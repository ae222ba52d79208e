"""The server of the serving port: gunicorn's threaded worker, run in a thread of this process.

kube-scheduler's operators expect one process, so nothing forks here: `Server` binds the socket itself, hands it to a worker of gunicorn
and runs the worker's loop in one thread, requests in a pool of others. Signals, exit and logging stay with the program. Only the seam
below is used elsewhere; what it needs of gunicorn's inside is in ``worker``.

::

    Server(app, ...) -- start() --> serving on .port -- stop(grace) --> accepts nothing, requests in flight end, sockets closed
"""

import logging
import os
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from scheduler.serving.connection import Limits
from scheduler.serving.worker import InProcessWorker

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

    from scheduler.serving.tls import ContextSource

logger = logging.getLogger(__name__)

_STARTUP_SECONDS = 10.0
_ANY_ADDRESS = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # compared with, not bound

__all__ = ["Limits", "ListenError", "Server", "listen"]


class ListenError(OSError):
    """The address cannot be listened on; the text is one line for the user."""


class Server:
    """A WSGI application behind HTTP or, with a certificate, HTTPS.

    Args:
        app: called in a thread of ``limits``; its environ has the socket as ``gunicorn.socket``, for peer certificates.
        bind_address: an IPv4 or IPv6 address; 0.0.0.0 and :: are all addresses of both families.
        port: 0 takes a free one; see `port` after `start`.
        tls: where contexts come from (``tls.serving_tls``); absent: plain HTTP.
        reuse_port: several processes may listen on the port.
        is_open: whether a path is open to everybody, so that its requests wait for nobody; by default all are.
        let_go: called once the grace of `stop` is over: frees the requests that still wait for somebody.
    """

    def __init__(
        self,
        app: "WSGIApplication",
        *,
        bind_address: str = "127.0.0.1",
        port: int = 0,
        tls: "ContextSource | None" = None,
        limits: Limits | None = None,
        reuse_port: bool = False,
        is_open: Callable[[str], bool] = lambda path: True,  # noqa: ARG005
        let_go: Callable[[], None] = lambda: None,
    ) -> None:
        self.bind_address = bind_address
        self.port = port
        self._app = app
        self._tls = tls
        self._limits = limits or Limits()
        self._reuse_port = reuse_port
        self._is_open = is_open
        self._let_go = let_go
        self._running: tuple[InProcessWorker, threading.Thread] | None = None

    def start(self) -> None:
        """Listen and serve.

        Raises:
            ListenError: the address is in use, not of this machine, or not permitted.
        """
        listener = listen(self.bind_address, self.port, reuse_port=self._reuse_port)
        self.port = int(listener.getsockname()[1])
        worker = InProcessWorker(self._app, listener, self._limits, self._tls, self._is_open)
        thread = threading.Thread(target=worker.serve, name="serving", daemon=True)
        self._running = (worker, thread)
        thread.start()
        if not worker.ready.wait(_STARTUP_SECONDS):
            raise ListenError(f"the server on {_address(self.bind_address, self.port)} did not start")
        how = "securely" if self._tls else "without TLS"
        logger.info("Serving %s on %s", how, _address(self.bind_address, self.port))

    def stop(self, grace: float = 5.0) -> None:
        """Accept nothing more, let requests in flight end within ``grace`` seconds, close everything. Stopping twice is harmless."""
        if self._running is None:
            return
        worker, thread = self._running
        self._running = None
        worker.drain(grace)
        thread.join()
        self._let_go()

    @property
    def url(self) -> str:
        """Where a client on this machine reaches the server."""
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{_address(_ANY_ADDRESS.get(self.bind_address, self.bind_address), self.port)}"


def listen(address: str, port: int, *, reuse_port: bool = False) -> socket.socket:
    """A listening TCP socket.

    Raises:
        ListenError: with the address and the system's reason.
    """
    listener, bound = _socket_for(address)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if reuse_port:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind((bound, port))
        listener.listen(socket.SOMAXCONN)
        listener.setblocking(False)
    except OSError as error:
        listener.close()
        reason = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
        raise ListenError(f"failed to listen on {_address(address, port)}: {reason}") from error
    return listener


def _socket_for(address: str) -> tuple[socket.socket, str]:
    """A socket, and the address to bind it to. "All addresses" are those of both families, as in Go, on machines that have both."""
    if address in _ANY_ADDRESS and socket.has_dualstack_ipv6():
        listener = socket.socket(socket.AF_INET6, socket.SOCK_STREAM)
        listener.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        return listener, "::"
    return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM), address


def _address(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
