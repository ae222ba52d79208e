"""Fault injection, seen through raw sockets where HTTP clients would look away."""

from __future__ import annotations

import http.client
import socket
import ssl
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Rest, Watcher, node, pod


def _raw(sandbox: Sandbox, data: bytes, *, read: int = 1 << 20) -> bytes:
    """Send bytes, read until the server closes or enough has come."""
    address = urlsplit(sandbox.url)
    with socket.create_connection((address.hostname, address.port), timeout=10) as connection:
        connection.sendall(data)
        received = b""
        while len(received) < read:
            part = connection.recv(65536)
            if not part:
                break
            received += part
    return received


def test_a_status_with_retry_after_n_times(sandbox: Sandbox, rest: Rest) -> None:
    rule = sandbox.faults.add(method="POST", path=r"/pods$", status=429, retry_after=3, times=2)
    refused = [rest.post(PODS, pod()) for _ in range(2)]
    assert [(reply.status, reply.headers["Retry-After"], reply.body["reason"]) for reply in refused] == [
        (429, "3", "TooManyRequests")
    ] * 2
    assert rest.post(PODS, pod()).status == 201
    assert (rule.hits, rule.struck.is_set()) == (2, True)


def test_only_matching_requests_are_hit(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.faults.add(method="get", path="/pods/b$", status=500)
    sandbox.load([pod("a"), pod("b")])
    assert [rest.get(f"{PODS}/{name}").status for name in ("a", "b")] == [200, 500]
    sandbox.faults.clear()
    assert rest.get(f"{PODS}/b").status == 200


def test_some_may_pass_first(sandbox: Sandbox, rest: Rest) -> None:
    rule = sandbox.faults.add(path="/nodes", status=503, skip=2, times=1)
    assert [rest.get(NODES).status for _ in range(4)] == [200, 200, 503, 200]
    sandbox.faults.remove(rule)


def test_watches_can_be_told_apart(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.faults.add(watch=True, status=500)
    assert (rest.get(PODS).status, rest.get(PODS, watch="true").status) == (200, 500)


@pytest.mark.parametrize(("drop", "created"), [("before", False), ("after", True)])
def test_a_dropped_connection(sandbox: Sandbox, rest: Rest, drop: str, created: bool) -> None:
    sandbox.faults.add(method="POST", path="/pods$", drop="after" if drop == "after" else "before", times=1)
    with pytest.raises((http.client.RemoteDisconnected, ConnectionError)):
        rest.post(PODS, pod())
    assert (sandbox.store.get("pods", "default", "a") is not None) is created


def test_a_delay_holds_only_its_own_request(sandbox: Sandbox, rest: Rest) -> None:
    rule = sandbox.faults.add(path="/nodes", delay=3600)
    with ThreadPoolExecutor(1) as pool, Rest(sandbox.url) as other:
        held = pool.submit(other.get, NODES)
        assert rule.struck.wait(10)
        assert rest.get(PODS).status == 200
        sandbox.drop_connections()
        assert isinstance(held.exception(10), http.client.HTTPException | ConnectionError)


def test_dropping_every_connection(sandbox: Sandbox) -> None:
    with Watcher(sandbox.url, PODS) as watch:
        sandbox.drop_connections()
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            watch.response.read()
    with Rest(sandbox.url) as again:
        assert again.get(NODES).status == 200


def test_requests_in_one_packet_are_answered_in_order(sandbox: Sandbox) -> None:
    one = b"GET /api/v1/namespaces/%b HTTP/1.1\r\nHost: x\r\n%b\r\n"
    reply = _raw(sandbox, one % (b"default", b"") + one % (b"kube-system", b"Connection: close\r\n"))
    assert reply.count(b"HTTP/1.1 200 OK") == 2
    assert reply.index(b'"name":"default"') < reply.index(b'"name":"kube-system"')


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (b"nonsense\r\n\r\n", b"400"),
        (b"GET / HTTP/2\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", b"400"),
        (b"POST /x HTTP/1.1\r\nContent-Length: -1\r\n\r\n", b"400"),
        (b"POST /x HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", b"413"),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
        (b"POST /x HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", b"413"),
        (b"GET /" + b"x" * 70_000, b"431"),
    ],
    ids=["no http", "http 2", "header", "negative", "huge", "bad chunk", "huge chunk", "long head"],
)
def test_what_is_not_http(sandbox: Sandbox, data: bytes, status: bytes) -> None:
    assert _raw(sandbox, data, read=12).split()[1] == status


def test_a_body_over_the_limit_gets_an_answer(sandbox: Sandbox, rest: Rest) -> None:
    reply = rest.post(PODS, b"x" * (4 * 1024 * 1024))
    assert (reply.status, reply.body["reason"]) == (413, "RequestEntityTooLarge")


def test_chunked_bodies_in_pieces(sandbox: Sandbox) -> None:
    head = f"POST {PODS} HTTP/1.1\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()
    body = b'{"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}}'
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (body[:10], body[10:]))
    assert _raw(sandbox, head + chunks + b"0\r\n\r\n").startswith(b"HTTP/1.1 201")


def test_continue_is_promised(sandbox: Sandbox) -> None:
    head = f"POST {PODS} HTTP/1.1\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n".encode()
    assert _raw(sandbox, head, read=20).startswith(b"HTTP/1.1 100 Continue")


def test_deep_nesting_is_refused(rest: Rest) -> None:
    assert rest.post(PODS, b'{"metadata":' * 20_000).status == 400
    assert rest.send("POST", PODS, b"[" * 20_000, content="application/yaml").status == 400


def test_a_yaml_bomb_is_refused(rest: Rest) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 10)]
    reply = rest.send("POST", PODS, "\n".join(lines).encode(), content="application/yaml")
    assert (reply.status, "too many values" in reply.body["message"]) == (400, True)


def test_a_port_in_use_is_an_error(sandbox: Sandbox) -> None:
    with pytest.raises(OSError, match="address already in use"):
        Sandbox(port=int(sandbox.url.rpartition(":")[2])).start()


def test_tls_and_token() -> None:
    import trustme

    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    with Sandbox(tls=context, ca=authority.cert_pem.bytes().decode(), token="t0p") as secure:
        secure.load([node()])
        address = urlsplit(secure.url)
        statuses = []
        for header in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer t0p"}):
            connection = http.client.HTTPSConnection(
                address.hostname or "", address.port, context=client, timeout=10
            )
            connection.request("GET", NODES, headers=header)
            statuses.append(connection.getresponse().status)
            connection.close()
        assert "certificate-authority-data" in secure.kubeconfig()
    assert statuses == [401, 401, 200]
