"""Who may ask what: first who asks (``authentication``), then whether they may (``authorization``).

::

    request ──► authenticate ── nobody known ──► 401 Unauthorized
                     │ somebody, anonymous included
                     ▼
                 authorize ── yes ──► the route
                     ├── no, or nobody has an opinion ──► 403 Forbidden, with the reason
                     └── it could not be found out ─────► 500
"""

import logging
from dataclasses import dataclass

from scheduler.apis.fielderror import quote
from scheduler.serving.asked import Request
from scheduler.serving.authentication import Authenticator, Fault, User, anonymous
from scheduler.serving.authorization import Authorizer, Decision

logger = logging.getLogger(__name__)

_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""Nothing that a client sends comes back as HTML."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request goes no further; ``reason`` is Kubernetes' word for ``code``."""

    code: int
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """The policy."""

    authorize: Authorizer
    authenticate: Authenticator = anonymous

    def refusal(self, request: Request) -> Refusal | None:
        """Why the request is refused, or nothing."""
        user = self.authenticate(request)
        if isinstance(user, Fault):
            logger.error("Unable to authenticate the request err=%s", quote(user.reason))
            return Refusal(401, "Unauthorized", "Unauthorized")
        decision = self.authorize(user, request)
        if decision.allowed:
            return None
        if decision.error:
            logger.error("Unable to authorize the request err=%s", quote(decision.error))
            return Refusal(
                500,
                "InternalError",
                f"Internal Server Error: {quote(request.path)}: {decision.error}".translate(_ESCAPES),
            )
        logger.debug("Forbidden path=%s reason=%s", quote(request.path), quote(decision.reason))
        return Refusal(403, "Forbidden", _forbidden(user, request, decision))


def _forbidden(user: User, request: Request, decision: Decision) -> str:
    told = f"User {quote(user.name)} cannot {request.verb} path {quote(request.path)}".translate(_ESCAPES)
    return f"forbidden: {told}" + (f": {decision.reason}" if decision.reason else "")
