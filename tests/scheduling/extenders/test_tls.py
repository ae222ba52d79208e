"""TLS to extenders: authorities, server names, client certificates; as files and as data."""

from __future__ import annotations

import base64
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme

from scheduler.apis.config.types import Extender
from scheduler.scheduling.extenders.tls import context_of
from tests.builders import make_node, make_pod
from tests.scheduling.desk import Desk
from tests.scheduling.extenders.servers import ExtenderServer, answer

MakeDesk = Callable[..., Desk]


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Callable[..., ExtenderServer]]:
    """Starts a server with a certificate for these names; ``clients``: it wants one of its clients, too."""
    made: list[ExtenderServer] = []

    def start(*names: str, clients: bool = False) -> ExtenderServer:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert(*names).configure_cert(context)
        if clients:
            authority.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        made.append(ExtenderServer(context))
        made[-1].answers["/f"] = [answer({"NodeNames": ["n"]})]
        return made[-1]

    yield start
    for one in made:
        one.close()


def outcome(desk: Desk) -> str:
    """Where the pod went, or why it did not."""
    desk.put(
        make_node("n").capacity(cpu="4"), make_pod("p").req(cpu="1").spec(schedulerName="default-scheduler")
    )
    desk.run_until(lambda: desk.ledger.bound or desk.ledger.patches)
    if desk.ledger.bound:
        return desk.ledger.bound[0][1]
    return str(desk.ledger.patches[-1][1]["conditions"][0]["message"])


def entry(server: ExtenderServer, **tls: Any) -> dict[str, Any]:
    found = {"urlPrefix": server.url, "filterVerb": "f", "nodeCacheCapable": True, "enableHTTPS": True}
    return {**found, "tlsConfig": tls} if tls else found


def encoded(pem: bytes) -> str:
    return base64.b64encode(pem).decode()


def test_an_authority_in_data_and_one_in_a_file(
    extended: MakeDesk, secure: Callable[..., ExtenderServer], authority: trustme.CA, tmp_path: Path
) -> None:
    server = secure("127.0.0.1")
    file = tmp_path / "ca.pem"
    authority.cert_pem.write_to_path(file)
    assert outcome(extended(entry(server, caData=encoded(authority.cert_pem.bytes())))) == "n"
    assert outcome(extended(entry(server, caFile=str(file)))) == "n"


def test_the_certificate_has_to_be_for_the_server_name(
    extended: MakeDesk, secure: Callable[..., ExtenderServer], authority: trustme.CA
) -> None:
    server = secure("extender.example")
    data = encoded(authority.cert_pem.bytes())
    assert outcome(extended(entry(server, caData=data, serverName="extender.example"))) == "n"
    refused = outcome(extended(entry(server, caData=data)))
    assert refused.startswith(f'Post "{server.url}/f": tls: failed to verify certificate: ')


def test_another_authority_is_not_believed(extended: MakeDesk, secure: Callable[..., ExtenderServer]) -> None:
    server = secure("127.0.0.1")
    other = trustme.CA().cert_pem.bytes()
    assert "tls: failed to verify certificate" in outcome(extended(entry(server, caData=encoded(other))))


def test_without_an_authority_nothing_is_verified(
    extended: MakeDesk, secure: Callable[..., ExtenderServer]
) -> None:
    assert outcome(extended(entry(secure("extender.example")))) == "n"


def test_the_warning_that_nothing_is_verified_shows_no_password(caplog: pytest.LogCaptureFixture) -> None:
    context_of(Extender(url_prefix="https://me:secret@extender.example", enable_https=True, weight=1))
    assert "https://me:xxxxx@extender.example is not verified" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("form", ["data", "files"])
def test_client_certificates(
    extended: MakeDesk,
    secure: Callable[..., ExtenderServer],
    authority: trustme.CA,
    tmp_path: Path,
    form: str,
) -> None:
    ours = authority.issue_cert("scheduler@example.com")
    certificate, key = ours.cert_chain_pems[0].bytes(), ours.private_key_pem.bytes()
    (tmp_path / "c.pem").write_bytes(certificate)
    (tmp_path / "k.pem").write_bytes(key)
    pair = {"certData": encoded(certificate), "keyData": encoded(key)}
    if form == "files":
        pair = {"certFile": str(tmp_path / "c.pem"), "keyFile": str(tmp_path / "k.pem")}
    server = secure("127.0.0.1", clients=True)
    data = encoded(authority.cert_pem.bytes())
    assert outcome(extended(entry(server, caData=data, **pair))) == "n"
    refused = outcome(extended(entry(server, caData=data)))
    assert refused.startswith(f'Post "{server.url}/f": ')
