"""The serving certificate: given, kept in a directory, or made in memory; and the TLS context of the next connection.

kube-scheduler's three ways (``SecureServingOptions.MaybeDefaultWithSelfSignedCerts``):

* ``--tls-cert-file`` and ``--tls-private-key-file``: that pair, read again when the files change, without a restart;
* ``--cert-dir``: the pair ``kube-scheduler.crt`` and ``.key`` in it, made and signed by itself if missing;
* neither: a pair in memory only, for this run.
"""

import ipaddress
import logging
import os
import ssl
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from scheduler.serving.ciphers import OPENSSL_NAMES, VERSIONS

logger = logging.getLogger(__name__)

PAIR_NAME = "kube-scheduler"
_VALID_FOR = timedelta(days=365)
_SKEW = timedelta(hours=1)


class CertificateError(ValueError):
    """A certificate or key that cannot be read or does not fit; the text is one line and names the file."""


@dataclass(frozen=True, slots=True)
class TLSConfig:
    """How connections are secured. Empty names mean the defaults; names are Go's (``VersionTLS13``, ``TLS_AES_128_GCM_SHA256``)."""

    certificate: Path
    key: Path
    min_version: str = ""
    cipher_suites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServingFiles:
    """The flags about the certificate: ``--tls-cert-file``, ``--tls-private-key-file``, ``--cert-dir``, and how to use it."""

    certificate: Path | None = None
    key: Path | None = None
    directory: Path | None = None
    min_version: str = ""
    cipher_suites: tuple[str, ...] = ()


class ServingCertificate:
    """Contexts for a certificate and key in files; a changed file counts from the next connection on.

    A pair that does not fit while it is being replaced (the key is new, the certificate not yet) leaves the last good one in use, and
    the log says so: once per change of the files.
    """

    def __init__(self, config: TLSConfig) -> None:
        """Raises CertificateError when the pair cannot be used."""
        self._config = config
        self._lock = threading.Lock()
        self._stamp = self._files()
        self._context = load_context(config)

    def context(self) -> ssl.SSLContext:
        """The context for the next connection."""
        with self._lock:
            stamp = self._files()
            if stamp != self._stamp:
                self._stamp = stamp
                try:
                    self._context = load_context(self._config)
                except CertificateError as error:
                    logger.warning("the last good certificate stays in use: %s", error)
            return self._context

    def _files(self) -> tuple[object, ...]:
        return (_stamp(self._config.certificate), _stamp(self._config.key))


class ContextSource(Protocol):
    """Where the context of the next connection comes from."""

    def context(self) -> ssl.SSLContext:
        """The context to wrap the next connection with."""


class FixedContext:
    """A context that never changes: the pair in memory."""

    def __init__(self, context: ssl.SSLContext) -> None:
        self._context = context

    def context(self) -> ssl.SSLContext:
        """The context."""
        return self._context


def serving_context(files: ServingFiles, *, now: datetime) -> ContextSource:
    """The contexts that the flags ask for, in kube-scheduler's order: the files given, the directory, memory.

    Raises:
        CertificateError: files that cannot be read, do not fit, or a directory that cannot be written.
    """
    if files.certificate and files.key:
        certificate, key = files.certificate, files.key
    elif files.directory:
        certificate, key = pair_in(files.directory, now=now)
    else:
        return in_memory(files.min_version, files.cipher_suites, now=now)
    return ServingCertificate(TLSConfig(certificate, key, files.min_version, files.cipher_suites))


def load_context(config: TLSConfig) -> ssl.SSLContext:
    """A server's context for the pair and the settings.

    Raises:
        CertificateError: a file cannot be read, or certificate and key do not belong together.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = VERSIONS[config.min_version]
    suites = [OPENSSL_NAMES[name] for name in config.cipher_suites]
    legacy = [suite for suite in suites if not suite.startswith("TLS_")]
    if legacy:
        context.set_ciphers(":".join(legacy))
    for path in (config.certificate, config.key):
        try:
            path.open("rb").close()
        except OSError as error:
            raise CertificateError(f"open {path}: {str(error.strerror).lower()}") from error
    try:
        context.load_cert_chain(config.certificate, config.key)
    except (ssl.SSLError, OSError) as error:
        reason = error.reason if isinstance(error, ssl.SSLError) else error.strerror
        raise CertificateError(
            f"certificate {config.certificate} and key {config.key}: {reason or 'not PEM'}"
        ) from error
    return context


def in_memory(min_version: str = "", cipher_suites: tuple[str, ...] = (), *, now: datetime) -> FixedContext:
    """A self-signed certificate for this run only; the files that OpenSSL insists on live for the length of this call.

    Raises:
        CertificateError: there is no place for them.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="wharfinger-") as directory:
            certificate, key = write_pair(Path(directory), now=now)
            return FixedContext(load_context(TLSConfig(certificate, key, min_version, cipher_suites)))
    except OSError as error:
        raise CertificateError(f"cannot make a serving certificate: {error.strerror}") from error


def pair_in(directory: Path, *, now: datetime) -> tuple[Path, Path]:
    """Certificate and key of a ``--cert-dir``, made when one is missing.

    Raises:
        CertificateError: the directory cannot be written.
    """
    certificate, key = directory / f"{PAIR_NAME}.crt", directory / f"{PAIR_NAME}.key"
    if certificate.exists() and key.exists():
        return certificate, key
    try:
        directory.mkdir(parents=True, exist_ok=True)
        return write_pair(directory, now=now)
    except OSError as error:
        raise CertificateError(
            f"cannot write a serving certificate to {directory}: {error.strerror}"
        ) from error


def write_pair(directory: Path, *, now: datetime) -> tuple[Path, Path]:
    """A new self-signed pair in ``directory``; the key is readable by its owner only."""
    certificate_pem, key_pem = self_signed(("localhost", "127.0.0.1", "::1"), now=now)
    certificate, key = directory / f"{PAIR_NAME}.crt", directory / f"{PAIR_NAME}.key"
    certificate.write_bytes(certificate_pem)
    key.unlink(missing_ok=True)
    with os.fdopen(os.open(key, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(key_pem)
    return certificate, key


def self_signed(names: Sequence[str], *, now: datetime) -> tuple[bytes, bytes]:
    """Certificate and key in PEM, valid for a year for host names and addresses."""
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
    key_pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return certificate.public_bytes(serialization.Encoding.PEM), key_pem


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _stamp(path: Path) -> object:
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_ino, stat.st_mtime_ns, stat.st_size)
