"""The transport against a real server: failures become errors, retries are bounded, connections are reused."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler.client import errors
from scheduler.client.access import Access, load_access
from scheduler.client.resources import NODES, PODS
from scheduler.client.rest import MAX_RETRIES, Rest
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE, Cluster

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}


def test_objects_go_out_as_json_and_bytes_come_back(rest: Rest) -> None:
    created = rest.request("POST", NODES.collection(), body=NODE)
    assert created.status == 201
    assert b'"name":"a"' in rest.request("GET", NODES.object("", "a")).body


def test_query_values_are_quoted(rest: Rest, cluster: Cluster) -> None:
    cluster.add_node("a", zone="1")
    cluster.add_node("b", zone="2")
    body = rest.request("GET", NODES.collection(), query={"labelSelector": "zone in (2,3)"}).body
    assert b'"name":"b"' in body
    assert b'"name":"a"' not in body


def test_failures_are_told_in_the_servers_words(rest: Rest) -> None:
    rest.request("POST", NODES.collection(), body=NODE)
    with pytest.raises(errors.NotFoundError, match='nodes "x" not found'):
        rest.request("GET", NODES.object("", "x"))
    with pytest.raises(errors.ConflictError) as caught:
        rest.request("POST", NODES.collection(), body=NODE)
    assert caught.value.reason == "AlreadyExists"
    with pytest.raises(errors.InvalidError):
        rest.request("POST", PODS.collection("default"), body={"metadata": {"name": "p"}, "spec": {}})


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_honoured(rest: Rest, sandbox: Sandbox, status: int) -> None:
    rule = sandbox.faults.add(method="POST", path="/nodes$", status=status, retry_after=0, times=3)
    rest.request("POST", NODES.collection(), body=NODE)
    assert rule.hits == 3


def test_retries_are_bounded(rest: Rest, sandbox: Sandbox) -> None:
    rule = sandbox.faults.add(path="/nodes$", status=429, retry_after=0)
    with pytest.raises(errors.TooManyRequestsError):
        rest.request("GET", NODES.collection())
    assert rule.hits == MAX_RETRIES + 1


def test_no_retry_that_would_begin_after_the_timeout(rest: Rest, sandbox: Sandbox) -> None:
    rule = sandbox.faults.add(path="/nodes$", status=429, retry_after=30)
    with pytest.raises(errors.TooManyRequestsError) as caught:
        rest.request("GET", NODES.collection(), timeout=5.0)
    assert (rule.hits, caught.value.retry_after) == (1, 30.0)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_without_retry_after_the_caller_decides(rest: Rest, sandbox: Sandbox, status: int) -> None:
    rule = sandbox.faults.add(path="/nodes$", status=status)
    with pytest.raises(errors.ApiError) as caught:
        rest.request("GET", NODES.collection())
    assert (rule.hits, caught.value.status) == (1, status)


def test_a_lost_connection_is_retried_for_reading_but_never_for_writing(rest: Rest, sandbox: Sandbox) -> None:
    read = sandbox.faults.add(method="GET", path="/nodes$", drop="before", times=1)
    rest.request("GET", NODES.collection())
    assert read.hits == 1
    written = sandbox.faults.add(method="POST", path="/nodes$", drop="after")
    with pytest.raises(errors.TransportError) as caught:
        rest.request("POST", NODES.collection(), body=NODE)
    assert written.hits == 1
    assert not caught.value.refused


def test_a_slow_answer_times_out(rest: Rest, sandbox: Sandbox) -> None:
    sandbox.faults.add(path="/nodes$", delay=DEADLINE)
    with pytest.raises(errors.TransportError, match="timed out") as caught:
        rest.request("GET", NODES.collection(), query={"limit": "7"}, timeout=0.05)
    assert caught.value.timed_out
    assert str(caught.value) == f"GET {sandbox.url}{NODES.collection()}: timed out"


def test_nobody_listening() -> None:
    with Sandbox(port=0) as sandbox:
        url = sandbox.url
    with pytest.raises(errors.TransportError, match=f"GET {url}/version: connection refused") as caught:
        Rest(load_access(master=url), user_agent="t").request("GET", "/version")
    assert caught.value.refused


def test_no_such_host() -> None:
    rest = Rest(load_access(master="http://no-such-host.invalid"), user_agent="t")
    with pytest.raises(errors.TransportError) as caught:
        rest.request("GET", "/version")
    assert caught.value.refused


def test_many_threads_share_the_pool(rest: Rest) -> None:
    def create(index: int) -> int:
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{index}"}}
        return rest.request("POST", NODES.collection(), body=node).status

    with ThreadPoolExecutor(32) as threads:
        assert set(threads.map(create, range(400))) == {201}
    assert rest.request("GET", NODES.collection()).body.count(b'"uid"') == 400


def test_attempts_are_observed(access: Access, sandbox: Sandbox) -> None:
    seen: list[tuple[str, str]] = []
    rest = Rest(
        access, user_agent="t", qps=-1, observe=lambda method, code, _seconds: seen.append((method, code))
    )
    sandbox.faults.add(method="GET", path="/nodes$", status=503, retry_after=0, times=1)
    rest.request("GET", NODES.collection())
    sandbox.faults.add(method="DELETE", drop="before")
    with pytest.raises(errors.TransportError):
        rest.request("DELETE", NODES.object("", "a"))
    assert seen == [("GET", "503"), ("GET", "200"), ("DELETE", "<error>")]


def test_the_rate_limit_s_waits_are_told(access: Access, sandbox: Sandbox) -> None:
    waits: list[tuple[str, bool]] = []
    rest = Rest(
        access,
        user_agent="t",
        qps=1000,
        burst=1,
        now=lambda: 0.0,
        throttled=lambda method, seconds: waits.append((method, seconds > 0)),
    )
    rest.request("GET", NODES.collection())
    rest.request("GET", NODES.collection())
    assert waits == [("GET", False), ("GET", True)]


def test_a_closed_client_ends_its_waits(access: Access, sandbox: Sandbox) -> None:
    rest = Rest(access, user_agent="t", qps=-1)
    rule = sandbox.faults.add(path="/nodes$", status=429, retry_after=30)
    outcome: list[Exception] = []

    def wait_for_ever() -> None:
        try:
            rest.request("GET", NODES.collection())
        except errors.ClientError as error:
            outcome.append(error)

    thread = threading.Thread(target=wait_for_ever)
    thread.start()
    assert rule.struck.wait(DEADLINE)
    rest.close()
    thread.join(DEADLINE)
    assert isinstance(outcome[0], errors.TooManyRequestsError)
    with pytest.raises(errors.TransportError, match="closed"):
        rest.request("GET", NODES.collection())


def test_a_watch_is_closed_from_another_thread(rest: Rest, cluster: Cluster) -> None:
    lines: list[bytes] = []
    arrived = threading.Event()
    stream = rest.watch(NODES.collection(), query={"watch": "true"}, timeout=DEADLINE)

    def follow() -> None:
        with stream:
            for line in stream:
                lines.append(line)
                arrived.set()

    thread = threading.Thread(target=follow)
    thread.start()
    cluster.add_node("a")
    assert arrived.wait(DEADLINE)
    stream.close()
    thread.join(DEADLINE)
    assert not thread.is_alive()
    assert [line[:15] for line in lines] == [b'{"type":"ADDED"']


def test_a_silent_watch_counts_as_dead(rest: Rest) -> None:
    stream = rest.watch(NODES.collection(), query={"watch": "true"}, timeout=0.05)
    with stream, pytest.raises(errors.TransportError, match=f"{NODES.collection()}: timed out"):
        list(stream)
