"""Paths that need no permission (``--authorization-always-allow-paths``; apiserver's ``authorization/path``)."""

from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.serving.asked import Request
from scheduler.serving.authentication.user import User
from scheduler.serving.authorization.chain import ALLOWED, NO_OPINION, Decision


class PathError(ValueError):
    """A pattern with ``*`` elsewhere than at its end."""


@dataclass(frozen=True, slots=True)
class OpenPaths:
    """Paths that everybody may ask, exact or with a trailing ``*``; a leading ``/`` is optional."""

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

    def __call__(self, user: User, request: Request) -> Decision:  # noqa: ARG002  # an Authorizer
        """Allow whoever asks for one of them."""
        return ALLOWED if request.path in self else NO_OPINION
