"""What the API server thinks: SubjectAccessReviews, its answers kept for a while (apiserver's ``authorizer/webhook``)."""

import time
from collections.abc import Callable

from scheduler.client.errors import ClientError
from scheduler.client.reviews import AccessSpec, AccessStatus, PathAttributes
from scheduler.serving.asked import Request
from scheduler.serving.authentication.user import User
from scheduler.serving.authorization.chain import Decision
from scheduler.serving.remembered import Remembered

_REMEMBERED = 8192
_LARGEST_REMEMBERED = 10_000
"""Characters that the client chose; an answer to more is not worth the memory."""

Review = Callable[[AccessSpec], AccessStatus]
_Key = tuple[str, str, str, str, tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...]]


class AccessReviews:
    """Permissions by review.

    Args:
        review: asks the API server; raises ClientError when it cannot tell.
        authorized_ttl, unauthorized_ttl: seconds to keep a yes, and anything else.
    """

    def __init__(
        self,
        review: Review,
        authorized_ttl: float,
        unauthorized_ttl: float,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._review = review
        self._ttls = {True: authorized_ttl, False: unauthorized_ttl}
        self._answers: Remembered[_Key, AccessStatus] = Remembered(_REMEMBERED, now=now)

    def __call__(self, user: User, request: Request) -> Decision:
        """The API server's opinion of the user's HTTP verb and path."""
        path = PathAttributes(request.path, request.verb)
        spec = AccessSpec(path, user.name, user.uid, user.groups, dict(user.extra))
        extra = tuple(sorted(user.extra.items()))
        try:
            status = self._answers.get(
                (path.path, path.verb, user.name, user.uid, user.groups, extra), lambda: self._ask(spec)
            )
        except ClientError as error:
            return Decision(None, error=str(error))
        if status.denied and status.allowed:
            return Decision(
                allowed=False, error="webhook subject access review returned both allow and deny response"
            )
        return Decision(False if status.denied else status.allowed or None, status.reason)

    def _ask(self, spec: AccessSpec) -> tuple[AccessStatus, float]:
        status = self._review(spec)
        chosen = len(spec.non_resource_attributes.path) + len(spec.non_resource_attributes.verb)
        return status, self._ttls[status.allowed] if chosen < _LARGEST_REMEMBERED else 0.0
