"""What holds for connections without TLS holds with it: keep-alive, bodies, answers that come early, clients that go away."""

import http.client
import socket
import ssl
from collections.abc import Callable
from contextlib import closing

import pytest

from scheduler.serving.http import Limits, Server
from scheduler.serving.tls import TLSContexts
from tests.serving.builders import ECHO_LIMIT

Serve = Callable[..., Server]
Connect = Callable[[Server], http.client.HTTPSConnection]
DEADLINE = 20.0


@pytest.fixture
def connect(trust: ssl.SSLContext) -> Connect:
    return lambda server: http.client.HTTPSConnection(
        "localhost", server.port, context=trust, timeout=DEADLINE
    )


def test_one_connection_carries_many_requests(
    serve: Serve, certificate: TLSContexts, connect: Connect
) -> None:
    with closing(connect(serve(tls=certificate))) as client:
        for body in (b"", b"x", b"y" * ECHO_LIMIT):
            client.request("POST", "/echo", body=body)
            assert client.getresponse().read() == body


@pytest.mark.parametrize("size", [ECHO_LIMIT + 1, 40 << 20])
def test_an_answer_before_the_end_of_the_body_arrives(
    serve: Serve, certificate: TLSContexts, connect: Connect, size: int
) -> None:
    with closing(connect(serve(tls=certificate))) as client:
        client.request("POST", "/echo", body=b"x" * size)
        assert client.getresponse().status == 413


def test_a_client_that_stops_in_the_middle_is_let_go(
    serve: Serve, certificate: TLSContexts, trust: ssl.SSLContext
) -> None:
    server = serve(tls=certificate, limits=Limits(threads=1, stall=0.2, idle=1))
    with (
        socket.create_connection(("localhost", server.port), timeout=DEADLINE) as plain,
        trust.wrap_socket(plain, server_hostname="localhost") as client,
    ):
        client.sendall(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
        assert b"".join(iter(lambda: client.recv(65536), b"")).startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "sent", [b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00"], ids=["nothing", "http", "half a hello"]
)
def test_who_does_not_speak_tls_harms_nobody(
    serve: Serve,
    certificate: TLSContexts,
    connect: Connect,
    sent: bytes,
    caplog: pytest.LogCaptureFixture,
) -> None:
    server = serve(tls=certificate, limits=Limits(threads=1))
    with socket.create_connection(("localhost", server.port), timeout=DEADLINE) as stranger:
        stranger.sendall(sent)
    with closing(connect(server)) as client:
        client.request("GET", "/livez")
        assert client.getresponse().read() == b"ok"
    assert [record for record in caplog.records if record.exc_info] == []


def test_the_end_is_announced(serve: Serve, certificate: TLSContexts, trust: ssl.SSLContext) -> None:
    """A client can tell an end from a connection that somebody cut."""
    with (
        socket.create_connection(("localhost", serve(tls=certificate).port), timeout=DEADLINE) as plain,
        trust.wrap_socket(plain, server_hostname="localhost", suppress_ragged_eofs=False) as client,
    ):
        client.sendall(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert b"".join(iter(lambda: client.recv(65536), b"")).endswith(b"\r\n\r\nok")
