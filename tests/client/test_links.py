"""Short requests over kept-alive connections: what goes out, what may come back, which connection is used again."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from http.client import HTTPException

import pytest
from urllib3.connection import HTTPConnection

from scheduler.client.access import load_access
from scheduler.client.errors import ApiError
from scheduler.client.links import Answer, Links
from scheduler.client.resources import NODES
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"


class Line(HTTPConnection):
    """A connection whose other end has said all that it will say."""

    def __init__(self, said: bytes, *, hangs_up: bool) -> None:
        super().__init__("server", 80)
        self._said = said
        self._hangs_up = hangs_up

    def connect(self) -> None:
        """Both ends are here."""
        self.sock, self.peer = socket.socketpair()
        self.peer.sendall(self._said)
        if self._hangs_up:
            self.peer.shutdown(socket.SHUT_WR)


class Lines:
    """Stands for urllib3's pool: makes the connections in the order given."""

    def __init__(self) -> None:
        self.coming: list[Line] = []
        self.made: list[Line] = []
        self.links = Links("http://server/prefix", self)  # type: ignore[arg-type]

    def expect(self, said: bytes, *, hangs_up: bool = False) -> None:
        """The next new connection will get this."""
        self.coming.append(Line(said, hangs_up=hangs_up))

    def _new_conn(self) -> Line:
        self.made.append(self.coming.pop(0))
        return self.made[-1]

    def get(self, payload: bytes | None = None, **headers: str) -> Answer:
        """A request over one of the connections."""
        return self.links.exchange("GET", "/x?a=b", headers, payload, 5.0)

    def close(self) -> None:
        """Both ends of all of them."""
        self.links.close()
        for line in self.made:
            line.close()
            line.peer.close()


@pytest.fixture
def lines() -> Iterator[Lines]:
    made = Lines()
    yield made
    made.close()


def test_a_request_is_written_as_http(lines: Lines) -> None:
    lines.expect(OK)
    assert lines.get(b"body", Accept="text/plain") == Answer(200, "", b"{}")
    assert lines.made[0].peer.recv(1000) == (
        b"GET /prefix/x?a=b HTTP/1.1\r\nHost: server\r\nAccept-Encoding: identity\r\nAccept: text/plain\r\n"
        b"Content-Length: 4\r\n\r\nbody"
    )


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (OK, Answer(200, "", b"{}")),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, Answer(200, "", b"{}")),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n",
            Answer(200, "", b"abc"),
        ),
        (b"HTTP/1.1 204 No Content\r\n\r\n", Answer(204, "", b"")),
        (b"HTTP/1.1 200 OK\r\n\r\nuntil the end", Answer(200, "", b"until the end")),
        (
            b"HTTP/1.1 429 Slow\r\nretry-after: 3\r\nContent-Length: 1\r\n\r\nx",
            Answer(429, "3", b"x"),
        ),
    ],
    ids=["length", "continue", "chunks", "no content", "until the end", "retry later"],
)
def test_an_answer_is_read_to_its_end(lines: Lines, said: bytes, expected: Answer) -> None:
    lines.expect(said, hangs_up=True)
    assert lines.get() == expected


@pytest.mark.parametrize(
    "said",
    [b"", OK[:-1], b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", b"SSH-2.0-x\r\n\r\n"],
    ids=["nothing", "too short", "half a chunk", "another protocol"],
)
def test_half_an_answer_is_none_and_its_connection_is_dropped(lines: Lines, said: bytes) -> None:
    lines.expect(said, hangs_up=True)
    with pytest.raises((HTTPException, OSError)):
        lines.get()
    assert lines.made[0].sock is None
    lines.expect(OK)
    assert lines.get().status == 200


@pytest.mark.parametrize(
    ("first", "hangs_up", "later"),
    [
        (OK, True, b""),
        (OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), False, b""),
        (OK, False, b"HTTP/1.1 408 Request Timeout\r\n\r\n"),
    ],
    ids=["hung up", "asked to close", "talks out of turn"],
)
def test_a_connection_that_is_not_quiet_and_open_is_not_used_again(
    lines: Lines, first: bytes, hangs_up: bool, later: bytes
) -> None:
    lines.expect(first, hangs_up=hangs_up)
    lines.expect(OK)
    assert lines.get() == Answer(200, "", b"{}")
    if later:
        lines.made[0].peer.sendall(later)
    assert lines.get() == Answer(200, "", b"{}")
    assert (len(lines.made), lines.made[0].sock) == (2, None)


def test_a_quiet_connection_is_used_again(sandbox: Sandbox) -> None:
    access = load_access(master=sandbox.url)
    rest = Rest(access, user_agent="t", qps=-1)
    for _ in range(3):
        rest.request("GET", NODES.collection())
    assert access.pool.connection_from_url(access.host).num_connections == 1
    access.close()


def test_through_a_proxy_urllib3_talks(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", sandbox.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    access = load_access(master="http://elsewhere.example")
    assert access.links is None
    with pytest.raises(ApiError):  # the sandbox is no proxy: it says so
        Rest(access, user_agent="t", qps=-1).request("GET", NODES.collection())
    access.close()


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\nX: y"])
def test_a_header_cannot_bring_another_one(lines: Lines, value: str) -> None:
    with pytest.raises(ValueError, match="line break"):
        lines.get(Authorization=value)
    assert not lines.made
