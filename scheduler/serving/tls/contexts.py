"""The settings of connections: built from certificates and flags, and built anew when a certificate or a CA bundle changes.

::

    pairs, client CAs ── asked for each connection ──► changed? ── no ──► the contexts that are there
                                                          └── yes ─► new ones; connections that are open keep theirs
"""

import ipaddress
import socket
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from cryptography import x509
from OpenSSL import SSL
from OpenSSL._util import lib  # what pyOpenSSL has no method for, see `_limit_groups`

from scheduler.serving.ciphers import GROUPS, VERSIONS, cipher_list
from scheduler.serving.pem import CertificateError, KeyPair
from scheduler.serving.tls.names import index_by_name, is_valid_for, position_for
from scheduler.serving.tls.sockets import TLSSocket

Authorities = Sequence[x509.Certificate]


@dataclass(frozen=True, slots=True)
class Settings:
    """What may be negotiated. Empty means the defaults; names and numbers are Go's (``VersionTLS13``, ``TLS_AES_128_GCM_SHA256``, 29)."""

    min_version: str = ""
    cipher_suites: tuple[str, ...] = ()
    groups: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class NamedPair:
    """A pair for some host names, or for those in its certificate."""

    current: Callable[[], KeyPair]
    patterns: tuple[str, ...] = ()


class ContextSource(Protocol):
    """Where the TLS of the next connection comes from."""

    def wrap(self, sock: socket.socket) -> TLSSocket:
        """The server's side of TLS over a connection; nothing has been read or written yet."""


@dataclass(frozen=True, slots=True)
class _Built:
    default: SSL.Context
    named: tuple[SSL.Context, ...] = ()
    positions: dict[str, int] = field(default_factory=dict)


class TLSContexts:
    """Contexts for a default pair and for named ones. Thread-safe.

    ``authorities`` tells whom client certificates may come from: nothing means that none is asked for, an empty list that any may be shown.
    Nothing is verified here, whoever reads the certificate does that.
    """

    def __init__(
        self,
        default: Callable[[], KeyPair],
        settings: Settings | None = None,
        *,
        named: Sequence[NamedPair] = (),
        authorities: Callable[[], Authorities] | None = None,
    ) -> None:
        """Raises CertificateError when OpenSSL refuses a pair or a setting."""
        self._settings = settings or Settings()
        self._default = default
        self._named = tuple(named)
        self._authorities = authorities
        self._lock = threading.Lock()
        self._parts: tuple[object, ...] = ()
        self._built = self._current()

    def wrap(self, sock: socket.socket) -> TLSSocket:
        """The server's side of TLS over a connection."""
        with self._lock:
            built = self._current()
        return TLSSocket(sock, built.default)

    def _current(self) -> _Built:
        pairs = [self._default(), *(each.current() for each in self._named)]
        authorities = None if self._authorities is None else tuple(self._authorities())
        parts = (*pairs, authorities)
        if parts != self._parts:
            self._built = self._build(pairs, authorities)
            self._parts = parts
        return self._built

    def _build(self, pairs: Sequence[KeyPair], authorities: Authorities | None) -> _Built:
        default, *named = (build(pair, self._settings, authorities) for pair in pairs)
        leaves = [(pair.leaf, each.patterns) for pair, each in zip(pairs[1:], self._named, strict=True)]
        built = _Built(default, tuple(named), index_by_name(leaves))
        certificates = [pair.leaf for pair in pairs]

        def choose(connection: SSL.Connection) -> None:
            host = (connection.get_servername() or b"").decode("latin-1")
            if host:
                position = _position(host, built, certificates)
            else:
                position = built.positions.get(_local_address(connection))
            if position is not None:
                connection.set_context(built.named[position])

        if named:
            default.set_tlsext_servername_callback(choose)
        return built


def build(pair: KeyPair, settings: Settings, authorities: Authorities | None = None) -> SSL.Context:
    """One context.

    Raises:
        CertificateError: OpenSSL refuses the pair or a setting.
    """
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    try:
        _limit(context, settings)
        context.use_certificate(pair.leaf)
        for certificate in pair.chain:
            context.add_extra_chain_cert(certificate)
        context.use_privatekey(pair.key)
    except SSL.Error as error:
        reasons = "; ".join(str(each[-1]) for each in error.args[0]) if error.args else "refused"
        raise CertificateError(f"{pair}: {reasons}") from error
    if authorities is not None:
        context.set_verify(SSL.VERIFY_PEER, lambda *_: True)
        for authority in authorities:
            context.add_client_ca(authority)
    return context


def _limit(context: SSL.Context, settings: Settings) -> None:
    """Versions, suites and groups; no resumption either: a resumed session would not show the client's certificates again."""
    context.set_options(SSL.OP_NO_RENEGOTIATION | SSL.OP_NO_TICKET | SSL.OP_NO_COMPRESSION)
    context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
    version = VERSIONS[settings.min_version]
    suites = cipher_list(settings.cipher_suites, version)
    if suites:
        context.set_cipher_list(suites.encode())
    context.set_min_proto_version(version if suites else SSL.TLS1_3_VERSION)
    if settings.groups:
        _limit_groups(context, settings.groups)


def _limit_groups(context: Any, groups: Sequence[int]) -> None:
    """Restrict the key exchange. OpenSSL has a call for it, of which pyOpenSSL makes no method; where it is gone, nothing may seem to work."""
    names = ":".join(GROUPS[number] for number in groups)
    limit = getattr(lib, "SSL_CTX_set1_curves_list", None)
    if limit is None or limit(context._context, names.encode()) != 1:  # noqa: SLF001  # see above
        raise CertificateError(f"--tls-curve-preferences: this OpenSSL cannot be limited to {names}")


def _position(host: str, built: _Built, certificates: Sequence[x509.Certificate]) -> int | None:
    position = position_for(host, built.positions)
    if position is not None:
        return position
    valid = next((index for index, each in enumerate(certificates) if is_valid_for(each, host)), 0)
    return valid - 1 if valid else None


def _local_address(connection: SSL.Connection) -> str:
    """The address that the client connected to, an IPv4 address over an IPv6 socket as itself; empty when the client has gone."""
    try:
        address = str(connection.getsockname()[0])
    except OSError:
        return ""
    try:
        mapped = ipaddress.IPv6Address(address).ipv4_mapped
    except ValueError:
        return address
    return str(mapped or address)
