"""Asking the API server who a client is (TokenReview) and what it may do (SubjectAccessReview).

Whoever waits for an answer can be let go (`Reviews.close`), although the request itself cannot be taken back: it runs in a thread of its own that
nobody waits for at the end of the process.

Both are answered by a POST that changes nothing, so trouble on the way is tried again: as in kube-scheduler at most five times, after half a
second and half as long again each time, and not beyond ten seconds in all (``DefaultAuthWebhookRetryBackoff``).
"""

import contextlib
import random
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from typing import TypeVar

import msgspec

from scheduler.client.errors import ApiError, ClientError, MalformedAnswerError, TransportError
from scheduler.client.resources import SUBJECT_ACCESS_REVIEWS, TOKEN_REVIEWS, Resource
from scheduler.client.rest import Rest

QPS = 200.0
BURST = 400
"""High, because they bound how fast this process answers its own clients (``DelegatingAuthenticationOptions.getClient``)."""
DEADLINE_SECONDS = 10.0
_ATTEMPTS = 5
_FIRST_DELAY = 0.5
_FACTOR = 1.5
_JITTER = 0.2
_SERVER_SIDE = frozenset({429, 500, 504})

T = TypeVar("T")
Extra = Mapping[str, tuple[str, ...]]


class UserInfo(msgspec.Struct, frozen=True):
    """``status.user`` of a TokenReview."""

    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] | None = ()
    extra: dict[str, tuple[str, ...]] | None = None


class TokenStatus(msgspec.Struct, frozen=True):
    """``status`` of a TokenReview: whose token it is, or why it is nobody's."""

    authenticated: bool = False
    user: UserInfo = UserInfo()
    error: str = ""


class AccessStatus(msgspec.Struct, frozen=True, rename="camel"):
    """``status`` of a SubjectAccessReview. Neither allowed nor denied: nobody has an opinion, which is no permission either."""

    allowed: bool = False
    denied: bool = False
    reason: str = ""
    evaluation_error: str = ""


class PathAttributes(msgspec.Struct, frozen=True):
    """``nonResourceAttributes``: an HTTP verb in lower case, and a path."""

    path: str
    verb: str


class AccessSpec(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """``spec`` of a SubjectAccessReview about a path."""

    non_resource_attributes: PathAttributes
    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = {}


class _TokenReview(msgspec.Struct):
    status: TokenStatus = TokenStatus()


class _AccessReview(msgspec.Struct):
    status: AccessStatus = AccessStatus()


class Reviews:
    """The two reviews, over one client of the API server.

    ``wait(seconds)`` blocks between attempts. Thread-safe.
    """

    def __init__(
        self,
        rest: Rest,
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] = time.sleep,
        rng: random.Random | None = None,
    ) -> None:
        self._rest = rest
        self._now = now
        self._wait = wait
        self._rng = rng or random.Random()
        self._lock = threading.Lock()
        self._waiting: set[Future[bytes]] = set()
        self._closed = False

    def close(self) -> None:
        """Let everybody go who waits; from now on nobody is answered."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, set()
        for future in waiting:
            _settle(future, error=_closed())

    def token(self, token: str) -> TokenStatus:
        """Whose token it is. Raises ClientError when the server cannot tell."""
        return self._ask(TOKEN_REVIEWS, {"token": token}, _TokenReview).status

    def access(self, spec: AccessSpec) -> AccessStatus:
        """Whether somebody may do something. Raises ClientError when the server cannot tell."""
        return self._ask(SUBJECT_ACCESS_REVIEWS, spec, _AccessReview).status

    def _ask(self, resource: Resource, spec: object, answer: type[T]) -> T:
        body = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": {}, "spec": spec}
        encoded = msgspec.json.encode(body)
        reply = self._awaited(resource.collection(), encoded)
        try:
            return msgspec.json.decode(reply, type=answer)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswerError(f"the {resource.kind} does not parse: {error}") from None

    def _awaited(self, path: str, body: bytes) -> bytes:
        future: Future[bytes] = Future()
        with self._lock:
            if self._closed:
                raise _closed()
            self._waiting.add(future)
        threading.Thread(
            target=self._carry_out, args=(future, path, body), name="review", daemon=True
        ).start()
        return future.result()

    def _carry_out(self, future: "Future[bytes]", path: str, body: bytes) -> None:
        try:
            reply = self._persistently(path, body)
        except BaseException as error:
            _settle(future, error=error)
        else:
            _settle(future, reply)
        with self._lock:
            self._waiting.discard(future)

    def _persistently(self, path: str, body: bytes) -> bytes:
        deadline = self._now() + DEADLINE_SECONDS
        delay = _FIRST_DELAY
        for attempt in range(_ATTEMPTS):
            try:
                left = max(deadline - self._now(), 0.1)
                return self._rest.request("POST", path, body=body, timeout=left).body
            except ClientError as error:
                pause = delay * (1 + _JITTER * self._rng.random())
                over = attempt == _ATTEMPTS - 1 or self._now() + pause > deadline
                if over or not _is_passing(error):
                    raise
                self._wait(pause)
                delay *= _FACTOR
        raise AssertionError("unreachable: the last attempt returns or raises")


def _settle(future: "Future[bytes]", reply: bytes = b"", error: BaseException | None = None) -> None:
    """Set the outcome, unless it is set already."""
    with contextlib.suppress(InvalidStateError):
        if error is None:
            future.set_result(reply)
        else:
            future.set_exception(error)


def _closed() -> TransportError:
    return TransportError("the process ends", refused=True)


def _is_passing(error: ClientError) -> bool:
    """Trouble that may be gone at the next attempt (``webhook.DefaultShouldRetry``): a connection that broke, a server in need."""
    if isinstance(error, TransportError):
        return not error.refused and not error.timed_out
    return isinstance(error, ApiError) and (error.status in _SERVER_SIDE or bool(error.retry_after))
