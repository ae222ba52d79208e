"""Whether a certificate comes from one of these authorities, is valid now, and is meant for clients.

Upstream: ``x509.Certificate.Verify`` with ``ExtKeyUsageClientAuth``. OpenSSL builds and checks the chain. Two things are looked at here: Go wants
every certificate in the chain that says what it is for to be for clients, and takes no signature over SHA-1 or MD5.
"""

import time
from collections.abc import Callable, Sequence

from cryptography import x509
from cryptography.hazmat.primitives.hashes import MD5, SHA1
from cryptography.x509.oid import ExtendedKeyUsageOID
from OpenSSL import crypto

from scheduler.serving.asked import Certificates
from scheduler.serving.authentication.authorities import Authorities
from scheduler.serving.remembered import Remembered

_BROKEN = (SHA1, MD5)
"""Hashes that prove nothing any more; an authority's signature of itself never did."""
_REMEMBERED = 1024
_SECONDS = 10.0
_FOR_CLIENTS = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}


def verify(shown: Sequence[x509.Certificate], authorities: Authorities) -> str | None:
    """Why the first certificate is not accepted; nothing when it is. The others may help to build its chain."""
    reason = _fault(shown, authorities)
    return f"verifying certificate {identify(shown[0])} failed: x509: {reason}" if reason else None


class Verifier:
    """`verify`, its answers kept for a moment: building a chain takes most of the time that a small request takes.

    Another bundle is another question, so an authority that is taken away counts at once; only a certificate's end may be noticed late.
    Certificates that are no good are not remembered: anybody can make as many as they like, each with a chain behind it.
    """

    def __init__(self, *, now: Callable[[], float] = time.monotonic) -> None:
        self._answers: Remembered[tuple[Certificates, Authorities], str | None] = Remembered(
            _REMEMBERED, now=now
        )

    def fault(self, shown: Certificates, authorities: Authorities) -> str | None:
        """Why the first certificate is not accepted; nothing when it is."""
        return self._answers.get((shown, authorities), lambda: self._verified(shown, authorities))

    def _verified(self, shown: Certificates, authorities: Authorities) -> tuple[str | None, float]:
        fault = verify(shown, authorities)
        return fault, 0.0 if fault else _SECONDS


def identify(certificate: x509.Certificate) -> str:
    """The certificate's serial number, which its owner can look up."""
    return f"SN={certificate.serial_number}"


def _fault(shown: Sequence[x509.Certificate], authorities: Authorities) -> str:
    leaf, *others = (crypto.X509.from_cryptography(certificate) for certificate in shown)
    try:
        verified = crypto.X509StoreContext(authorities.store, leaf, others).get_verified_chain()
    except crypto.X509StoreContextError as error:
        return str(error)
    chain = [each.to_cryptography() for each in verified]
    if not all(map(_is_for_clients, chain)):
        return "certificate specifies an incompatible key usage"
    if any(isinstance(each.signature_hash_algorithm, _BROKEN) for each in chain[:-1]):
        return "cannot verify signature: insecure algorithm"
    return ""


def _is_for_clients(certificate: x509.Certificate) -> bool:
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return not _FOR_CLIENTS.isdisjoint(usages)
