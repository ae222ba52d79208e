"""What somebody without permission tries: none of it gets past the chain, and none of it costs memory that stays."""

import socket
import ssl
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, ObjectIdentifier

from scheduler.serving.authentication.authorities import Authorities
from scheduler.serving.authentication.verification import Verifier
from tests.app.access.conftest import DEADLINE, Flags, Port
from tests.app.access.people import DAY, Authority, subject

REFUSED = (b"400", b"401", b"403", b"404", b"405")


def exchanged(port: Port, sent: bytes) -> bytes:
    """Everything that the server says before it closes the connection."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    plain = socket.create_connection(("127.0.0.1", port.server.port), timeout=DEADLINE)
    with closing(context.wrap_socket(plain)) as link:
        link.sendall(sent)
        return b"".join(iter(lambda: link.recv(1 << 16), b""))


def statuses(answers: bytes) -> list[bytes]:
    return [line.split()[1] for line in answers.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")]


@pytest.mark.parametrize(
    "target",
    [
        "/metrics", "//metrics", "/./metrics", "/healthz/../metrics", "/healthz/..%2fmetrics", "/healthz%2f..%2fmetrics",
        "/metrics/", "/metrics%00", "/%6detrics", "/metrics;/healthz", "/metrics?/healthz", "/METRICS", "/healthz//../metrics",
        "http://localhost/metrics", "https://localhost/healthz/../metrics", "*", "/metrics#/healthz", "\\metrics", "/healthz\\..\\metrics",
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "TRACE", "BREW"])
def test_no_spelling_of_a_path_opens_it(port: Flags, method: str, target: str) -> None:
    request = f"{method} {target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = exchanged(port(), request.encode())
    assert set(statuses(answer)) <= set(REFUSED)
    assert b"# HELP" not in answer
    assert b"metrics reset" not in answer


@pytest.mark.parametrize(
    "header",
    [
        "SCRIPT_NAME: /healthz", "Script-Name: /healthz", "PATH_INFO: /healthz", "Path-Info: /healthz", "X-Original-URL: /healthz",
        "X-Rewrite-URL: /healthz", "X-HTTP-Method-Override: GET", "X-Forwarded-Prefix: /healthz", "X-Forwarded-For: 127.0.0.1",
        "X-Remote-User: system:admin\r\nX-Remote-Group: system:masters", "Impersonate-User: system:admin",
        "Impersonate-Group: system:masters", "SSL-Client-Cert: x", "X-SSL-Client-Verify: SUCCESS",
    ],
)  # fmt: skip
def test_no_header_opens_a_path(port: Flags, header: str) -> None:
    request = f"GET /metrics HTTP/1.1\r\nHost: x\r\n{header}\r\nConnection: close\r\n\r\n"
    assert set(statuses(exchanged(port(), request.encode()))) <= set(REFUSED)


@pytest.mark.parametrize(
    "smuggled",
    [
        "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 0\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "POST /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
    ],
)
def test_a_request_behind_an_open_one_is_judged_by_itself(port: Flags, smuggled: str) -> None:
    request = f"{smuggled}GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    answer = exchanged(port(), request.encode())
    assert b"# HELP" not in answer
    assert statuses(answer)[-1] != b"200" or len(statuses(answer)) == 1


def test_methods_that_are_made_up_do_not_become_metrics(port: Flags) -> None:
    """Every label value stays in memory for as long as the process lives."""
    asked = port("--authorization-always-allow-paths=/metrics")
    for number in range(20):
        assert asked.ask("/configz", method=f"BREW{number}")[0] in (403, 405)
    assert "BREW" not in asked.ask("/metrics")[1]


def signed(
    owner: Authority, folder: Path, issuer: Authority, usages: tuple[ObjectIdentifier, ...], *, ca: bool
) -> Path:
    """A master's certificate below an intermediate one of ``issuer``, which is for ``usages``, and an authority or not."""
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject(owner.name))
        .issuer_name(issuer.certificate.subject)
        .public_key(owner.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
        .add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    )
    owner.certificate = builder.sign(issuer.key, hashes.SHA256())
    owner.above = issuer
    return owner.person(folder, "root", ["system:masters"])


@pytest.mark.parametrize(
    ("usages", "ca", "status"),
    [
        pytest.param((ExtendedKeyUsageOID.CLIENT_AUTH,), True, 200, id="an authority for clients"),
        pytest.param((ExtendedKeyUsageOID.CLIENT_AUTH,), False, 401, id="somebody's own certificate"),
        pytest.param((ExtendedKeyUsageOID.SERVER_AUTH,), True, 401, id="an authority for servers"),
    ],
)
def test_who_may_sign_certificates_for_clients(
    port: Flags, tmp_path: Path, usages: tuple[ObjectIdentifier, ...], ca: bool, status: int
) -> None:
    root = Authority()
    master = signed(Authority("between"), tmp_path, root, usages, ca=ca)
    asked = port(f"--client-ca-file={root.write(tmp_path / 'ca.pem')}")
    assert asked.ask(person=master)[0] == status


def test_a_certificate_of_its_own_making_is_nobodys(port: Flags, tmp_path: Path) -> None:
    root, own = Authority(), Authority("people")
    path = tmp_path / "own.pem"
    path.write_bytes(own.pem + own.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    asked = port(f"--client-ca-file={root.write(tmp_path / 'ca.pem')}")
    assert asked.ask("/healthz", person=path)[0] == 401


def test_certificates_that_are_no_good_are_not_remembered() -> None:
    """Anybody can make a thousand of them, each with a long chain."""
    verifier, trusted, stranger = Verifier(), Authority(), Authority("others")
    authorities = Authorities((trusted.certificate,))
    assert verifier.fault((stranger.certificate,), authorities)
    assert verifier.fault((trusted.certificate,), authorities) is None
    assert [certificates for certificates, _ in verifier._answers._kept] == [(trusted.certificate,)]
