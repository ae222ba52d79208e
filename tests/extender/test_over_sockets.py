"""The webhook on the process's own server: real connections, bodies of announced length and chunked ones."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from prometheus_client import CollectorRegistry

from extender import Settings, body_limits, create_blueprint
from scheduler.metrics import Metrics
from scheduler.serving.access import Access
from scheduler.serving.app import Parts, create_app
from scheduler.serving.authorization import OpenPaths
from scheduler.serving.http import Server
from tests.extender.builders import Binder, app, recorded, three_nodes, world

LIMIT = 1 << 20
JSON = {"Content-Type": "application/json"}


@pytest.fixture(params=["own server", "bare"])
def connection(request: pytest.FixtureRequest) -> Iterator[HTTPConnection]:
    """A keep-alive connection; the blueprint is mounted on the process's application, or on one without any limits."""
    made = world(*three_nodes())
    wsgi: Any
    if request.param == "bare":
        wsgi = app(made, max_body_bytes=LIMIT)
    else:
        routes = create_blueprint(made, Binder(), Settings(max_body_bytes=LIMIT))
        access = Access(OpenPaths.parse(("/*",)))
        registry = Metrics(CollectorRegistry()).registry
        wsgi = create_app(
            Parts(access=access, registry=registry, blueprints=(routes,), body_limits=body_limits(LIMIT))
        )
    server = Server(wsgi)
    server.start()
    connection = HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    yield connection
    connection.close()
    server.stop(grace=1)


def post(connection: HTTPConnection, path: str, body: Any, **settings: Any) -> tuple[int, Any]:
    connection.request("POST", path, body, JSON, **settings)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def pieces(total: int, first: bytes = b"") -> Iterator[bytes]:
    yield first
    for _ in range(total >> 16):
        yield b" " * (1 << 16)


def test_a_whole_conversation_on_one_connection(connection: HTTPConnection) -> None:
    status, filtered = post(connection, "/filter", recorded("001-cct-basic-filter"))
    assert (status, filtered["NodeNames"]) == (200, ["node-a", "node-c", "node-b"])
    status, scores = post(connection, "/prioritize", recorded("002-cct-basic-prioritize"))
    assert (status, len(scores)) == (200, 3)
    status, victims = post(connection, "/preempt", recorded("083-preempt-cct-preempt"))
    assert (status, len(victims["NodeNameToMetaVictims"])) == (200, 3)
    assert post(connection, "/bind", recorded("003-cct-basic-bind")) == (200, {"Error": ""})


def test_a_chunked_body_is_read(connection: HTTPConnection) -> None:
    body = pieces(1 << 18, recorded("001-cct-basic-filter"))
    status, answer = post(connection, "/filter", body, encode_chunked=True)
    assert (status, len(answer["NodeNames"])) == (200, 3)


def test_packed_bodies_and_bad_ones_keep_the_connection(connection: HTTPConnection) -> None:
    packed = gzip.compress(recorded("001-cct-basic-filter"))
    for body, expected in ((packed, 200), (packed[:-9], 400), (b"{", 400), (packed, 200)):
        connection.request("POST", "/filter", body, JSON | {"Content-Encoding": "gzip"})
        answer = connection.getresponse()
        assert (answer.status, answer.will_close) == (expected, False), answer.read()
        answer.read()


def test_a_large_chunked_body_is_refused(connection: HTTPConnection) -> None:
    status, answer = _refusal(connection, pieces(100 << 20), encode_chunked=True)
    assert status == 413
    assert f"more than {LIMIT} bytes" in answer


def test_a_large_body_is_refused(connection: HTTPConnection) -> None:
    status, answer = _refusal(connection, bytes(100 << 20))
    assert status == 413
    assert f"{100 << 20} bytes, at most {LIMIT} are accepted" in answer


def _refusal(connection: HTTPConnection, body: Any, **settings: Any) -> tuple[int, str]:
    status, answer = post(connection, "/filter", body, **settings)
    return status, answer["Error"]
