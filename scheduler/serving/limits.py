"""The largest request body each path accepts, counted while it arrives.

Flask looks at ``Content-Length`` only and cuts a longer chunked body off without a word, so bodies are counted here, below it. Reading
too much raises an HTTP error that Flask answers: 413 for too large, 408 for too slow, 400 for broken chunks. What the client still sends is
not waited for: the server closes the connection after an answer that comes before the end of the body (`connection`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Protocol

from gunicorn.http.errors import ParseException
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, RequestTimeout

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

DEFAULT_BODY_BYTES = 1 << 20
_STEP = 1 << 20


class _Stream(Protocol):
    def read(self, size: int = -1, /) -> bytes: ...
    def readline(self, size: int = -1, /) -> bytes: ...


class BodyLimits:
    """WSGI middleware: ``by_prefix`` maps path prefixes to limits in bytes; the longest prefix that fits counts, else ``default``."""

    def __init__(
        self,
        app: "WSGIApplication",
        *,
        default: int = DEFAULT_BODY_BYTES,
        by_prefix: Mapping[str, int] | None = None,
    ) -> None:
        self._app = app
        self._default = default
        self._by_prefix = sorted((by_prefix or {}).items(), key=lambda item: -len(item[0]))

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Serve the request with a body that cannot grow beyond its limit."""
        announced = int(environ.get("CONTENT_LENGTH") or 0)
        limit = self.limit(environ.get("PATH_INFO", "/"))
        environ["wsgi.input"] = CountedBody(environ["wsgi.input"], limit=limit, announced=announced)
        return self._app(environ, start_response)

    def limit(self, path: str) -> int:
        """The limit of a path."""
        return next((size for prefix, size in self._by_prefix if path.startswith(prefix)), self._default)


class CountedBody:
    """A body that raises `RequestEntityTooLarge` as soon as more than ``limit`` bytes are announced or read, `RequestTimeout` when it stalls,
    `BadRequest` when it breaks off or its chunks are none."""

    def __init__(self, stream: _Stream, *, limit: int, announced: int) -> None:
        self._stream = stream
        self._limit = limit
        self._announced = announced
        self._taken = 0

    def read(self, size: int = -1) -> bytes:
        """Up to ``size`` bytes, everything when negative."""
        if size < 0:
            return b"".join(iter(lambda: self.read(_STEP), b""))
        self._check()
        return self._count(self._patiently(self._stream.read, min(size, self._limit + 1 - self._taken)))

    def readline(self, size: int = -1) -> bytes:
        """One line, at most ``size`` bytes of it."""
        self._check()
        room = self._limit + 1 - self._taken
        return self._count(self._patiently(self._stream.readline, room if size < 0 else min(size, room)))

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.readline, b"")

    def _patiently(self, read: Callable[[int], bytes], size: int) -> bytes:
        try:
            return read(size)
        except TimeoutError:
            raise RequestTimeout("the request body did not arrive in time") from None
        except (OSError, ParseException) as error:
            raise BadRequest(f"the request body is broken: {error}") from None

    def _count(self, data: bytes) -> bytes:
        self._taken += len(data)
        self._check()
        return data

    def _check(self) -> None:
        if self._announced <= self._limit and self._taken <= self._limit:
            return
        size = f"{self._announced} bytes" if self._announced else f"more than {self._limit} bytes"
        raise RequestEntityTooLarge(
            f"the request body is too large: {size}, at most {self._limit} are accepted"
        )
