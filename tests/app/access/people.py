"""Certificate authorities, and people with certificates."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

UID = ObjectIdentifier("1.3.6.1.4.1.57683.2")
CLIENT = (ExtendedKeyUsageOID.CLIENT_AUTH,)
DAY = timedelta(days=1)


def subject(name: str, organizations: Sequence[str] = (), uids: Sequence[str] = ()) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, each) for each in organizations]
    if name:
        attributes.append(x509.NameAttribute(NameOID.COMMON_NAME, name))
    return x509.Name([*attributes, *(x509.NameAttribute(UID, each) for each in uids)])


@dataclass
class Authority:
    """A self-signed authority, or one below another."""

    name: str = "people"
    above: "Authority | None" = None
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    certificate: x509.Certificate = field(init=False)

    def __post_init__(self) -> None:
        signer = self.above or self
        issuer = self.above.certificate.subject if self.above else subject(self.name)
        self.certificate = (
            _builder(subject(self.name), issuer, self.key, DAY)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(signer.key, hashes.SHA256())
        )

    @property
    def pem(self) -> bytes:
        return self.certificate.public_bytes(Encoding.PEM)

    @property
    def key_pem(self) -> bytes:
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())

    def write(self, path: Path) -> Path:
        path.write_bytes(self.pem)
        return path

    def person(
        self,
        folder: Path,
        name: str,
        organizations: Sequence[str] = (),
        *,
        uids: Sequence[str] = (),
        usages: Sequence[ObjectIdentifier] = CLIENT,
        valid_for: timedelta = DAY,
    ) -> Path:
        """A file with certificate, the authorities between it and the root, and key."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject(name, organizations, uids), self.certificate.subject, key, valid_for)
        if usages:
            builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
        path = (
            folder / f"{name.replace(':', '-') or 'nobody'}-{x509.random_serial_number()}.pem"
        )  # curl reads a colon as a password
        chain = [builder.sign(self.key, hashes.SHA256()), *([self.certificate] if self.above else [])]
        pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        path.write_bytes(b"".join(each.public_bytes(Encoding.PEM) for each in chain) + pem)
        return path


def _builder(
    owner: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, valid_for: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(owner)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 10 * DAY)
        .not_valid_after(now + valid_for)
    )
