"""HTTP to the API server: bytes out, bytes in, failures as the tree of :mod:`.errors`.

Thin on purpose. ``ApiClient.call_api`` spends more on models and serialisation than the request itself costs, so this
uses the connection pool that it set up for lists and watches, and ``links`` for everything that is short.

Every attempt passes the rate limiter first. An answer 429 or 5xx that carries ``Retry-After`` is tried again after that
time, at most ten times, as in client-go (rest/with_retry.go); nothing else is, except that a GET whose kept-alive
connection turned out to be dead is sent once more. Header and body contents are never logged.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import urlencode

import msgspec

from scheduler.client.access import Access
from scheduler.client.errors import ApiError, TransportError, api_error
from scheduler.client.ratelimit import limiter
from scheduler.client.transport import CONNECT_SECONDS, Body, transport_errors
from scheduler.client.watch import WatchStream

logger = logging.getLogger(__name__)

MAX_RETRIES = 10
MAX_RETRY_AFTER = 60.0
"""Seconds that one ``Retry-After`` may make us wait."""
READ_SECONDS = 60.0
"""Without a byte for so long, an ordinary request has failed."""

JSON = "application/json"
STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"
MERGE_PATCH = "application/merge-patch+json"

Query = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Response:
    """A successful answer, read to its end."""

    status: int
    body: bytes


class HasStatus(Protocol):
    """An answer, however it was fetched."""

    @property
    def status(self) -> int:
        """The HTTP status."""
        ...


A = TypeVar("A", bound=HasStatus)


class Observer(Protocol):
    """Told about every attempt, for ``rest_client_*`` metrics."""

    def __call__(self, method: str, code: str, seconds: float) -> None:
        """``code``: the HTTP status, or ``<error>`` when no answer came."""


def _unobserved(method: str, code: str, seconds: float) -> None:
    del method, code, seconds


def _untold(*args: object) -> None:
    del args


class Rest:
    """A client with its own rate limit and user agent. Thread-safe.

    ``qps``/``burst``: as in ``clientConnection`` (see :func:`.ratelimit.limiter`). ``observe``: see Observer.
    ``throttled(method, seconds)`` is told how long the rate limit held up every attempt, ``transferred(method, sent, received)``
    the bytes of both bodies, ``retried(method, code)`` after which status an attempt is made again.
    """

    def __init__(
        self,
        access: Access,
        *,
        user_agent: str,
        qps: float = 50.0,
        burst: int = 100,
        now: Callable[[], float] = time.monotonic,
        observe: Observer = _unobserved,
        throttled: Callable[[str, float], None] = _untold,
        transferred: Callable[[str, int, int], None] = _untold,
        retried: Callable[[str, str], None] = _untold,
    ) -> None:
        self._access = access
        self._now = now
        self._observe = observe
        self._throttled = throttled
        self._transferred = transferred
        self._retried = retried
        self._closing = threading.Event()
        self._limiter = limiter(qps, burst, now=now, wait=self._closing.wait)
        self._user_agent = user_agent

    @property
    def host(self) -> str:
        """The server's URL, for messages."""
        return self._access.host

    def close(self) -> None:
        """End all waits; later requests fail. Requests in flight finish by themselves."""
        self._closing.set()

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Query | None = None,
        body: bytes | object | None = None,
        content_type: str = JSON,
        timeout: float = READ_SECONDS,
    ) -> Response:
        """Send and read the answer.

        ``body``: JSON bytes, or anything that msgspec encodes. ``timeout``: seconds without a byte after which the
        request has failed; no retry begins later than that after the start. Raises ApiError, TransportError, AccessError.
        """
        target = _target(path, query)
        payload = body if body is None or isinstance(body, bytes) else msgspec.json.encode(body)
        deadline = self._now() + timeout
        resend = method == "GET"
        for attempt in range(MAX_RETRIES + 1):
            try:
                answer = self._attempt(method, target, payload, content_type, timeout)
            except ApiError as error:
                if attempt == MAX_RETRIES or not self._wait_to_retry(error, deadline):
                    raise
                self._retried(method, str(error.status))
                logger.debug("%s %s: %s; trying again", method, path, error)
            except TransportError as error:
                if not resend or error.refused or error.timed_out:
                    raise
                resend = False
            else:
                self._transferred(method, len(payload or b""), len(answer.body))
                return answer
        raise AssertionError("unreachable: the last attempt returns or raises")

    def open(self, path: str, *, query: Query | None = None, timeout: float = READ_SECONDS) -> Body:
        """GET whose body the caller reads, and may abandon from another thread (``Body.close``). Not retried."""
        return self._send("GET", _target(path, query), None, JSON, timeout)

    def watch(self, path: str, *, query: Query | None = None, timeout: float) -> WatchStream:
        """GET a stream of lines. ``timeout``: seconds of silence after which the stream counts as dead."""
        return WatchStream(self.open(path, query=query, timeout=timeout))

    def _attempt(
        self, method: str, target: str, payload: bytes | None, content_type: str, timeout: float
    ) -> Response:
        """One attempt, read to its end. Raises ApiError for a status of 300 and above."""
        links = self._access.links
        if links is None:
            body = self._send(method, target, payload, content_type, timeout)
            return Response(body.status, body.read())
        headers = self._headers(method, payload, content_type)
        answer = self._observed(
            method, target, lambda: links.exchange(method, target, headers, payload, timeout)
        )
        if answer.status >= 300:
            raise _failure(answer.status, answer.retry_after, answer.body)
        return Response(answer.status, answer.body)

    def _send(
        self, method: str, target: str, payload: bytes | None, content_type: str, timeout: float
    ) -> Body:
        """One attempt; the body is still unread. Raises ApiError for a status of 300 and above."""
        headers = self._headers(method, payload, content_type)
        raw = self._observed(
            method,
            target,
            lambda: self._access.pool.urlopen(
                method, self._access.host + target, body=payload, headers=headers, retries=False, redirect=False,
                preload_content=False, timeout=_timeout(timeout),
            ),
        )  # fmt: skip
        answer = Body(raw, method, self._url(target))
        if answer.status >= 300:
            raise _failure(answer.status, answer.headers.get("Retry-After", ""), answer.read())
        return answer

    def _headers(self, method: str, payload: bytes | None, content_type: str) -> dict[str, str]:
        """The headers of an attempt, once the rate limit lets it pass."""
        self._throttled(method, self._limiter.acquire())
        if self._closing.is_set():
            raise TransportError("the client is closed", refused=True)
        headers = {"User-Agent": self._user_agent, "Accept": JSON, **self._access.auth_headers()}
        if payload is not None:
            headers["Content-Type"] = content_type
        return headers

    def _observed(self, method: str, target: str, send: Callable[[], A]) -> A:
        """What ``send`` answers; its status and duration are told, its failures become TransportError."""
        started = self._now()
        code = "<error>"
        try:
            with transport_errors(method, self._url(target)):
                answer = send()
            code = str(answer.status)
            return answer
        finally:
            self._observe(method, code, self._now() - started)

    def _url(self, target: str) -> str:
        """For messages: without the query."""
        return self._access.host + target.partition("?")[0]

    def _wait_to_retry(self, error: ApiError, deadline: float) -> bool:
        """Wait as the server asked; False when it did not ask or there is no time left."""
        if error.retry_after is None or not (error.status == 429 or error.status >= 500):
            return False
        delay = min(error.retry_after, MAX_RETRY_AFTER)
        if self._now() + delay > deadline:
            return False
        return not self._closing.wait(delay)


def _timeout(seconds: float) -> Any:
    from urllib3 import Timeout

    return Timeout(connect=min(CONNECT_SECONDS, seconds), read=seconds, total=seconds)


def _target(path: str, query: Query | None) -> str:
    return f"{path}?{urlencode(query)}" if query else path


def _failure(status: int, retry_after: str, body: bytes) -> ApiError:
    seconds = float(retry_after) if retry_after.isascii() and retry_after.isdigit() else None
    return api_error(status, body, seconds)
