"""The server: keep-alive, limits, slow and silent clients, stopping, ports. Everything over real sockets."""

import http.client
import socket
import ssl
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import pytest

from scheduler.serving.http import Limits, ListenError, Server, listen
from tests.serving.builders import ECHO_LIMIT

Serve = Callable[..., Server]
DEADLINE = 20.0
CHUNKED = b"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


@contextmanager
def connection(server: Server) -> Iterator[http.client.HTTPConnection]:
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=DEADLINE)) as client:
        yield client


@contextmanager
def raw(server: Server, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE) as client:
        client.sendall(sent)
        yield client


def ask(client: http.client.HTTPConnection, method: str, path: str, **more: Any) -> tuple[int, bytes]:
    client.request(method, path, **more)
    answer = client.getresponse()
    return answer.status, answer.read()


def read_all(client: socket.socket) -> bytes:
    return b"".join(iter(lambda: client.recv(65536), b""))


class Gate:
    """A WSGI application whose requests wait until the test lets them go."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.leave = threading.Event()

    def __call__(self, environ: Any, start_response: Any) -> Iterable[bytes]:
        self.entered.set()
        assert self.leave.wait(DEADLINE)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]


def test_one_connection_carries_many_requests(serve: Serve) -> None:
    with connection(serve()) as client:
        assert ask(client, "GET", "/healthz") == (200, b"ok")
        local = client.sock.getsockname()
        assert ask(client, "POST", "/echo", body=b"hello") == (200, b"hello")
        assert client.sock.getsockname() == local


def test_silent_connections_cost_no_thread(serve: Serve) -> None:
    server = serve(limits=Limits(threads=1))
    with raw(server), raw(server), connection(server) as client:
        assert ask(client, "GET", "/healthz") == (200, b"ok")


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /healthz HTT", b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab"],
    ids=["nothing", "half a request line", "half a body"],
)
def test_a_client_that_stops_sending_is_let_go(serve: Serve, sent: bytes) -> None:
    server = serve(limits=Limits(threads=1, stall=0.2, idle=1))
    with raw(server, sent) as silent:
        answer = read_all(silent)
    assert answer == b"" or answer.startswith(b"HTTP/1.1 408 ")
    with connection(server) as client:
        assert ask(client, "GET", "/healthz") == (200, b"ok")


def test_a_client_that_trickles_is_let_go(serve: Serve) -> None:
    server = serve(limits=Limits(threads=1, stall=5, request=0))
    with raw(server, b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n") as trickling:
        assert read_all(trickling) == b""


@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "chunked"])
@pytest.mark.parametrize("size", [ECHO_LIMIT + 1, 300 * ECHO_LIMIT], ids=["by a byte", "by far"])
def test_a_body_too_large_gets_413_and_the_next_request_is_served(
    serve: Serve, size: int, chunked: bool
) -> None:
    body: Any = (b"x" for _ in range(size)) if chunked and size < 10_000 else b"x" * size
    with connection(serve()) as client:
        sent = iter([body]) if chunked and isinstance(body, bytes) else body
        status, text = ask(client, "POST", "/echo", body=sent, encode_chunked=chunked)
        assert status == 413
        assert f"at most {ECHO_LIMIT} are accepted".encode() in text
        assert ask(client, "POST", "/echo", body=b"small") == (200, b"small")


def test_a_body_too_large_that_never_ends_gets_413(serve: Serve) -> None:
    chunk = b"%x\r\n" % (2 * ECHO_LIMIT) + b"x" * (2 * ECHO_LIMIT) + b"\r\n"
    with raw(serve(limits=Limits(stall=0.2)), CHUNKED + chunk) as client:
        assert read_all(client).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize(
    "sent",
    [b"zz\r\n", b"5\r\nabcdefgh\r\n", b"-5\r\nab\r\n", b"5" * 9000],
    ids=["no size", "longer than its size", "negative", "endless size"],
)
def test_chunks_that_are_none_get_400_and_the_connection_ends(
    serve: Serve, sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with raw(serve(limits=Limits(stall=0.2)), CHUNKED + sent) as client:
        answer = read_all(client)
    assert answer.startswith(b"HTTP/1.1 400 ")
    assert b"the request body is broken" in answer
    assert answer.count(b"HTTP/1.1 ") == 1
    assert [record for record in caplog.records if record.exc_info] == []


@pytest.mark.parametrize("chunked", [False, True], ids=["announced", "chunked"])
def test_a_body_at_the_limit_arrives_whole(serve: Serve, chunked: bool) -> None:
    body = b"x" * ECHO_LIMIT
    with connection(serve()) as client:
        sent: Any = iter([body]) if chunked else body
        assert ask(client, "POST", "/echo", body=sent, encode_chunked=chunked) == (200, body)


def test_headers_too_large_are_refused(serve: Serve) -> None:
    with connection(serve(limits=Limits(header_line=1000))) as client:
        assert ask(client, "GET", "/healthz", headers={"X": "y" * 2000})[0] == 431


def test_too_many_headers_are_refused(serve: Serve) -> None:
    with connection(serve(limits=Limits(header_fields=10))) as client:
        assert ask(client, "GET", "/healthz", headers={f"X-{n}": "y" for n in range(20)})[0] == 431


def test_a_request_that_is_none_is_refused(serve: Serve) -> None:
    with raw(serve(), b"\x00\x01\x02\r\n\r\n") as client:
        assert read_all(client).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("said", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["silent", "idle"])
def test_connections_that_say_nothing_keep_nobody_out(serve: Serve, said: bytes) -> None:
    server = serve(limits=Limits(connections=5, idle=60))
    with ExitStack() as opened:
        crowd = [opened.enter_context(raw(server, said)) for _ in range(20)]
        with connection(server) as client:
            assert ask(client, "GET", "/healthz") == (200, b"ok")
        assert b"HTTP/1.1 4" not in read_all(crowd[0])


def test_connections_over_the_limit_wait_while_all_others_are_served(serve: Serve) -> None:
    gate = Gate()
    server = serve(gate, limits=Limits(connections=2, idle=60))
    asking = b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    with raw(server, asking) as first, raw(server, asking) as second, raw(server, asking) as third:
        assert gate.entered.wait(DEADLINE)
        gate.leave.set()
        assert all(b"done" in read_all(each) for each in (first, second, third))


def test_an_error_in_a_route_is_500_without_details(serve: Serve) -> None:
    with connection(serve()) as client:
        status, text = ask(client, "GET", "/boom")
        assert status == 500
        assert b"division" not in text
        assert ask(client, "GET", "/healthz") == (200, b"ok")


def test_requests_are_served_at_the_same_time(serve: Serve) -> None:
    gate = Gate()
    server = serve(gate, limits=Limits(threads=2))
    with ThreadPoolExecutor(2) as pool, connection(server) as one, connection(server) as two:
        waiting = pool.submit(ask, one, "GET", "/")
        assert gate.entered.wait(DEADLINE)
        gate.entered.clear()
        second = pool.submit(ask, two, "GET", "/")
        assert gate.entered.wait(DEADLINE)
        gate.leave.set()
        assert waiting.result() == second.result() == (200, b"done")


def test_stopping_lets_requests_in_flight_end(serve: Serve) -> None:
    gate = Gate()
    server = serve(gate)
    with ThreadPoolExecutor(2) as pool, connection(server) as client:
        waiting = pool.submit(ask, client, "GET", "/")
        assert gate.entered.wait(DEADLINE)
        stopping = pool.submit(server.stop, DEADLINE)
        gate.leave.set()
        assert waiting.result() == (200, b"done")
        stopping.result()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=DEADLINE)


def test_stopping_does_not_wait_for_idle_or_silent_clients_nor_for_requests_over_the_grace(
    serve: Serve,
) -> None:
    gate = Gate()
    server = serve(gate)
    with ThreadPoolExecutor(1) as pool, raw(server) as silent, connection(server) as client:
        client.timeout = DEADLINE
        waiting = pool.submit(_outcome, client)
        assert gate.entered.wait(DEADLINE)
        server.stop(grace=0)
        assert silent.recv(1) == b""
        gate.leave.set()
        waiting.result()


def _outcome(client: http.client.HTTPConnection) -> object:
    try:
        return ask(client, "GET", "/")
    except (OSError, http.client.HTTPException) as error:
        return error


def test_stopping_twice_or_before_the_start_is_harmless() -> None:
    server = Server(Gate())
    server.stop()
    server.start()
    server.stop()
    server.stop()


def test_a_port_in_use_is_one_clear_line(serve: Serve) -> None:
    taken = serve().port
    with pytest.raises(
        ListenError, match=rf"^failed to listen on 127\.0\.0\.1:{taken}: address already in use$"
    ):
        Server(Gate(), port=taken).start()


def test_an_address_of_another_machine_is_one_clear_line() -> None:
    with pytest.raises(ListenError, match=r"^failed to listen on 192\.0\.2\.1:0: "):
        Server(Gate(), bind_address="192.0.2.1").start()


@pytest.mark.parametrize("address", ["0.0.0.0", "::"])  # noqa: S104  # the very thing that is tested
@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has one family of addresses")
def test_all_addresses_are_those_of_both_families(serve: Serve, address: str) -> None:
    server = serve(bind_address=address)
    for host in ("127.0.0.1", "::1"):
        with closing(http.client.HTTPConnection(host, server.port, timeout=DEADLINE)) as client:
            assert ask(client, "GET", "/healthz") == (200, b"ok")


def test_an_address_can_be_taken_again_at_once(serve: Serve) -> None:
    """What ``--permit-address-sharing`` asks for; Go's listeners always have it."""
    with closing(listen("127.0.0.1", 0)) as listener:
        assert listener.getsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR)


def test_ports_can_be_shared_on_request(serve: Serve) -> None:
    first = serve(reuse_port=True)
    assert serve(port=first.port, reuse_port=True).port == first.port


@pytest.mark.parametrize(("address", "host"), [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]"), ("::", "[::1]")])
def test_url_is_one_that_a_local_client_can_use(serve: Serve, address: str, host: str) -> None:
    server = serve(bind_address=address)
    assert server.url == f"http://{host}:{server.port}"


def test_tls_clients_that_do_not_shake_hands_are_let_go(
    serve: Serve, certificate: Any, trust: ssl.SSLContext
) -> None:
    server = serve(tls=certificate, limits=Limits(threads=1, idle=1))
    with raw(server, b"\x16") as silent:
        read_all(silent)
    with closing(http.client.HTTPSConnection("localhost", server.port, context=trust)) as client:
        assert ask(client, "GET", "/healthz") == (200, b"ok")
