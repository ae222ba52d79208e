"""Client certificates: the common name is the user, the organizations are the groups (apiserver's ``authentication/request/x509``)."""

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.x509.oid import NameOID, ObjectIdentifier
from OpenSSL import SSL, crypto

from scheduler.serving.asked import Certificates, Request
from scheduler.serving.authentication.authorities import Bundle
from scheduler.serving.authentication.chain import Fault
from scheduler.serving.authentication.user import User
from scheduler.serving.authentication.verification import Verifier

_UID = ObjectIdentifier("1.3.6.1.4.1.57683.2")
"""Kubernetes' own attribute for the user's unique id."""
_MALFORMED = (
    ValueError,
    UnsupportedAlgorithm,
    SSL.Error,
    crypto.Error,
    x509.DuplicateExtension,
    x509.InvalidVersion,
    x509.UnsupportedGeneralNameType,
)
"""What reading a certificate that somebody else made may raise."""
_CREDENTIAL_ID = "authentication.kubernetes.io/credential-id"


class ClientCertificates:
    """Users behind certificates of a bundle's authorities.

    ``reads_uid``: whether the attribute for unique ids counts (feature gate AllowParsingUserUIDFromCertAuth).
    """

    def __init__(self, bundle: Bundle, *, reads_uid: bool = True) -> None:
        self._bundle = bundle
        self._verifier = Verifier()
        self._reads_uid = reads_uid

    def __call__(self, request: Request) -> User | Fault | None:
        """The certificate's user; nothing without a certificate, or while the authorities are not known."""
        shown = verified(request, self._bundle, self._verifier)
        if shown is None or isinstance(shown, Fault):
            return shown
        try:
            return self._user(shown[0])
        except _MALFORMED as error:
            return Fault(str(error))

    def _user(self, certificate: x509.Certificate) -> User | None:
        names = _attributes(certificate, NameOID.COMMON_NAME)
        if not names or not names[-1]:
            return None
        fingerprint = certificate.fingerprint(SHA256()).hex()
        return User(
            names[-1],
            _uid(certificate) if self._reads_uid else "",
            tuple(_attributes(certificate, NameOID.ORGANIZATION_NAME)),
            {_CREDENTIAL_ID: (f"X509SHA256={fingerprint}",)},
        )


def verified(request: Request, bundle: Bundle, verifier: Verifier) -> Certificates | Fault | None:
    """The certificates that a client shows, if its own is one of the bundle's; nothing when it shows none, or nobody could tell."""
    try:
        shown = request.certificates()
        authorities = bundle() if shown else None
        if authorities is None:
            return None
        reason = verifier.fault(shown, authorities)
    except _MALFORMED as error:
        return Fault(f"the client's certificate is malformed: {error}")
    return Fault(reason) if reason else shown


def common_name(certificate: x509.Certificate) -> str:
    """The subject's common name, the last one as in Go; empty when there is none."""
    return next(reversed(_attributes(certificate, NameOID.COMMON_NAME)), "")


def _attributes(certificate: x509.Certificate, oid: ObjectIdentifier) -> list[str]:
    return [_text(attribute.value) for attribute in certificate.subject.get_attributes_for_oid(oid)]


def _uid(certificate: x509.Certificate) -> str:
    """Raises ValueError when there are several, or an empty one."""
    found = _attributes(certificate, _UID)
    if len(found) > 1:
        raise ValueError(f"expected 1 UID, but found multiple: {found}")
    if found == [""]:
        raise ValueError("UID cannot be an empty string")
    return found[0] if found else ""


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode(errors="replace")
