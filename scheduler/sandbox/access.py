"""Who the sandbox knows, and what they may do: the one table that reviews are answered from.

A test puts people and permissions into it; the sandbox itself lets everybody do everything whatever the table says::

    sandbox.access.know("t0ken", "jane", groups=["ops"])
    sandbox.access.grant("ops", "get", "/metrics")
    sandbox.access.asked                   # the specs of the reviews so far
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
_REMEMBERED = 1000


@dataclass(frozen=True, slots=True)
class Grant:
    """``subject`` (a user or a group) may do ``verb`` with a path or ``group/resource``; ``*`` is anything, also at the end of a path."""

    subject: str
    verb: str
    target: str

    def covers(self, subjects: Sequence[str], verb: str, target: str) -> bool:
        """Whether it allows one of the subjects that."""
        reached = target == self.target or (self.target[-1:] == "*" and target.startswith(self.target[:-1]))
        return reached and self.verb in ("*", verb) and self.subject in subjects


@dataclass(slots=True)
class Access:
    """The table. Thread-safe."""

    asked: deque[Object] = field(default_factory=lambda: deque(maxlen=_REMEMBERED))
    _empty: bool = True
    _known: dict[str, Object] = field(default_factory=dict)
    _grants: list[Grant] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def know(self, token: str, name: str, *, groups: Sequence[str] = (), **more: Any) -> None:
        """From now on this token is this user's; ``more``: ``uid``, ``extra``."""
        with self._lock:
            self._empty = False
            self._known[token] = {"username": name, "groups": [*groups, "system:authenticated"], **more}

    def forget(self, token: str) -> None:
        """The token is nobody's any more."""
        with self._lock:
            self._known.pop(token, None)

    def grant(self, subject: str, verb: str, target: str) -> None:
        """Allow a user or a group something (see `Grant`)."""
        with self._lock:
            self._grants.append(Grant(subject, verb, target))

    def revoke(self, subject: str) -> None:
        """Take every permission of a user or a group away."""
        with self._lock:
            self._grants = [each for each in self._grants if each.subject != subject]

    def user(self, token: str) -> Object | None:
        """Whose token it is."""
        with self._lock:
            return self._known.get(token)

    @property
    def knows_nobody(self) -> bool:
        """Whether no token ever was anybody's."""
        return self._empty

    def allows(self, spec: Object) -> bool:
        """Whether what the spec of a SubjectAccessReview asks about is granted."""
        subjects = (spec.get("user") or "", *(spec.get("groups") or ()))
        verb, target = _wanted(spec)
        with self._lock:
            return any(each.covers(subjects, verb, target) for each in self._grants)

    def note(self, spec: Object) -> None:
        """Remember that a review was asked for."""
        with self._lock:
            self.asked.append(spec)


def _wanted(spec: Object) -> tuple[str, str]:
    path = spec.get("nonResourceAttributes")
    if path is not None:
        return path.get("verb") or "", path.get("path") or ""
    resource = spec.get("resourceAttributes") or {}
    return resource.get("verb") or "", f"{resource.get('group') or ''}/{resource.get('resource') or ''}"
