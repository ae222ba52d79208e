"""What signals make of a running scheduler, as its clients see it."""

from __future__ import annotations

import re
import signal
import socket
import ssl
from pathlib import Path

from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import (
    DEADLINE,
    SchedulerProcess,
    eventually,
    eventually_bound,
    node,
    pod,
    scheduler,
    trusting,
)


def test_who_asks_while_it_ends_is_told_that_it_is_not_ready(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url) as process:
        hanging = sandbox.faults.add(method="POST", path="/binding$", delay=60)
        sandbox.load([node("n1"), pod("p1")])
        assert hanging.struck.wait(DEADLINE)
        process.process.send_signal(signal.SIGTERM)
        eventually(lambda: process.get("/readyz")[0] == 500, "not ready")
        assert process.get("/readyz/shutdown") == (500, "internal server error: process is shutting down\n")
        assert process.get("/livez") == (200, "ok")
        assert process.process.wait(DEADLINE) == 0


def test_a_request_that_has_begun_is_answered_before_the_end(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, "--leader-elect=false") as process:
        process.wait_until_ready()
        with begun_request(process) as client:
            process.process.send_signal(signal.SIGTERM)
            eventually(lambda: process.get("/livez")[0] == 0, "no new requests")
            client.sendall(b"3")
            answer = b"".join(iter(lambda: client.recv(4096), b""))
        assert b" 200 OK" in answer
        assert b"successfully set klog.logging.verbosity to 3" in answer
        assert process.process.wait(DEADLINE) == 0


def begun_request(process: SchedulerProcess) -> ssl.SSLSocket:
    """A connection with a request whose body is still to come."""
    client = trusting().wrap_socket(socket.create_connection(("127.0.0.1", process.port), timeout=DEADLINE))
    client.sendall(
        b"PUT /debug/flags/v HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n"
    )
    assert b"100" in client.recv(4096)
    return client


def test_sigusr2_compares_and_dumps(tmp_path: Path) -> None:
    with Sandbox() as sandbox, scheduler(tmp_path, sandbox.url, "--leader-elect=false") as process:
        sandbox.load([node("n1"), pod("p1"), pod("p2", nodeName="elsewhere")])
        eventually_bound(sandbox, "p1")
        process.process.send_signal(signal.SIGUSR2)
        eventually(lambda: "Dump of scheduling queue" in process.log.read_text(), "the dump")
        log = process.log.read_text()
        assert '"Cache comparer finished" mismatch=false' in log
        assert '"Dump of cached NodeInfo" nodes=<\n\tNode name: n1\n' in log
        assert re.search(r"\tname: p1, namespace: default, uid: [0-9a-f-]+, phase: ", log)
        process.wait_until_ready()
        assert process.terminate() == 0
