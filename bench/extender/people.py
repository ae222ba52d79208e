"""A client certificate and the authority behind it, for TLS as kube-scheduler speaks it to an extender."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_HOUR = timedelta(hours=1)


class Identity(NamedTuple):
    """Files: the authority's certificate; the client's certificate and key in one."""

    authority: Path
    client: Path

    @classmethod
    def make(cls, folder: Path) -> Identity:
        """A new one, of a member of ``system:masters``."""
        made = cls(folder / "authority.crt", folder / "client.pem")
        keys = [ec.generate_private_key(ec.SECP256R1()) for _ in range(2)]
        root = _certificate(_name("authority"), _name("authority"), keys[0], keys[0])
        user = _certificate(_name("kube-scheduler", "system:masters"), _name("authority"), keys[1], keys[0])
        made.authority.write_bytes(root.public_bytes(Encoding.PEM))
        key = keys[1].private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
        made.client.write_bytes(user.public_bytes(Encoding.PEM) + key)
        return made


def _name(common_name: str, organization: str = "bench") -> x509.Name:
    return x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, organization),
            x509.NameAttribute(NameOID.COMMON_NAME, common_name),
        ]
    )


def _certificate(
    owner: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, signer: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(owner)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _HOUR)
        .not_valid_after(now + _HOUR)
        .add_extension(x509.BasicConstraints(ca=owner == issuer, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(signer, hashes.SHA256())
    )
