"""Whether a certificate comes from one of these authorities, is valid now, and is meant for clients.

Upstream: ``x509.Certificate.Verify`` with ``ExtKeyUsageClientAuth``. OpenSSL builds and checks the chain; what a certificate is meant for is
looked at here, since Go wants it of every certificate in the chain that says anything about it.
"""

from collections.abc import Sequence

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID
from OpenSSL import crypto

from scheduler.serving.authentication.authorities import Authorities

_FOR_CLIENTS = {ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE}


def verify(shown: Sequence[x509.Certificate], authorities: Authorities) -> str | None:
    """Why the first certificate is not accepted; nothing when it is. The others may help to build its chain."""
    leaf, *others = (crypto.X509.from_cryptography(certificate) for certificate in shown)
    try:
        chain = crypto.X509StoreContext(authorities.store, leaf, others).get_verified_chain()
    except crypto.X509StoreContextError as error:
        return f"verifying certificate {identify(shown[0])} failed: x509: {error}"
    if not all(_is_for_clients(each.to_cryptography()) for each in chain):
        return f"verifying certificate {identify(shown[0])} failed: x509: certificate specifies an incompatible key usage"
    return None


def identify(certificate: x509.Certificate) -> str:
    """The certificate's serial number, which its owner can look up."""
    return f"SN={certificate.serial_number}"


def _is_for_clients(certificate: x509.Certificate) -> bool:
    try:
        usages = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return True
    return not _FOR_CLIENTS.isdisjoint(usages)
