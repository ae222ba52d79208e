"""Groups that may do everything: ``system:masters``, as in every API server."""

from scheduler.serving.asked import Request
from scheduler.serving.authentication.user import MASTERS, User
from scheduler.serving.authorization.chain import ALLOWED, NO_OPINION, Decision


def privileged_groups(user: User, request: Request) -> Decision:  # noqa: ARG001  # an Authorizer
    """Allow members of ``system:masters`` everything."""
    return ALLOWED if MASTERS in user.groups else NO_OPINION
