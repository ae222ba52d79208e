"""Clients that are slow, on purpose or not: they hold up nobody else, least of all a health check. Everything over real sockets."""

import http.client
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest

from scheduler.serving.app import create_app
from scheduler.serving.http import Limits, Server
from tests.serving.builders import DEFAULT_OPEN, parts

Serve = Callable[..., Server]
DEADLINE = 20.0
PATIENT = Limits(stall=300, request=300, body_start=300)
POST = b"POST /%s HTTP/1.1\r\nHost: x\r\nContent-Length: 4000\r\n\r\nslow"
CHUNKED = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nslow\r\n"


@pytest.fixture
def crowd() -> Iterator[Callable[[Server, bytes], list[socket.socket]]]:
    """More clients than the server has threads, each of which sends the beginning of a request."""
    with ExitStack() as opened:

        def gather(server: Server, sent: bytes) -> list[socket.socket]:
            clients = [
                opened.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE))
                for _ in range(40)
            ]
            for client in clients:
                client.sendall(sent)
            return clients

        yield gather


@pytest.mark.parametrize(
    "sent",
    [
        pytest.param(POST % b"echo", id="body"),
        pytest.param(CHUNKED, id="chunks"),
        pytest.param(POST % b"livez", id="body that nobody reads"),
        pytest.param(b"GET /livez HTTP/1.1\r\nHost:", id="head"),
    ],
)
def test_a_health_check_is_answered_while_slow_clients_are_served(
    serve: Serve, crowd: Any, sent: bytes
) -> None:
    server = serve(limits=PATIENT)
    clients = crowd(server, sent)
    assert healthy(server)
    for client in clients:
        client.sendall(b"r")
    assert healthy(server)


def test_a_health_check_is_answered_while_slow_clients_shake_hands(
    serve: Serve, crowd: Any, certificate: Any, trust: ssl.SSLContext
) -> None:
    server = serve(tls=certificate, limits=PATIENT)
    clients = crowd(server, b"\x16")
    assert healthy(server, trust)
    for client in clients:
        client.sendall(b"\x03")
    assert healthy(server, trust)


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"POST /metrics", b"403"),
        (b"POST /healthz/no/such", b"404"),
        (b"PUT /echo", b"405"),
        (b"POST /livez", b"200"),
    ],
)
def test_an_answer_without_the_body_does_not_wait_for_it(
    serve: Serve, request_line: bytes, status: bytes
) -> None:
    server = serve(create_app(parts(open_paths=(*DEFAULT_OPEN, "/healthz/*", "/echo"))), limits=PATIENT)
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as client:
        client.sendall(request_line + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
        answer = b"".join(iter(lambda: client.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 " + status)
    assert b"Connection: close\r\n" in answer


@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "chunked"])
def test_an_answer_after_the_body_keeps_the_connection(serve: Serve, chunked: bool) -> None:
    with closing(http.client.HTTPConnection("127.0.0.1", serve().port, timeout=DEADLINE)) as client:
        client.connect()
        own = client.sock.getsockname()
        for _ in range(3):
            body: Any = iter([b"hello"]) if chunked else b"hello"
            client.request("POST", "/echo", body=body, encode_chunked=chunked)
            assert client.getresponse().read() == b"hello"
        assert client.sock.getsockname() == own


def test_requests_sent_at_once_are_answered_in_turn(serve: Serve) -> None:
    ask = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\n"
    last = b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", serve().port), timeout=DEADLINE) as client:
        client.sendall(ask + b"one" + ask + b"two" + last)
        answers = b"".join(iter(lambda: client.recv(65536), b""))
    assert [part.rsplit(b"\r\n\r\n")[-1] for part in answers.split(b"HTTP/1.1 200 OK")] == [
        b"",
        b"one",
        b"two",
        b"ok",
    ]


def test_a_body_slower_than_the_minimum_rate_gets_408(serve: Serve) -> None:
    server = serve(limits=Limits(body_start=0, body_rate=1e15))
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as client:
        client.sendall(POST % b"echo")
        assert client.recv(65536).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_keeps_to_the_minimum_rate_is_read(serve: Serve) -> None:
    server = serve(limits=Limits(body_start=DEADLINE, body_rate=1.0))
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as client:
        client.sendall(POST % b"echo")
        for _ in range(3996):
            client.sendall(b"r")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")


def test_a_head_without_end_is_refused(serve: Serve) -> None:
    with socket.create_connection(
        ("127.0.0.1", serve(limits=Limits(head=1000)).port), timeout=DEADLINE
    ) as client:
        client.sendall(b"GET /livez HTTP/1.1\r\nX: " + b"y" * 9000)
        assert client.recv(65536).startswith(b"HTTP/1.1 431 ")


def healthy(server: Server, trust: ssl.SSLContext | None = None) -> bool:
    """Whether a new client gets an answer of /livez."""
    made = (
        http.client.HTTPSConnection("localhost", server.port, context=trust, timeout=DEADLINE)
        if trust
        else http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)
    )
    with closing(made) as client:
        client.request("GET", "/livez")
        return client.getresponse().read() == b"ok"
