"""Opinions about whether a user may, and how several of them become a decision (apiserver's ``authorization/union``)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from scheduler.serving.asked import Request
from scheduler.serving.authentication.user import User


@dataclass(frozen=True, slots=True)
class Decision:
    """An opinion.

    Attributes:
        allowed: yes; no; or nothing: somebody else may know, and if nobody does, it is a no.
        reason: why, for the client.
        error: what went wrong while asking; a request that nobody allowed then failed rather than being forbidden.
    """

    allowed: bool | None
    reason: str = ""
    error: str = ""


NO_OPINION = Decision(None)
ALLOWED = Decision(allowed=True)

Authorizer = Callable[[User, Request], Decision]


def union(authorizers: Sequence[Authorizer]) -> Authorizer:
    """The first yes or no among them; else no opinion, with every reason and every error."""

    def authorize(user: User, request: Request) -> Decision:
        open_ones: list[Decision] = []
        for authorizer in authorizers:
            decision = authorizer(user, request)
            if decision.allowed is not None:
                return decision
            open_ones.append(decision)
        reasons = "\n".join(each.reason for each in open_ones if each.reason)
        return Decision(None, reasons, "; ".join(each.error for each in open_ones if each.error))

    return authorize
