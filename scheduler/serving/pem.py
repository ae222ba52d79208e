"""Certificates and keys in PEM files. What cannot be used is one line that names the file, never its contents."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

_LIMIT = 4 << 20
_CERTIFICATE = re.compile(rb"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)
_KEY = re.compile(rb"-----BEGIN ((?:[A-Z]+ )?PRIVATE KEY)-----.+?-----END \1-----", re.DOTALL)

PrivateKey = (
    rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey | ed25519.Ed25519PrivateKey | ed448.Ed448PrivateKey
)


class CertificateError(ValueError):
    """A certificate or key that cannot be read or does not fit; the text is one line and names the file."""


@dataclass(frozen=True, slots=True)
class KeyPair:
    """A server's certificate, those that lead from it to a root, and its key (which no repr shows)."""

    leaf: x509.Certificate
    chain: tuple[x509.Certificate, ...]
    key: PrivateKey

    def __repr__(self) -> str:
        return f"KeyPair({self.leaf.subject.rfc4514_string()})"


def read(path: Path) -> bytes:
    """A file's contents. Raises CertificateError."""
    try:
        with path.open("rb") as file:
            data = file.read(_LIMIT + 1)
    except OSError as error:
        raise CertificateError(f"open {path}: {(error.strerror or str(error)).lower()}") from error
    if len(data) > _LIMIT:
        raise CertificateError(f"{path}: larger than {_LIMIT} bytes")
    return data


def parse_certificates(data: bytes, place: object) -> tuple[x509.Certificate, ...]:
    """The certificates among the PEM blocks, at least one. Raises CertificateError, which names ``place``."""
    try:
        found = tuple(x509.load_pem_x509_certificate(block) for block in _CERTIFICATE.findall(data))
    except ValueError as error:
        raise CertificateError(f"{place}: a certificate in it is malformed") from error
    if not found:
        raise CertificateError(f"{place}: there is no certificate in it, PEM is expected")
    return found


def parse_key(data: bytes, place: object) -> PrivateKey:
    """The first private key among the PEM blocks. Raises CertificateError, which names ``place``."""
    block = _KEY.search(data)
    if block is None:
        raise CertificateError(f"{place}: there is no private key in it, PEM is expected")
    try:
        key = load_pem_private_key(block[0] + b"\n", None)
    except (ValueError, TypeError) as error:
        raise CertificateError(f"{place}: its private key is encrypted or malformed") from error
    if not isinstance(key, PrivateKey):
        raise CertificateError(f"{place}: its private key is of a kind that TLS has no use for")
    return key


def read_pair(certificate: Path, key: Path) -> KeyPair:
    """The pair in two files. Raises CertificateError when one cannot be read or they do not belong together."""
    found = parse_certificates(read(certificate), certificate)
    return fitting_pair(found, parse_key(read(key), key), f"certificate {certificate} and key {key}")


def fitting_pair(certificates: Sequence[x509.Certificate], key: PrivateKey, place: str) -> KeyPair:
    """Certificate, chain and key as a pair. Raises CertificateError when the key is another certificate's."""
    leaf, *chain = certificates
    form = (Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    if leaf.public_key().public_bytes(*form) != key.public_key().public_bytes(*form):
        raise CertificateError(f"{place}: they do not belong together")
    return KeyPair(leaf, tuple(chain), key)
