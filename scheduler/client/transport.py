"""The seam to urllib3: its exceptions become TransportError, its response a body that another thread may abandon."""

import contextlib
import ssl
from collections.abc import Iterator, Mapping
from http.client import HTTPException
from typing import Any

import urllib3
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError

from scheduler.client.errors import TransportError

CONNECT_SECONDS = 10.0
PIECE = 1 << 24
"""Bytes that are read at once of a body of unknown length."""
BODY_LIMIT = 2 << 30
"""Bytes of an answer that are read at most."""


class Body:
    """An answer whose body is still on the wire.

    Read by one thread; :meth:`close` may be called by any, and makes that thread's read end with TransportError or
    with the end of the data.
    """

    def __init__(self, raw: urllib3.BaseHTTPResponse, method: str, url: str) -> None:
        self._raw: Any = raw
        self._method = method
        self._url = url
        self.status: int = raw.status
        self.headers: Mapping[str, str] = raw.headers

    def read(self) -> bytes:
        """The whole body, at most BODY_LIMIT bytes; the connection goes back to the pool."""
        try:
            with transport_errors(self._method, self._url):
                body = b"".join(self._pieces())
        except BaseException:
            self._raw.close()
            raise
        self._raw.release_conn()
        return body

    def _pieces(self) -> Iterator[bytes]:
        """The body in one piece when its length is announced: only then does urllib3 notice that it was cut short."""
        announced = self._raw.length_remaining
        total = announced or 0
        if announced is not None and total <= BODY_LIMIT:
            yield self._raw.read()
            return
        while total <= BODY_LIMIT and (piece := self._raw.read(PIECE)):
            total += len(piece)
            yield piece
        if total > BODY_LIMIT:
            raise TransportError(f"{self._method} {self._url}: the answer exceeds {BODY_LIMIT} bytes")

    def read_some(self, size: int) -> bytes:
        """What has arrived, at most ``size`` bytes; b"" at the end."""
        with transport_errors(self._method, self._url):
            some: bytes = self._raw.read1(size)
            return some

    def close(self) -> None:
        """Abandon the answer: a read that waits in another thread ends at once."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):
            self._raw.shutdown()

    def discard(self) -> None:
        """Close the connection; called by the reading thread when it is done."""
        with contextlib.suppress(OSError):
            self._raw.close()


@contextlib.contextmanager
def transport_errors(method: str, url: str) -> Iterator[None]:
    """Turn what urllib3, ``http.client`` and sockets raise into TransportError with one readable line. ``url``: without a query."""
    try:
        yield
    except (HTTPError, HTTPException, OSError) as error:
        raise TransportError(
            f"{method} {url}: {_cause(error)}",
            refused=isinstance(error, ConnectTimeoutError),
            timed_out=_timed_out(error),
        ) from error


def _timed_out(error: BaseException) -> bool:
    """urllib3 derives "no connection" from "connect timed out", whatever the cause."""
    if isinstance(error, NewConnectionError):
        return False
    return isinstance(error, ConnectTimeoutError | ReadTimeoutError | TimeoutError)


def _cause(error: BaseException) -> str:
    """The innermost operating system's or TLS word for it: ``connection refused``, ``certificate verify failed``."""
    if _timed_out(error):
        return "timed out"
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, ssl.SSLCertVerificationError):
            return f"TLS: {seen.verify_message}"
        if isinstance(seen, ssl.SSLError):
            return f"TLS: {(seen.reason or 'failed').lower().replace('_', ' ')}"
        if isinstance(seen, OSError) and seen.strerror:
            return seen.strerror.lower()
        seen = seen.__cause__ or seen.__context__
    return "the connection was lost"
