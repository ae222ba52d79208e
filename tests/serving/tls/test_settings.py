"""What may be negotiated: versions, cipher suites, key exchange groups."""

import shutil
import ssl
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from OpenSSL import SSL

from scheduler.serving.ciphers import GROUPS, OPENSSL_NAMES
from scheduler.serving.http import Server
from scheduler.serving.tls import CertificateError, ServingFiles, Settings, serving_tls
from tests.serving.tls.clients import peer, unverified

Serve = Callable[..., Server]
OPENSSL_3_5 = 0x30500000
NEWER_THAN_OPENSSL_3_4 = 4586
needs_openssl = pytest.mark.skipif(not shutil.which("openssl"), reason="there is no openssl program")


def settings(serve: Serve, **given: object) -> Server:
    files = ServingFiles(settings=Settings(**given))  # type: ignore[arg-type]
    return serve(tls=serving_tls(files, now=datetime.now(UTC)))


def s_client(server: Server, *words: str) -> str:
    """What ``openssl s_client`` tells about a connection."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", *words]
    done = subprocess.run(command, input="", capture_output=True, text=True, timeout=20)
    return done.stdout + done.stderr


def limited_client(version: ssl.TLSVersion, ciphers: str = "") -> ssl.SSLContext:
    context = unverified()
    context.maximum_version = version
    if ciphers:
        context.set_ciphers(ciphers)
    return context


def test_by_default_nothing_older_than_tls_1_2_is_spoken(serve: Serve) -> None:
    server = settings(serve)
    assert peer(server)[1] == "TLSv1.3"
    assert peer(server, limited_client(ssl.TLSVersion.TLSv1_2))[1] == "TLSv1.2"


def test_minimum_version_refuses_older_clients(serve: Serve) -> None:
    server = settings(serve, min_version="VersionTLS13")
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        peer(server, limited_client(ssl.TLSVersion.TLSv1_2))
    assert peer(server)[1] == "TLSv1.3"


@needs_openssl
@pytest.mark.parametrize(
    ("flag", "version", "spoken"),
    [("", "-tls1_1", False), ("VersionTLS11", "-tls1_1", True), ("VersionTLS10", "-tls1", True)],
)
def test_old_versions_are_spoken_only_on_request(serve: Serve, flag: str, version: str, spoken: bool) -> None:
    said = s_client(settings(serve, min_version=flag), version, "-cipher", "DEFAULT@SECLEVEL=0")
    assert ("Cipher is ECDHE" in said) == spoken


def test_cipher_suites_restrict_older_versions(serve: Serve) -> None:
    server = settings(serve, cipher_suites=("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",))
    version = ssl.TLSVersion.TLSv1_2
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        peer(server, limited_client(version, "ECDHE-ECDSA-AES128-GCM-SHA256"))
    assert peer(server, limited_client(version, "ECDHE-ECDSA-AES256-GCM-SHA384"))[1] == "TLSv1.2"


def test_suites_of_tls_1_3_alone_leave_nothing_for_older_clients(serve: Serve) -> None:
    server = settings(serve, cipher_suites=("TLS_AES_128_GCM_SHA256",))
    with pytest.raises((ssl.SSLError, ConnectionResetError)):
        peer(server, limited_client(ssl.TLSVersion.TLSv1_2))
    assert peer(server)[1] == "TLSv1.3"


@pytest.mark.parametrize("name", sorted(set(OPENSSL_NAMES) - {n for n in OPENSSL_NAMES if "WITH" not in n}))
def test_openssl_knows_every_suite(name: str) -> None:
    context = SSL.Context(SSL.TLS_SERVER_METHOD)
    context.set_cipher_list(OPENSSL_NAMES[name].encode())
    assert OPENSSL_NAMES[name] in SSL.Connection(context, None).get_cipher_list()


@needs_openssl
@pytest.mark.parametrize(
    ("groups", "offered", "agreed"),
    [
        ((24,), "P-384", True),
        ((24,), "P-256:X25519", False),
        ((29, 23), "P-256", True),
        ((29, 23), "P-521", False),
    ],
    ids=str,
)
def test_groups_restrict_the_key_exchange(
    serve: Serve, groups: tuple[int, ...], offered: str, agreed: bool
) -> None:
    said = s_client(settings(serve, groups=groups), "-groups", offered)
    assert ("Cipher is TLS_AES" in said) == agreed


@pytest.mark.parametrize("group", GROUPS)
def test_openssl_knows_every_group(serve: Serve, group: int) -> None:
    if group > NEWER_THAN_OPENSSL_3_4 and SSL.OPENSSL_VERSION_NUMBER < OPENSSL_3_5:
        with pytest.raises(CertificateError, match="cannot be limited to"):
            settings(serve, groups=(group,))
    else:
        settings(serve, groups=(group,))


def test_where_openssl_has_no_call_for_groups_the_start_is_refused(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scheduler.serving.tls.contexts.lib", object())
    with pytest.raises(CertificateError, match="--tls-curve-preferences: this OpenSSL cannot be limited"):
        settings(serve, groups=(23,))


def test_nothing_is_resumed_so_that_certificates_are_shown_every_time(serve: Serve) -> None:
    server = settings(serve)
    context = limited_client(ssl.TLSVersion.TLSv1_2)
    peer(server, context)
    assert context.session_stats()["hits"] == 0
