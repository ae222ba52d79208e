"""Somebody: a name, and what belongs to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"
_ANONYMOUS_NAME = "system:anonymous"
_NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class User:
    """Name, unique id, groups and whatever else is told of somebody (``extra``)."""

    name: str
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: _NOTHING)

    def as_authenticated(self) -> "User":
        """The same, in the group of all who are known (``AuthenticatedGroupAdder``)."""
        if self.name == _ANONYMOUS_NAME or {AUTHENTICATED, UNAUTHENTICATED} & set(self.groups):
            return self
        return replace(self, groups=(*self.groups, AUTHENTICATED))


ANONYMOUS = User(_ANONYMOUS_NAME, groups=(UNAUTHENTICATED,))
"""Who shows nothing."""
