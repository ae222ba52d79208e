"""CA bundles: the authorities from which certificates are accepted, as of now."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from cryptography import x509
from OpenSSL import crypto

from scheduler.serving.followed import Followed
from scheduler.serving.pem import parse_certificates, read

_PARTIAL_CHAIN = crypto.X509StoreFlags.PARTIAL_CHAIN


class Authorities:
    """The certificates of one bundle, any of which may end a chain, intermediate ones too, as in Go."""

    def __init__(self, certificates: tuple[x509.Certificate, ...]) -> None:
        self.certificates = certificates
        self.store = crypto.X509Store()
        self.store.set_flags(_PARTIAL_CHAIN)
        for certificate in certificates:
            self.store.add_cert(crypto.X509.from_cryptography(certificate))


Bundle = Callable[[], Authorities | None]
"""The bundle as of now; nothing while it is not known."""


def parse_bundle(data: bytes, place: object) -> Authorities:
    """The bundle in PEM text. Raises CertificateError, which names ``place``."""
    return Authorities(parse_certificates(data, place))


def bundle_file(path: Path, what: str) -> Bundle:
    """The bundle in a file, followed when it changes. Raises CertificateError when it is no good now."""
    return Followed(what, (path,), partial(_load, path)).current


def _load(path: Path) -> Authorities:
    return parse_bundle(read(path), path)
