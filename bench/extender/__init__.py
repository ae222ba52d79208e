"""What a kube-scheduler waits for the webhook: the whole serving port in a process of its own, asked over connections that stay open.

Of the times: p50, p95, p99. CPU time is the server's, all its threads together; memory is what it held beyond what it held before.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from bench.extender import documents, dropped
from bench.extender.client import Connection, concurrently
from bench.extender.documents import CANDIDATES, FEW_NODES, NODES
from bench.extender.observed import Observed
from bench.extender.people import Identity
from bench.extender.service import Service
from bench.spread import Spread

Result = tuple[str, float | Spread, str]

WARM_UP, ROUNDS, ROUNDS_IN_FULL = 5, 200, 15
CLIENTS, CALLS = 8, 2_000
CHANGED = 50
_ROOT = Path(__file__).resolve().parent.parent.parent


def run() -> list[Result]:
    """Every row."""
    with _service() as service:
        return [
            *_by_name(service),
            *_in_full(service),
            *_many_small(service),
            *dropped.connections(service),
        ]


@contextmanager
def _service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory() as folder:
        identity = Identity.make(Path(folder))
        command = [sys.executable, "-m", "bench.extender.server", str(identity.authority)]
        with subprocess.Popen(
            command, cwd=_ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as child:
            plain, secure = (child.stdout.readline() if child.stdout else "").split()
            yield Service(plain, secure, identity.client, Observed(child.pid))


def _by_name(service: Service) -> Iterator[Result]:
    """By name, as callers with a cache of their own ask."""
    fits, too_big = documents.by_name("100m"), documents.by_name("100")
    asked = [
        (f"filter, {NODES} names, all fit", "/filter", fits),
        (f"filter, {NODES} names, none fits", "/filter", too_big),
        (f"prioritize, {NODES} names", "/prioritize", fits),
        (f"preempt, {CANDIDATES} candidates of {NODES} nodes", "/preempt", documents.preemption()),
    ]
    with service.plain() as connection:
        for what, path, body in asked:
            yield from _measured(service, connection, what, connection.request(path, body))
    with service.secure() as connection:
        what = f"filter, {NODES} names, all fit, TLS and client certificate"
        yield from _measured(service, connection, what, connection.request("/filter", fits))


def _in_full(service: Service) -> Iterator[Result]:
    """As whole objects; memory first, before anything large has been there."""
    nodes = documents.nodes(NODES)
    body = documents.in_full(nodes)
    megabytes = len(body) / 1e6
    yield f"{NODES} nodes in full: body", megabytes, "MB"
    with service.plain() as connection:
        request = connection.request("/filter", body)
        extra = service.extra_memory(lambda: [connection.milliseconds(request) for _ in range(WARM_UP)])
        yield f"filter, {NODES} nodes in full: peak extra memory / body", extra / megabytes, "×"
        what = f"filter, {NODES} nodes in full"
        yield from _measured(service, connection, what, request, ROUNDS_IN_FULL)
    with service.secure() as connection:
        what = f"filter, {NODES} nodes in full, TLS and client certificate"
        yield from _measured(service, connection, what, request, ROUNDS_IN_FULL // 2)
    for node in nodes[:: NODES // CHANGED]:
        node["metadata"]["resourceVersion"] = "2"
        node["metadata"]["labels"]["changed"] = "true"
    with service.plain() as connection:
        request = connection.request("/filter", documents.in_full(nodes))
        what = f"filter, {NODES} nodes in full, {CHANGED} of them new"
        yield what, Spread.of(_times(connection, request, ROUNDS_IN_FULL // 2)), "ms"


def _many_small(service: Service) -> Iterator[Result]:
    """A small cluster, asked by many at once."""
    body = documents.by_name("100m", FEW_NODES)
    for how, connect in (("", service.plain), (", TLS and client certificate", service.secure)):
        with ExitStack() as stack:
            connections = [stack.enter_context(connect()) for _ in range(CLIENTS)]
            request = connections[0].request("/filter", body)
            concurrently(connections, request, CALLS // 10)
            begun, started = service.process.cpu_milliseconds(), time.perf_counter()
            times = concurrently(connections, request, CALLS)
            seconds = time.perf_counter() - started
            cpu = (service.process.cpu_milliseconds() - begun) / CALLS
        what = f"filter, {FEW_NODES} names, {CLIENTS} connections{how}"
        yield what, Spread.of(times), "ms"
        yield f"{what}: CPU", cpu, "ms"
        yield f"{what}: calls per second", CALLS / seconds, "1/s"


def _measured(
    service: Service, connection: Connection, what: str, request: bytes, rounds: int = ROUNDS
) -> Iterator[Result]:
    """How long it takes, and how much of that is the server's work."""
    for _ in range(WARM_UP):
        connection.milliseconds(request)
    begun = service.process.cpu_milliseconds()
    times = _times(connection, request, rounds)
    cpu = (service.process.cpu_milliseconds() - begun) / rounds
    yield what, Spread.of(times), "ms"
    yield f"{what}: CPU", cpu, "ms"


def _times(connection: Connection, request: bytes, rounds: int) -> Sequence[float]:
    return [connection.milliseconds(request) for _ in range(rounds)]
