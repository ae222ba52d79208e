"""Clients that come and go: what is left of 10,000 of them in the server.

A third says nothing, a third begins a request, a third sends a whole one and does not wait for the answer. Every twentieth speaks TLS.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Final

from bench.extender import documents
from bench.extender.client import concurrently
from bench.extender.observed import Holdings
from bench.extender.service import Service

CONNECTIONS: Final = 10_000
_WARM_UP: Final = 500
_TOGETHER: Final = 64
"""More than there are threads, with and without TLS: all of them are started before it counts."""
_SECURE_EVERY: Final = 20
_SETTLE_SECONDS: Final = 10.0


def connections(service: Service) -> Iterator[tuple[str, float, str]]:
    """What it holds more than before."""
    _all_at_once(service)
    _come_and_go(service, _WARM_UP)
    before = _settled(service, lambda _: False, seconds=1.0)
    started = time.perf_counter()
    _come_and_go(service, CONNECTIONS)
    seconds = time.perf_counter() - started
    after = _settled(service, lambda now: now.files <= before.files)
    what = f"{CONNECTIONS:,} connections opened and dropped"
    yield what, seconds, "s"
    yield f"{what}: threads left", after.threads - before.threads, ""
    yield f"{what}: file descriptors left", after.files - before.files, ""
    yield f"{what}: memory left", after.resident - before.resident, "MB"


def _all_at_once(service: Service) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(connect()) for connect in (service.plain, service.secure) * _TOGETHER]
        concurrently(both, both[0].request("/filter", documents.by_name("100m")), 4 * len(both))


def _come_and_go(service: Service, count: int) -> None:
    with service.plain() as connection:
        request = connection.request("/filter", documents.by_name("100m", documents.FEW_NODES))
    words = itertools.cycle((b"", request[:100], request))
    for number, said in zip(range(count), words, strict=False):
        connect = service.secure if number % _SECURE_EVERY == 0 else service.plain
        with connect() as connection:
            if said:
                connection.send(said)


def _settled(
    service: Service, enough: Callable[[Holdings], bool], seconds: float = _SETTLE_SECONDS
) -> Holdings:
    """What it holds once that is enough, or once the time is over."""
    deadline = time.monotonic() + seconds
    while not enough(now := service.process.holdings()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return now
