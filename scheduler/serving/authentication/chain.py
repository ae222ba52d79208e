"""Several ways to find out who asks, tried in order.

A way answers a `User`, or nothing when the request shows nothing of its kind, or a `Fault` when it shows something that is no good. A fault
does not end the search (a token may be good beside a certificate of somebody else's); it counts when nobody is found.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler.serving.asked import Request
from scheduler.serving.authentication.user import ANONYMOUS, User


@dataclass(frozen=True, slots=True)
class Fault:
    """Why somebody is not known; for the log, never for the client."""

    reason: str


Authenticator = Callable[[Request], User | Fault]
"""The whole of it: somebody, anonymous included, or why not."""
Way = Callable[[Request], User | Fault | None]


def anonymous(request: Request) -> User:  # noqa: ARG001  # an Authenticator
    """The authenticator when there is no way to find out anything."""
    return ANONYMOUS


def delegated(ways: Sequence[Way]) -> Authenticator:
    """Try the ways in order; who shows nothing is anonymous."""

    def authenticate(request: Request) -> User | Fault:
        faults: list[str] = []
        for way in ways:
            found = way(request)
            if isinstance(found, User):
                return found.as_authenticated()
            if found is not None:
                faults.append(found.reason)
        return Fault("; ".join(faults)) if faults else ANONYMOUS

    return authenticate if ways else anonymous
