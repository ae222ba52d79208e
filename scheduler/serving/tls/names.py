"""Which of several certificates a client gets, by the host name or the address that it asks for (``--tls-sni-cert-key``).

The rules are kube-scheduler's (``dynamiccertificates`` and ``crypto/tls``): a name beats a wildcard; patterns of the flag beat names in
certificates; of equals the first flag wins; a wildcard stands for one label. A client that names no host gets the certificate of the address
that it connected to, when a pattern is that address. Who fits nowhere gets the first certificate that is valid for the name, else the default.
"""

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence

from cryptography import x509
from cryptography.x509.oid import NameOID

_DOMAIN = re.compile(r"(?:\*\.)?[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*")


def index_by_name(named: Sequence[tuple[x509.Certificate, Sequence[str]]]) -> dict[str, int]:
    """Patterns and the position of the certificate that each of them gets; without patterns a certificate goes by its own names."""
    explicit: dict[str, int] = {}
    extracted: dict[str, int] = {}
    for position, (certificate, patterns) in enumerate(named):
        table = explicit if patterns else extracted
        for pattern in patterns or own_names(certificate):
            table.setdefault(pattern.lower(), position)
    return extracted | explicit


def position_for(host: str, positions: Mapping[str, int]) -> int | None:
    """The position that a host name gets, or nothing when no pattern fits."""
    host = host.lower()
    if host in positions:
        return positions[host]
    first, dot, rest = host.partition(".")
    return positions.get(f"*{dot}{rest}") if first else None


def own_names(certificate: x509.Certificate) -> Iterator[str]:
    """The common name, if it is a domain's, and the DNS names of a certificate."""
    for attribute in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME):
        common = str(attribute.value)
        if common == "*" or (_DOMAIN.fullmatch(common) and not _is_address(common)):
            yield common
    yield from _dns_names(certificate)


def is_valid_for(certificate: x509.Certificate, host: str) -> bool:
    """Whether a client that asks for ``host`` would accept the certificate's names."""
    names = {name.lower() for name in _dns_names(certificate)}
    host = host.lower()
    _, dot, rest = host.partition(".")
    return host in names or f"*{dot}{rest}" in names


def _dns_names(certificate: x509.Certificate) -> list[str]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except (x509.ExtensionNotFound, x509.DuplicateExtension, x509.UnsupportedGeneralNameType, ValueError):
        return []  # none, or none that a client could read
    return found.value.get_values_for_type(x509.DNSName)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
