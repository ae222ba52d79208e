"""The serving certificate: given, kept in a directory, made in memory, replaced while serving."""

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
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from scheduler.serving.http import Server
from scheduler.serving.tls import CertificateError, ServingFiles, TLSContexts, serving_tls
from tests.serving.builders import write_pair
from tests.serving.tls.clients import peer

Serve = Callable[..., Server]
NOW = datetime.now(UTC)


def serving(**files: object) -> TLSContexts:
    return serving_tls(ServingFiles(**files), now=NOW)  # type: ignore[arg-type]


def names(certificate: x509.Certificate) -> list[str]:
    found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return [
        *found.get_values_for_type(x509.DNSName),
        *map(str, found.get_values_for_type(x509.IPAddress)),
    ]


@pytest.mark.parametrize(
    ("address", "more"),
    [("::", []), ("127.0.0.1", []), ("10.1.2.3", ["10.1.2.3"])],
)
def test_without_files_a_certificate_for_localhost_and_the_address_is_made(
    serve: Serve, address: str, more: list[str]
) -> None:
    found, _ = peer(serve(tls=serving(bind_address=address)))
    assert names(found) == ["localhost", "127.0.0.1", "::1", *more]


def test_a_made_certificate_can_be_trusted_by_pinning_it(serve: Serve, tmp_path: Path) -> None:
    server = serve(tls=serving(directory=tmp_path))
    peer(server, ssl.create_default_context(cafile=str(tmp_path / "kube-scheduler.crt")))


def test_a_directory_keeps_its_pair(tmp_path: Path) -> None:
    directory = tmp_path / "new" / "certs"
    serving(directory=directory)
    made = (directory / "kube-scheduler.crt").read_bytes()
    assert stat.S_IMODE((directory / "kube-scheduler.key").stat().st_mode) == 0o600
    serving(directory=directory)
    assert (directory / "kube-scheduler.crt").read_bytes() == made


@pytest.mark.parametrize("missing", ["kube-scheduler.crt", "kube-scheduler.key"])
def test_half_a_pair_in_a_directory_is_refused_and_kept(tmp_path: Path, missing: str) -> None:
    serving(directory=tmp_path)
    (tmp_path / missing).unlink()
    with pytest.raises(CertificateError, match=rf"error reading .*/{missing}, certificate and key must be"):
        serving(directory=tmp_path)
    assert len([*tmp_path.iterdir()]) == 1


def test_a_given_pair_is_verified_by_clients(
    serve: Serve, certificate: TLSContexts, trust: ssl.SSLContext
) -> None:
    server = serve(tls=certificate)
    with closing(http.client.HTTPSConnection("localhost", server.port, context=trust, timeout=20)) as client:
        client.request("GET", "/healthz")
        assert client.getresponse().read() == b"ok"


def test_the_chain_of_a_pair_is_sent_along(serve: Serve, authority: trustme.CA, tmp_path: Path) -> None:
    files = write_pair(authority.create_child_ca().issue_cert("localhost"), tmp_path)
    server = serve(tls=serving(certificate=files[0], key=files[1]))
    trust = ssl.create_default_context()
    authority.configure_trust(trust)
    peer(server, trust, "localhost")


def test_a_replaced_pair_counts_from_the_next_connection(
    serve: Serve, authority: trustme.CA, tmp_path: Path
) -> None:
    certificate, key = write_pair(authority.issue_cert("localhost"), tmp_path)
    server = serve(tls=serving(certificate=certificate, key=key))
    before, _ = peer(server)
    write_pair(authority.issue_cert("localhost"), tmp_path)
    after, _ = peer(server)
    assert before.serial_number != after.serial_number


def test_a_secret_that_a_kubelet_replaces_counts_from_the_next_connection(
    serve: Serve, authority: trustme.CA, tmp_path: Path
) -> None:
    mounted(authority, tmp_path, "first")
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).symlink_to(f"..data/{name}")
    server = serve(tls=serving(certificate=tmp_path / "tls.crt", key=tmp_path / "tls.key"))
    before, _ = peer(server)
    mounted(authority, tmp_path, "second")
    assert peer(server)[0].serial_number != before.serial_number


def mounted(authority: trustme.CA, volume: Path, name: str) -> None:
    """Write a pair as a kubelet does: into a new directory, then one link is swapped."""
    (volume / name).mkdir()
    write_pair(authority.issue_cert("localhost"), volume / name)
    (volume / "..data_tmp").symlink_to(name)
    (volume / "..data_tmp").replace(volume / "..data")


def test_half_a_replacement_leaves_the_last_pair_in_use_and_is_told_once(
    serve: Serve, authority: trustme.CA, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate, key = write_pair(authority.issue_cert("localhost"), tmp_path)
    server = serve(tls=serving(certificate=certificate, key=key))
    before, _ = peer(server)
    new = authority.issue_cert("localhost")
    key.write_bytes(new.private_key_pem.bytes())
    for _ in range(2):
        assert peer(server)[0].serial_number == before.serial_number
    assert caplog.text.count("the last good serving certificate stays in use") == 1
    certificate.write_bytes(b"".join(blob.bytes() for blob in new.cert_chain_pems))
    assert peer(server)[0].serial_number != before.serial_number


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CertificateError, match=r"open .*/no\.crt: no such file or directory"):
        serving(certificate=tmp_path / "no.crt", key=tmp_path / "no.key")


def test_a_pair_that_does_not_match_is_named(authority: trustme.CA, tmp_path: Path) -> None:
    certificate, key = write_pair(authority.issue_cert("localhost"), tmp_path)
    key.write_bytes(authority.issue_cert("localhost").private_key_pem.bytes())
    with pytest.raises(CertificateError, match=r"tls\.crt and key .*tls\.key: they do not belong together"):
        serving(certificate=certificate, key=key)


@pytest.mark.parametrize(
    ("certificate", "key", "place"),
    [
        (b"x", None, r"tls\.crt: there is no certificate"),
        (None, b"x", r"tls\.key: there is no private key"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", None, r"tls\.crt: .* malformed"),
        (
            None,
            ec.generate_private_key(ec.SECP256R1()).private_bytes(
                Encoding.PEM, PrivateFormat.TraditionalOpenSSL, BestAvailableEncryption(b"secret")
            ),
            r"tls\.key: its private key is encrypted",
        ),
    ],
    ids=["no certificate", "no key", "broken certificate", "encrypted key"],
)
def test_what_is_wrong_with_a_pair_is_one_line_about_the_file(
    authority: trustme.CA, tmp_path: Path, certificate: bytes | None, key: bytes | None, place: str
) -> None:
    paths = write_pair(authority.issue_cert("localhost"), tmp_path)
    for path, content in zip(paths, (certificate, key), strict=True):
        if content is not None:
            path.write_bytes(content)
    with pytest.raises(CertificateError, match=place) as caught:
        serving(certificate=paths[0], key=paths[1])
    assert "\n" not in str(caught.value)


def test_a_key_behind_other_blocks_is_found(serve: Serve, authority: trustme.CA, tmp_path: Path) -> None:
    certificate, key = write_pair(authority.issue_cert("localhost"), tmp_path)
    parameters = b"-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
    key.write_bytes(parameters + certificate.read_bytes() + key.read_bytes())
    peer(serve(tls=serving(certificate=certificate, key=key)))


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(CertificateError, match=r"cannot write a serving certificate to .*/file/certs"):
        serving(directory=tmp_path / "file" / "certs")


def test_no_certificate_in_memory_touches_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "gone"))
    serving()
    assert [*tmp_path.iterdir()] == []
