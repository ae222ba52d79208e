"""Extenders that misbehave cost their own time limit, and one clear line."""

from __future__ import annotations

import contextlib
import itertools
import socket
import ssl
import threading
from collections.abc import Callable

import pytest

from scheduler.scheduling.extenders import transport
from scheduler.scheduling.extenders.transport import Transport, TransportError, shown
from scheduler.scheduling.extenders.wire import WireError, read_error, read_filter, read_preemption
from tests.scheduling.extenders.servers import ExtenderServer, Nobody, RudeServer, answer

AWAITING = 'Post "{url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
READING = "context deadline exceeded (Client.Timeout or context cancellation while reading body)"


def client(seconds: float | None = 30) -> Transport:
    return Transport(ssl.create_default_context(), seconds=seconds, user_agent="test")


def failure(url: str, seconds: float = 30, body: bytes = b"{}") -> str:
    """What goes wrong with a request."""
    made = client(seconds)
    with pytest.raises(TransportError) as caught:
        made.post(url, body)
    made.close()
    return str(caught.value)


@pytest.fixture
def rude(request: pytest.FixtureRequest) -> Callable[[Callable[[socket.socket], None]], str]:
    """Starts a server that does this to each connection; its URL."""

    def start(behave: Callable[[socket.socket], None]) -> str:
        server = RudeServer(behave)
        request.addfinalizer(server.close)
        return f"{server.url}/filter"

    return start


Rude = Callable[[Callable[[socket.socket], None]], str]


def sends(*pieces: bytes) -> Callable[[socket.socket], None]:
    return lambda peer: [peer.sendall(piece) for piece in pieces] and None  # type: ignore[func-returns-value]


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"", 'Post "{url}": EOF'),
        (b"what?\r\n\r\n", 'Post "{url}": EOF'),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{", "unexpected EOF"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{", "unexpected EOF"),
    ],
    ids=["closed at once", "no HTTP", "half a body", "half a chunk"],
)
def test_connections_that_end_early(rude: Rude, sent: bytes, said: str) -> None:
    url = rude(sends(sent))
    assert failure(url) == said.format(url=url)


def test_headers_that_come_byte_by_byte_end_with_the_time(rude: Rude) -> None:
    def drip(peer: socket.socket) -> None:
        for byte in itertools.chain(b"HTTP/1.1 200 OK\r\nX: ", itertools.repeat(ord("y"))):
            peer.sendall(bytes([byte]))
            peer.settimeout(0.005)
            try:
                if not peer.recv(1):
                    return
            except TimeoutError:
                continue

    url = rude(drip)
    assert failure(url, seconds=0.3) == AWAITING.format(url=url)


def test_a_body_that_never_ends_ends_with_the_time(rude: Rude) -> None:
    def drip(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        while True:
            peer.sendall(b" ")
            peer.settimeout(0.005)
            try:
                if not peer.recv(1):
                    return
            except TimeoutError:
                continue

    assert failure(rude(drip), seconds=0.3) == READING


def test_a_body_that_is_not_read_ends_with_the_time(rude: Rude) -> None:
    ended = threading.Event()
    url = rude(lambda peer: ended.wait(30) and None)
    try:
        assert failure(url, seconds=0.3, body=b" " * 50_000_000) == AWAITING.format(url=url)
    finally:
        ended.set()


def test_a_handshake_that_is_not_answered_ends_with_the_time(rude: Rude) -> None:
    url = rude(lambda peer: peer.recv(1 << 16) and None).replace("http:", "https:")
    assert failure(url, seconds=0.3) == AWAITING.format(url=url)


def test_answers_are_limited(rude: Rude, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "BODY_LIMIT", 1 << 20)
    url = rude(sends(b"HTTP/1.1 200 OK\r\n\r\n", b" " * (3 << 20)))
    assert failure(url) == "the answer exceeds 1048576 bytes"


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("/filter", 'Post "/filter": unsupported protocol scheme ""'),
        ("ftp://x/filter", 'Post "ftp://x/filter": unsupported protocol scheme "ftp"'),
        ("http:///filter", 'Post "http:///filter": http: no Host in request URL'),
        ("http://x:99999/filter", 'parse "http://x:99999/filter": Port out of range 0-65535'),
        (
            "http://nobody.invalid/f",
            'Post "http://nobody.invalid/f": dial tcp: lookup nobody.invalid: no such host',
        ),
    ],
)
def test_urls_that_lead_nowhere(url: str, said: str) -> None:
    assert failure(url) == said


def test_passwords_in_urls_are_used_and_never_shown(extender: ExtenderServer, nobody: Nobody) -> None:
    extender.answers["/f"] = [answer({})]
    url = extender.url.replace("//", "//me:secret@")
    assert client().post(f"{url}/f", b"{}") == (200, b"{}")
    assert extender.asked[0].headers["Authorization"] == "Basic bWU6c2VjcmV0"
    refused = f"http://me:secret@{nobody.address}/f"
    assert "secret" not in failure(refused)
    assert shown("http://host/a@b:c") == "http://host/a@b:c"


def test_nothing_is_tried_twice(extender: ExtenderServer) -> None:
    extender.answers["/f"] = [answer({}, status=503)]
    assert client().post(f"{extender.url}/f", b"{}") == (503, b"")
    assert len(extender.asked) == 1


def redirects(extender: ExtenderServer, status: int, *, body: bytes = b"") -> Callable[[socket.socket], None]:
    """Sends a client on, and says that more than the world holds comes with it."""
    head = f"HTTP/1.1 {status} Elsewhere\r\nLocation: {extender.url}/f\r\nContent-Length: {1 << 50}\r\n\r\n"
    return sends(head.encode(), body)


@pytest.mark.parametrize("status", [307, 308])
def test_what_comes_with_a_redirect_is_not_read(rude: Rude, extender: ExtenderServer, status: int) -> None:
    extender.answers["/f"] = [answer({"ok": 1})]
    url = rude(redirects(extender, status, body=b" " * 100_000)).replace("//", "//me:secret@")
    assert client().post(url, b'{"a": 1}') == (200, b'{"ok": 1}')
    assert extender.asked[0].document == {"a": 1}
    assert "Authorization" not in extender.asked[0].headers


def test_other_redirects_lose_the_question_as_in_go(rude: Rude, extender: ExtenderServer) -> None:
    assert client().post(rude(redirects(extender, 302)), b"{}")[0] == 501  # the server knows no GET


def test_redirects_end_somewhere(rude: Rude) -> None:
    url = rude(sends(b"HTTP/1.1 307 Round\r\nLocation: /filter\r\nContent-Length: 0\r\n\r\n"))
    assert failure(url) == f'Post "{url}": stopped after 10 redirects'


def test_a_redirect_leads_to_nothing_but_http(rude: Rude) -> None:
    url = rude(sends(b"HTTP/1.1 307 There\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n\r\n"))
    assert failure(url) == 'Post "file:///etc/passwd": unsupported protocol scheme "file"'


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")], ids=["lists", "objects"])
@pytest.mark.parametrize("read", [read_filter, read_preemption, read_error], ids=lambda read: read.__name__)
def test_answers_of_any_depth_are_refused_or_read(
    read: Callable[[bytes], object], opening: str, closing: str
) -> None:
    """How deep is too deep depends on how much of the stack is in use, which is more at the second look than at the first."""
    for depth in [*range(300, 1050, 2), 100_000]:
        with contextlib.suppress(WireError):
            read(f'{{"Nodes": {opening * depth}1{closing * depth}}}'.encode())


@pytest.mark.parametrize("read", [lambda body: read_filter(body).error, read_error], ids=["filter", "bind"])
def test_an_endless_error_is_cut(read: Callable[[bytes], str]) -> None:
    said = read(b'{"Error": "' + b"no " * 1_000_000 + b'"}')
    assert said.startswith("no no no")
    assert said.endswith("…")
    assert len(said) < 40_000
    assert read(b'{"Error": "no"}') == "no"
