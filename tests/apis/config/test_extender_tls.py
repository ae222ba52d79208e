"""An extender's TLS material: unusable material is a fault of the file, and is never quoted."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.apis.config.loading import faults, loaded

AUTHORITY = trustme.CA()
CERTIFICATE = AUTHORITY.issue_cert("extender.example")
OTHER = AUTHORITY.issue_cert("other.example")


def b64(pem: trustme.Blob | bytes) -> str:
    """Base64 of a PEM."""
    return base64.b64encode(pem if isinstance(pem, bytes) else pem.bytes()).decode()


def extender(**tls: Any) -> dict[str, Any]:
    """One extender over HTTPS with this TLS configuration."""
    return {"extenders": [{"urlPrefix": "https://x", "enableHTTPS": True, "tlsConfig": tls}]}


CA = b64(AUTHORITY.cert_pem)
CERT = b64(CERTIFICATE.cert_chain_pems[0])
KEY = b64(CERTIFICATE.private_key_pem)


@pytest.mark.parametrize(
    "tls",
    [
        {},
        {"insecure": True},
        {"serverName": "x"},
        {"caData": CA},
        {"caData": CA, "certData": CERT, "keyData": KEY},
        {"certData": CERT, "keyData": KEY},
        {"certData": "eA=="},
    ],
    ids=["none", "insecure", "name", "ca", "all", "pair", "half a pair is not looked at"],
)
def test_usable_material_is_accepted(tls: dict[str, Any]) -> None:
    loaded(**extender(**tls))


@pytest.mark.parametrize(
    ("tls", "place"),
    [
        ({"insecure": True, "caData": CA}, "tlsConfig: Forbidden"),
        ({"caData": "eA=="}, "tlsConfig.caData: Forbidden"),
        (
            {"caFile": "/no/such/file"},
            'tlsConfig.caFile: Invalid value: "/no/such/file": No such file or directory',
        ),
        ({"certFile": "/no/such/file"}, 'tlsConfig.certFile: Invalid value: "/no/such/file"'),
        ({"certData": "eA==", "keyData": KEY}, "tlsConfig.certData: Forbidden"),
        ({"certData": CERT, "keyData": "eA=="}, "tlsConfig.certData: Forbidden"),
        ({"certData": CERT, "keyData": b64(OTHER.private_key_pem)}, "tlsConfig.certData: Forbidden"),
    ],
    ids=["insecure with ca", "bad ca", "no ca file", "no cert file", "bad cert", "bad key", "no pair"],
)
def test_unusable_material_is_refused_without_being_quoted(tls: dict[str, Any], place: str) -> None:
    lines = faults(**extender(**tls))
    assert len(lines) == 1
    assert lines[0].startswith(f"extenders[0].{place}")
    assert "BEGIN" not in lines[0]


def test_material_may_be_in_files(tmp_path: Path) -> None:
    for name, pem in (
        ("ca", AUTHORITY.cert_pem),
        ("cert", CERTIFICATE.cert_chain_pems[0]),
        ("key", CERTIFICATE.private_key_pem),
    ):
        (tmp_path / name).write_bytes(pem.bytes())
    files = {f"{name}File": str(tmp_path / name) for name in ("ca", "cert", "key")}
    loaded(**extender(**files))
    (tmp_path / "key").write_text("not a key")
    assert len(faults(**extender(**files))) == 1


def test_without_https_and_without_material_nothing_is_looked_at() -> None:
    loaded(extenders=[{"urlPrefix": "http://x", "tlsConfig": {"keyFile": "/no/such/file"}}])
