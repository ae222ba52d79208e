"""One POST to an extender, within one time limit for all of it, and errors in Go's words.

urllib3 has a limit for each read and write, so a peer that sends a byte now and then keeps it for ever. Here a watchdog shuts the
connection down when the time is over, whatever it was busy with: connecting, shaking hands, sending or reading::

    post ──connect──send──await headers──read body──> (status, body)
      └──────── the watchdog ────────────────────────> shut down: "context deadline exceeded …"

Nothing is tried twice. Redirects are followed here: urllib3 would first read what comes with them, however much it is. Texts are Go's, since
people know them from kube-scheduler's events.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    NameResolutionError,
    NewConnectionError,
    ReadTimeoutError,
)

BODY_LIMIT: Final = 256 << 20
"""Bytes of an answer that are read at most; 5,000 nodes in full have 40 MB."""
_PIECE: Final = 1 << 20
_REDIRECTS: Final = 10
_SAME_AGAIN: Final = (307, 308)
"""Redirects that are asked as before; the others with GET, and without a body."""
_REDIRECTING: Final = (301, 302, 303, *_SAME_AGAIN)
_IDLE: Final = 64
"""Connections kept open per extender: dozens of threads bind at a time."""
_AWAITING = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
_READING = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"


class TransportError(Exception):
    """There is no answer; the text is one line, Go's wherever people know it."""


@dataclass(slots=True)
class _Call:
    """One exchange, and a descriptor of its own for the socket that it uses at the moment.

    Of its own, since TLS takes the connection's away while it shakes hands, and an answer without a length when it is read.
    """

    expired: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)
    handle: socket.socket | None = None

    def use(self, descriptor: int) -> None:
        with self.lock:
            self._let_go()
            self.handle = socket.socket(fileno=os.dup(descriptor))
            if self.expired:
                self._shut_down()

    def expire(self) -> None:
        with self.lock:
            self.expired = True
            self._shut_down()

    def end(self) -> None:
        with self.lock:
            self._let_go()

    def _let_go(self) -> None:
        if self.handle is not None:
            self.handle.close()
            self.handle = None

    def _shut_down(self) -> None:
        if self.handle is not None:
            with contextlib.suppress(OSError):
                self.handle.shutdown(socket.SHUT_RDWR)


_here = threading.local()
"""``call``: the exchange that this thread is busy with; how a connection learns whose it is."""


class _Watched:
    """A connection that its exchange can shut down at any time, from another thread."""

    sock: socket.socket | None

    def _new_conn(self) -> socket.socket:
        sock: socket.socket = super()._new_conn()  # type: ignore[misc]
        _here.call.use(sock.fileno())
        return sock

    def request(self, *arguments: Any, **options: Any) -> None:
        if self.sock is not None:
            _here.call.use(self.sock.fileno())
        super().request(*arguments, **options)  # type: ignore[misc]


class _Connection(_Watched, HTTPConnection):
    pass


class _SecureConnection(_Watched, HTTPSConnection):
    def connect(self) -> None:
        super().connect()
        # Whether certificates are verified was decided, and told, when the context was made; no warning per request.
        self.is_verified = True


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecureConnection


class Transport:
    """Connections to one extender, kept open between calls. Thread-safe.

    Args:
        seconds: for a whole exchange; None: no limit.
        server_name: what the certificate has to be for, instead of the URL's host.
    """

    def __init__(
        self, context: ssl.SSLContext, *, seconds: float | None, user_agent: str, server_name: str = ""
    ) -> None:
        self._seconds = seconds
        self._headers = {"Content-Type": "application/json", "User-Agent": user_agent}
        named: dict[str, Any] = {"server_hostname": server_name} if server_name else {}
        self._manager = urllib3.PoolManager(maxsize=_IDLE, ssl_context=context, **named)
        self._manager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}

    def post(self, url: str, body: bytes) -> tuple[int, bytes]:
        """Status and body; only the body of status 200 is read.

        Raises:
            TransportError: no whole answer came in time.
        """
        call = _here.call = _Call()
        watchdog = None
        if self._seconds is not None:
            watchdog = threading.Timer(self._seconds, call.expire)
            watchdog.daemon = True
            watchdog.start()
        try:
            return self._exchange(call, url, body)
        finally:
            if watchdog is not None:
                watchdog.cancel()
            call.end()
            del _here.call

    def close(self) -> None:
        """Drop the idle connections."""
        self._manager.clear()

    def _exchange(self, call: _Call, url: str, body: bytes) -> tuple[int, bytes]:
        method, payload = "POST", body
        for _ in range(_REDIRECTS):
            answer, parts = self._ask(call, method, url, payload)
            try:
                target = answer.headers.get("Location") if answer.status in _REDIRECTING else None
                if not target:
                    return answer.status, _read(call, answer, parts) if answer.status == 200 else b""
            finally:
                answer.close()
            if answer.status not in _SAME_AGAIN:
                method, payload = "GET", b""
            url = urljoin(url, target)
        raise TransportError(f"{_prefix(method, url)}stopped after {_REDIRECTS} redirects")

    def _ask(self, call: _Call, method: str, url: str, body: bytes) -> tuple[Any, SplitResult]:
        """An answer whose body is still to come, and the parts of the URL that it comes from; credentials are sent to whom they are written for."""
        prefix = _prefix(method, url)
        parts = _address(url, prefix)
        with _errors(call, prefix, _AWAITING, "EOF", parts):
            answer: Any = self._manager.urlopen(
                method,
                url,
                redirect=False,
                body=body or None,
                headers={**self._headers, **_credentials(parts)},
                preload_content=False,
                decode_content=False,
                timeout=urllib3.Timeout(self._seconds),
                retries=urllib3.Retry(total=0, redirect=False),
            )
            if call.expired:  # which looks like the end of the headers
                answer.close()
                raise TransportError(prefix + _AWAITING)
        return answer, parts


def _read(call: _Call, answer: Any, parts: SplitResult) -> bytes:
    """The whole body; the connection may be used again then."""
    with _errors(call, "", _READING, "unexpected EOF", parts):
        whole = b"".join(_pieces(answer))
        if call.expired:
            raise TransportError(_READING)
    answer.release_conn()
    return whole


def _prefix(method: str, url: str) -> str:
    """How a message begins that is about a request."""
    return f"{method.capitalize()} {json.dumps(shown(url), ensure_ascii=False)}: "


def shown(url: str) -> str:
    """The URL without the password that it may hold."""
    head, at, tail = url.rpartition("@")
    scheme, slashes, user = head.partition("://")
    if not at or not slashes or ":" not in user or "/" in user:
        return url
    return f"{scheme}://{user.partition(':')[0]}:xxxxx@{tail}"


def _address(url: str, prefix: str) -> SplitResult:
    """The URL's parts, when it leads anywhere."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # raises when it is none
    except ValueError as error:
        raise TransportError(f"parse {prefix.partition(' ')[2]}{error}") from None
    if parts.scheme not in ("http", "https"):
        raise TransportError(f'{prefix}unsupported protocol scheme "{parts.scheme}"')
    if not parts.hostname:
        raise TransportError(f"{prefix}http: no Host in request URL")
    return parts


def _credentials(parts: SplitResult) -> Mapping[str, str]:
    """Basic authentication with what stands in the URL, as Go's client does it."""
    if parts.username is None:
        return {}
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}


def _pieces(answer: Any) -> Iterator[bytes]:
    total = 0
    while piece := answer.read(_PIECE):
        total += len(piece)
        if total > BODY_LIMIT:
            raise TransportError(f"the answer exceeds {BODY_LIMIT} bytes")
        yield piece


@contextlib.contextmanager
def _errors(call: _Call, prefix: str, late: str, ended: str, parts: SplitResult) -> Iterator[None]:
    """Turn whatever urllib3 and sockets raise into a TransportError.

    Args:
        late: what to say when the time is over.
        ended: what to say when the peer just closed the connection.
    """
    try:
        yield
    except (HTTPError, OSError, ValueError) as error:
        root = _root(error)
        timed_out = isinstance(root, ConnectTimeoutError) and not isinstance(root, NewConnectionError)
        if call.expired or timed_out or isinstance(root, TimeoutError | ReadTimeoutError):
            raise TransportError(prefix + late) from error
        raise TransportError(prefix + (_in_go(root, parts) or ended)) from error


def _root(error: BaseException) -> BaseException:
    """The first cause, as far as it is told."""
    while not isinstance(error, NewConnectionError | ConnectTimeoutError):
        reason = getattr(error, "reason", None)
        below = reason if isinstance(reason, BaseException) else error.__cause__ or error.__context__
        if below is None:
            break
        error = below
    return error


def _in_go(root: BaseException, parts: SplitResult) -> str:
    """What Go says; empty when the connection just ended."""
    if isinstance(root, NewConnectionError):
        return _dialing(root, parts)
    if isinstance(root, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: {root.verify_message}"
    if isinstance(root, ssl.SSLError):
        return f"remote error: tls: {(root.reason or 'failed').lower().replace('_', ' ')}"
    if isinstance(root, OSError) and root.strerror:
        return f"read tcp: {root.strerror.lower()}"
    return ""


def _dialing(error: NewConnectionError, parts: SplitResult) -> str:
    if isinstance(error, NameResolutionError):
        return f"dial tcp: lookup {parts.hostname}: no such host"
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    address = f"{host}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    cause = error.__cause__ or error.__context__
    reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else "failed"
    return f"dial tcp {address}: connect: {reason.lower()}"
