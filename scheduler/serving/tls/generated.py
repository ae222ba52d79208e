"""A self-signed serving certificate, for when none is given (``SecureServingOptions.MaybeDefaultWithSelfSignedCerts``)."""

import ipaddress
import logging
import os
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from scheduler.serving.pem import CertificateError, KeyPair

logger = logging.getLogger(__name__)

PAIR_NAME = "kube-scheduler"
_VALID_FOR = timedelta(days=365)
_SKEW = timedelta(hours=1)
_NAMES = ("localhost", "127.0.0.1", "::1")


def names_for(bind_address: str) -> tuple[str, ...]:
    """What a made certificate is valid for: this machine's own name for itself, and the address that is listened on."""
    unspecified = ipaddress.ip_address(bind_address).is_unspecified
    return _NAMES if unspecified or bind_address in _NAMES else (*_NAMES, bind_address)


def self_signed(names: Sequence[str], *, now: datetime) -> KeyPair:
    """A pair valid for a year for host names and addresses."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"{names[0]}@{int(now.timestamp())}")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + _VALID_FOR)
        .add_extension(x509.SubjectAlternativeName([_general_name(name) for name in names]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .sign(key, hashes.SHA256())
    )
    return KeyPair(certificate, (), key)


def pair_in(directory: Path, names: Sequence[str], *, now: datetime) -> tuple[Path, Path]:
    """Certificate and key of a ``--cert-dir``, made when there is neither.

    Raises:
        CertificateError: only one of the two can be read, or the directory cannot be written.
    """
    certificate, key = directory / f"{PAIR_NAME}.crt", directory / f"{PAIR_NAME}.key"
    there = [os.access(path, os.R_OK) for path in (certificate, key)]
    if all(there):
        return certificate, key
    if any(there):
        missing = key if there[0] else certificate
        raise CertificateError(
            f"error reading {missing}, certificate and key must be supplied as a pair: remove the other one to have both made anew"
        )
    try:
        _write(self_signed(names, now=now), certificate, key)
    except OSError as error:
        raise CertificateError(
            f"cannot write a serving certificate to {directory}: {error.strerror}"
        ) from error
    logger.info("Generated self-signed cert (%s, %s)", certificate, key)
    return certificate, key


def _write(pair: KeyPair, certificate: Path, key: Path) -> None:
    """The key is readable by its owner only."""
    certificate.parent.mkdir(parents=True, exist_ok=True)
    pem = pair.key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(pem)
    certificate.write_bytes(pair.leaf.public_bytes(serialization.Encoding.PEM))


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)
