"""Proving who we are and who the server is, over real TLS."""

import os
import pty
import ssl
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import trustme
import yaml
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    load_pem_private_key,
)

from scheduler.apis.objects.decode import decode
from scheduler.apis.objects.node import Node
from scheduler.client.access import load_access
from scheduler.client.errors import TransportError, UnauthorizedError
from scheduler.client.informers import Informer
from scheduler.client.resources import NODES
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def server_context(authority: trustme.CA, host: str = "127.0.0.1") -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)
    return context


def pem(authority: trustme.CA) -> str:
    return authority.cert_pem.bytes().decode()


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Sandbox]:
    with Sandbox(tls=server_context(authority), ca=pem(authority), token="t0ken") as sandbox:
        yield sandbox


def client(kubeconfig: Path | str = "", master: str = "") -> Rest:
    return Rest(load_access(str(kubeconfig), master), user_agent="t", qps=-1)


def test_a_kubeconfig_with_authority_and_token_gets_in(secure: Sandbox, tmp_path: Path) -> None:
    secure.write_kubeconfig(tmp_path / "kubeconfig")
    assert client(tmp_path / "kubeconfig").request("GET", NODES.collection()).status == 200


def test_a_silent_watch_over_tls_is_closed_from_another_thread(secure: Sandbox, tmp_path: Path) -> None:
    secure.write_kubeconfig(tmp_path / "kubeconfig")
    informer = Informer(client(tmp_path / "kubeconfig"), NODES, lambda raw: decode(Node, raw))
    informer.start()
    assert informer.wait_for_sync(DEADLINE)
    informer.stop(DEADLINE)
    assert informer.is_stopped


def test_an_unknown_authority_is_refused(secure: Sandbox) -> None:
    with pytest.raises(TransportError, match=r"TLS: .*(self.signed|unable to get local issuer)") as caught:
        client(master=secure.url).request("GET", NODES.collection())
    assert "\n" not in str(caught.value)


def test_a_certificate_for_another_host_is_refused(authority: trustme.CA, tmp_path: Path) -> None:
    with Sandbox(tls=server_context(authority, "elsewhere.example"), ca=pem(authority)) as sandbox:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        with pytest.raises(TransportError, match="TLS: IP address mismatch"):
            client(tmp_path / "kubeconfig").request("GET", NODES.collection())


def test_verification_is_skipped_only_when_asked_and_said(
    authority: trustme.CA, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Sandbox(tls=server_context(authority)) as sandbox:
        path = tmp_path / "kubeconfig"
        path.write_text(
            "current-context: c\nusers: []\n"
            f"clusters: [{{name: c, cluster: {{server: '{sandbox.url}', insecure-skip-tls-verify: true}}}}]\n"
            "contexts: [{name: c, context: {cluster: c}}]\n"
        )
        assert client(path).request("GET", NODES.collection()).status == 200
    assert "insecure-skip-tls-verify is set" in caplog.text


def test_a_wrong_token_is_unauthorized(tmp_path: Path) -> None:
    with Sandbox(token="right") as sandbox:
        path = tmp_path / "kubeconfig"
        path.write_text(sandbox.kubeconfig().replace("right", "wrong"))
        with pytest.raises(UnauthorizedError):
            client(path).request("GET", NODES.collection())


def test_a_client_certificate_is_shown(authority: trustme.CA, tmp_path: Path) -> None:
    context = server_context(authority)
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)
    with Sandbox(tls=context, ca=pem(authority)) as sandbox:
        sandbox.write_kubeconfig(tmp_path / "without")
        with pytest.raises(TransportError):
            client(tmp_path / "without").request("GET", NODES.collection())
        with_certificate(tmp_path, authority, sandbox)
        assert client(tmp_path / "with").request("GET", NODES.collection()).status == 200


def with_certificate(folder: Path, authority: trustme.CA, sandbox: Sandbox) -> None:
    issued = authority.issue_cert("me@example.org")
    issued.private_key_pem.write_to_path(str(folder / "key.pem"))
    issued.cert_chain_pems[0].write_to_path(str(folder / "cert.pem"))
    authority.cert_pem.write_to_path(str(folder / "ca.pem"))
    (folder / "with").write_text(
        "current-context: c\n"
        "users: [{name: u, user: {client-certificate: cert.pem, client-key: key.pem}}]\n"
        f"clusters: [{{name: c, cluster: {{server: '{sandbox.url}', certificate-authority: ca.pem}}}}]\n"
        "contexts: [{name: c, context: {cluster: c, user: u}}]\n"
    )


def test_a_key_behind_a_pass_phrase_is_refused_and_asks_nobody(
    secure: Sandbox, tmp_path: Path, authority: trustme.CA
) -> None:
    """OpenSSL would ask at the terminal, and the process would wait there."""
    pair = authority.issue_cert("scheduler@example.com")
    key = load_pem_private_key(pair.private_key_pem.bytes(), None)
    locked = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(b"phrase"))
    (tmp_path / "key.pem").write_bytes(locked)
    pair.cert_chain_pems[0].write_to_path(tmp_path / "cert.pem")
    secure.write_kubeconfig(tmp_path / "kubeconfig")
    config = yaml.safe_load((tmp_path / "kubeconfig").read_text())
    config["users"][0]["user"] = {"client-certificate": "cert.pem", "client-key": "key.pem"}
    (tmp_path / "kubeconfig").write_text(yaml.safe_dump(config))
    said = isolated(f"load_access({str(tmp_path / 'kubeconfig')!r})")
    assert "the client certificate and key for" in said
    assert "pass phrase" not in said


def isolated(call: str) -> str:
    """What a process with a terminal says, and the terminal."""
    code = f"from scheduler.client.access import load_access\ntry:\n {call}\nexcept Exception as error:\n print(error)"
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        child = subprocess.Popen(
            [sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        try:
            child.wait(DEADLINE)
        finally:
            child.kill()
            child.wait()
        return terminal.read(1 << 16).decode()
