"""Bearer tokens, reviewed by the API server, its answers kept for a while (apiserver's ``bearertoken``, ``token/cache``)."""

import hashlib
import secrets
import time
from collections.abc import Callable

from scheduler.client.errors import ClientError
from scheduler.client.reviews import TokenStatus
from scheduler.serving.asked import Request
from scheduler.serving.authentication.chain import Fault
from scheduler.serving.authentication.user import User
from scheduler.serving.remembered import Remembered

_REMEMBERED = 4096
_INVALID = Fault("invalid bearer token")

Review = Callable[[str], TokenStatus]


class BearerTokens:
    """Users behind ``Authorization: Bearer`` tokens.

    Args:
        review: asks the API server; raises ClientError when it cannot tell.
        ttl: seconds to keep an answer; errors are never kept. What is kept is a keyed hash of the token, not the token.
    """

    def __init__(self, review: Review, ttl: float, *, now: Callable[[], float] = time.monotonic) -> None:
        self._review = review
        self._ttl = ttl
        self._key = secrets.token_bytes(32)
        self._answers: Remembered[bytes, TokenStatus] = Remembered(_REMEMBERED, now=now)

    def __call__(self, request: Request) -> User | Fault | None:
        """The token's user; nothing without a token."""
        token = _token(request.value("Authorization"))
        if not token:
            return None
        key = hashlib.blake2b(token.encode(), key=self._key).digest()
        try:
            status = self._answers.get(key, lambda: self._ask(token))
        except ClientError as error:
            return Fault(f"the token could not be reviewed: {error}")
        if not status.authenticated:
            return Fault(status.error) if status.error else _INVALID
        user = status.user
        return User(user.username, user.uid, user.groups or (), user.extra or {})

    def _ask(self, token: str) -> tuple[TokenStatus, float]:
        status = self._review(token)
        return status, 0.0 if status.error else self._ttl


def _token(authorization: str) -> str:
    """The token in a header: the second word behind ``Bearer``; empty when there is none."""
    scheme, _, rest = authorization.strip().partition(" ")
    return rest.partition(" ")[0] if scheme.lower() == "bearer" else ""
