"""Users named in headers by a front proxy that proves itself by a certificate (apiserver's ``request/headerrequest``).

Without that certificate the headers mean nothing: anybody can send them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from scheduler.serving.asked import Request
from scheduler.serving.authentication.authorities import Bundle
from scheduler.serving.authentication.certificates import common_name, verified
from scheduler.serving.authentication.chain import Fault
from scheduler.serving.authentication.user import User
from scheduler.serving.authentication.verification import Verifier


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """Which headers say what; of several names and ids the first header with a value counts, of groups and extras all.

    ``allowed``: common names of front proxies, any if empty.
    """

    users: tuple[str, ...] = ()
    uids: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    extra_prefixes: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()


class RequestHeaders:
    """Users in headers behind certificates of a bundle's authorities; ``names`` are asked for at each request."""

    def __init__(self, bundle: Bundle, names: Callable[[], HeaderNames]) -> None:
        self._bundle = bundle
        self._verifier = Verifier()
        self._names = names

    def __call__(self, request: Request) -> User | Fault | None:
        """The user in the headers; nothing without a certificate or without such a header."""
        shown = verified(request, self._bundle, self._verifier)
        if shown is None or isinstance(shown, Fault):
            return shown
        names = self._names()
        proxy = common_name(shown[0])
        if names.allowed and proxy not in names.allowed:
            return Fault(f"x509: subject with cn={proxy} is not in the allowed list")
        user = _first(request, names.users)
        if not user:
            return None
        groups = tuple(value for header in names.groups for value in request.values(header))
        return User(user, _first(request, names.uids), groups, _extra(request, names.extra_prefixes))


def _first(request: Request, headers: Sequence[str]) -> str:
    return next(filter(None, map(request.value, headers)), "")


def _extra(request: Request, prefixes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for prefix in map(str.lower, prefixes):
        for name, value in request.headers:
            if name.lower().startswith(prefix):
                key = unquote(name.lower()[len(prefix) :])
                found[key] = (*found.get(key, ()), value)
    return found
