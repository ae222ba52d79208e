"""What is asked: the part of a request that decides who asks and whether they may."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cryptography import x509

from scheduler.serving.tls.sockets import TLSSocket

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

Certificates = tuple[x509.Certificate, ...]


def _none() -> Certificates:
    return ()


@dataclass(frozen=True, slots=True)
class Request:
    """A request, as far as access goes.

    Attributes:
        method: in capitals.
        path: decoded, without query.
        headers: names and values as they came, repeated ones too; no repr shows them.
        certificates: what the client shows of itself, its own first, unverified. Raises ValueError when one is malformed.
    """

    method: str
    path: str
    headers: Sequence[tuple[str, str]] = field(default=(), repr=False)
    certificates: Callable[[], Certificates] = field(default=_none, repr=False)

    @property
    def verb(self) -> str:
        """As Kubernetes writes it for paths that are no resources: the method in lower case."""
        return self.method.lower()

    def values(self, header: str) -> list[str]:
        """Every value of a header that is not empty."""
        wanted = header.lower()
        return [value for name, value in self.headers if value and name.lower() == wanted]

    def value(self, header: str) -> str:
        """The first value of a header; empty when there is none."""
        return next(iter(self.values(header)), "")


def asked(environ: "WSGIEnvironment", method: str, path: str, headers: Sequence[tuple[str, str]]) -> Request:
    """The request of a WSGI environment.

    This program's own server gives certificates and headers as they came. Under another one (``gunicorn wsgi:app``) TLS is that server's business:
    no certificate counts, and with it no header that names a user.
    """
    sock = environ.get("gunicorn.socket")
    if not isinstance(sock, TLSSocket):
        return Request(method, path, headers)
    return Request(method, path, sock.request_headers, lambda: sock.peer_certificates)
