"""Who may ask what: paths open to everybody, and a decision for the rest.

kube-scheduler without an authentication and authorization kubeconfig knows nobody (everyone is ``system:anonymous``) and can ask nobody,
so whatever is not in ``--authorization-always-allow-paths`` is forbidden. Reviews by the API server come in as an `Authorizer`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

ANONYMOUS = "system:anonymous"


@dataclass(frozen=True, slots=True)
class Request:
    """What is decided upon: the HTTP method and path, and the client's own claim (its ``Authorization`` header, which no repr shows)."""

    method: str
    path: str
    credentials: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the user may; ``user`` is the name found for the request."""

    allowed: bool
    user: str = ANONYMOUS


Authorizer = Callable[[Request], Decision]


def nobody(request: Request) -> Decision:  # noqa: ARG001  # an Authorizer
    """The authorizer when there is no one to ask."""
    return Decision(allowed=False)


class PathError(ValueError):
    """A pattern with ``*`` elsewhere than at its end."""


@dataclass(frozen=True, slots=True)
class OpenPaths:
    """Paths that need no permission, exact or with a trailing ``*``; a leading ``/`` is optional (apiserver's ``authorization/path``)."""

    exact: frozenset[str]
    prefixes: tuple[str, ...]

    @classmethod
    def parse(cls, patterns: Sequence[str]) -> "OpenPaths":
        """Raises PathError."""
        trimmed = [pattern.removeprefix("/") for pattern in patterns]
        for pattern in trimmed:
            if "*" in pattern[:-1]:
                raise PathError(f'only trailing * allowed in "{pattern}"')
        prefixes = tuple(pattern[:-1] for pattern in trimmed if pattern.endswith("*"))
        return cls(frozenset(pattern for pattern in trimmed if not pattern.endswith("*")), prefixes)

    def __contains__(self, path: str) -> bool:
        path = path.removeprefix("/")
        return path in self.exact or path.startswith(self.prefixes)


@dataclass(frozen=True, slots=True)
class Access:
    """The policy: open paths first, then the authorizer."""

    open_paths: OpenPaths
    authorizer: Authorizer = nobody

    def refusal(self, request: Request) -> str | None:
        """Why the request is forbidden, in Kubernetes' words, or nothing."""
        if request.path in self.open_paths:
            return None
        decision = self.authorizer(request)
        if decision.allowed:
            return None
        return f'forbidden: User "{decision.user}" cannot {request.method.lower()} path "{request.path}"'
