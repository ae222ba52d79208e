"""Certificates: given, kept in a directory, made in memory, replaced while serving."""

import http.client
import ssl
import stat
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
import trustme
from cryptography import x509

from scheduler.serving.ciphers import OPENSSL_NAMES
from scheduler.serving.http import Server
from scheduler.serving.tls import (
    CertificateError,
    ServingCertificate,
    ServingFiles,
    TLSConfig,
    load_context,
    serving_context,
)
from tests.serving.builders import write_pair

Serve = Callable[..., Server]
NOW = datetime.now(UTC)


def unverified() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def peer(server: Server, context: ssl.SSLContext) -> tuple[x509.Certificate, str | None]:
    """The certificate and TLS version that a client meets."""
    with closing(
        http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=20)
    ) as client:
        client.request("GET", "/healthz")
        assert client.getresponse().read() == b"ok"
        assert isinstance(client.sock, ssl.SSLSocket)
        raw = client.sock.getpeercert(binary_form=True)
        assert raw is not None
        return x509.load_der_x509_certificate(raw), client.sock.version()


def test_without_files_a_certificate_for_localhost_is_made(serve: Serve) -> None:
    found, _ = peer(serve(tls=serving_context(ServingFiles(), now=NOW)), unverified())
    names = found.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]


def test_a_made_certificate_can_be_trusted_by_pinning_it(serve: Serve, tmp_path: Path) -> None:
    server = serve(tls=serving_context(ServingFiles(directory=tmp_path), now=NOW))
    pinned = ssl.create_default_context(cafile=str(tmp_path / "kube-scheduler.crt"))
    peer(server, pinned)


def test_a_directory_keeps_its_pair(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "certs"
    serving_context(ServingFiles(directory=directory), now=NOW)
    made = (directory / "kube-scheduler.crt").read_bytes()
    assert stat.S_IMODE((directory / "kube-scheduler.key").stat().st_mode) == 0o600
    serving_context(ServingFiles(directory=directory), now=NOW)
    assert (directory / "kube-scheduler.crt").read_bytes() == made


def test_a_given_pair_is_verified_by_clients(
    serve: Serve, certificate: ServingCertificate, trust: ssl.SSLContext
) -> None:
    server = serve(tls=certificate)
    with closing(http.client.HTTPSConnection("localhost", server.port, context=trust, timeout=20)) as client:
        client.request("GET", "/healthz")
        assert client.getresponse().read() == b"ok"


def test_a_replaced_pair_counts_from_the_next_connection(
    serve: Serve, authority: trustme.CA, tmp_path: Path
) -> None:
    files = write_pair(authority.issue_cert("localhost"), tmp_path)
    server = serve(tls=ServingCertificate(TLSConfig(*files)))
    before, _ = peer(server, unverified())
    write_pair(authority.issue_cert("localhost"), tmp_path)
    after, _ = peer(server, unverified())
    assert before.serial_number != after.serial_number


def test_half_a_replacement_leaves_the_last_pair_in_use_and_is_told(
    serve: Serve, authority: trustme.CA, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate, key = write_pair(authority.issue_cert("localhost"), tmp_path)
    server = serve(tls=ServingCertificate(TLSConfig(certificate, key)))
    before, _ = peer(server, unverified())
    new = authority.issue_cert("localhost")
    key.write_bytes(new.private_key_pem.bytes())
    assert peer(server, unverified())[0].serial_number == before.serial_number
    assert "the last good certificate stays in use" in caplog.text
    certificate.write_bytes(b"".join(blob.bytes() for blob in new.cert_chain_pems))
    assert peer(server, unverified())[0].serial_number != before.serial_number


def test_minimum_version_refuses_older_clients(serve: Serve) -> None:
    server = serve(tls=serving_context(ServingFiles(min_version="VersionTLS13"), now=NOW))
    old = unverified()
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    with pytest.raises(ssl.SSLError):
        peer(server, old)
    assert peer(server, unverified())[1] == "TLSv1.3"


def test_cipher_suites_restrict_older_versions(serve: Serve) -> None:
    suites = ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",)
    server = serve(tls=serving_context(ServingFiles(cipher_suites=suites), now=NOW))
    old = unverified()
    old.maximum_version = ssl.TLSVersion.TLSv1_2
    old.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
    with pytest.raises(ssl.SSLError):
        peer(server, old)


@pytest.mark.parametrize("name", OPENSSL_NAMES)
def test_openssl_knows_every_suite(name: str, certificate: ServingCertificate, tmp_path: Path) -> None:
    config = TLSConfig(tmp_path / "tls.crt", tmp_path / "tls.key", cipher_suites=(name,))
    assert OPENSSL_NAMES[name] in {cipher["name"] for cipher in load_context(config).get_ciphers()}


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match=r"open .*/no\.crt: no such file or directory"):
        serving_context(ServingFiles(tmp_path / "no.crt", tmp_path / "no.key"), now=NOW)


def test_a_pair_that_does_not_match_is_named(authority: trustme.CA, tmp_path: Path) -> None:
    certificate, key = write_pair(authority.issue_cert("localhost"), tmp_path)
    key.write_bytes(authority.issue_cert("localhost").private_key_pem.bytes())
    with pytest.raises(CertificateError, match=r"tls\.crt and key .*tls\.key: .*MISMATCH"):
        serving_context(ServingFiles(certificate, key), now=NOW)


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CertificateError, match=r"cannot write a serving certificate to .*/file/certs"):
        serving_context(ServingFiles(directory=tmp_path / "file" / "certs"), now=NOW)


def test_a_certificate_in_memory_needs_a_temporary_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    with pytest.raises(
        CertificateError, match="cannot make a serving certificate: No such file or directory"
    ):
        serving_context(ServingFiles(), now=NOW)


def test_a_pair_that_is_no_pem_is_named(tmp_path: Path) -> None:
    file = tmp_path / "tls.pem"
    file.write_text("x")
    with pytest.raises(CertificateError, match=r"tls\.pem and key .*tls\.pem: \w+"):
        serving_context(ServingFiles(file, file), now=NOW)


def test_no_key_is_left_behind_by_a_certificate_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    serving_context(ServingFiles(), now=NOW)
    assert [*tmp_path.iterdir()] == []
