"""Whether an extender's TLS material can be used: files readable, certificates parseable, key and certificate a pair.

Upstream finds these when it builds the extenders' transports, at start, and exits. Here they are faults of the configuration
with a place. Material that the transport would not look at is not looked at either: without HTTPS, and with neither CA nor
server name nor a complete pair, the fields have no effect (client-go `transport.TLSConfigFor`). No message ever quotes
the material.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

from scheduler.apis.config.types import Extender, ExtenderTLSConfig
from scheduler.apis.fielderror import FieldError, forbidden, invalid

Faults = Iterator[FieldError]


def tls_faults(path: str, extender: Extender) -> Faults:
    """The faults of `extender.tls_config`, which stands at `path`."""
    tls = extender.tls_config
    if tls is None:
        return
    authority = bool(tls.ca_data or tls.ca_file)
    pair = bool((tls.cert_data or tls.cert_file) and (tls.key_data or tls.key_file))
    insecure = tls.insecure or (extender.enable_https and not authority)
    if authority and insecure:
        yield forbidden(path, "specifying a root certificates file with the insecure flag is not allowed")
    elif authority or pair or insecure or tls.server_name:
        yield from _material_faults(path, tls, authority=authority, pair=pair)


def _material_faults(path: str, tls: ExtenderTLSConfig, *, authority: bool, pair: bool) -> Faults:
    found: dict[str, bytes] = {}
    for name, data, file in (
        ("ca", tls.ca_data, tls.ca_file),
        ("cert", tls.cert_data, tls.cert_file),
        ("key", tls.key_data, tls.key_file),
    ):
        try:
            found[name] = data or (Path(file).read_bytes() if file else b"")
        except OSError as error:
            yield invalid(f"{path}.{name}File", file, error.strerror or "cannot be read")
    if len(found) < 3:
        return
    if authority and not _certificates(found["ca"]):
        yield forbidden(_place(path, "ca", data=bool(tls.ca_data)), "unable to load root certificates")
    if pair and not _is_pair(found["cert"], found["key"]):
        place = _place(path, "cert", data=bool(tls.cert_data))
        yield forbidden(
            place, "the certificate and its private key cannot be read, or do not belong together"
        )


def _place(path: str, name: str, *, data: bool) -> str:
    return f"{path}.{name}{'Data' if data else 'File'}"


def _certificates(pem: bytes) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(pem)
    except ValueError:
        return []


def _is_pair(certificate_pem: bytes, key_pem: bytes) -> bool:
    certificates = _certificates(certificate_pem)
    try:
        key = load_pem_private_key(key_pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return False

    def encoded(public: x509.Certificate) -> bytes:
        return public.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    public_key = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return bool(certificates) and encoded(certificates[0]) == public_key
