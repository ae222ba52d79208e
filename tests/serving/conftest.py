"""Servers on free ports that end with the test."""

import ssl
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import trustme

from scheduler.serving.app import create_app
from scheduler.serving.http import Server
from scheduler.serving.tls import ServingFiles, TLSContexts, serving_tls
from tests.serving.builders import parts, write_pair


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test."""
    running: list[Server] = []

    def start(app: Any = None, **settings: Any) -> Server:
        server = Server(app or create_app(parts()), **settings)
        server.start()
        running.append(server)
        return server

    yield start
    for server in running:
        server.stop(grace=1)


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """A certificate authority for the tests of one run."""
    return trustme.CA()


@pytest.fixture
def trust(authority: trustme.CA) -> ssl.SSLContext:
    """A client's context that trusts only the authority."""
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


@pytest.fixture
def certificate(authority: trustme.CA, tmp_path: Path) -> TLSContexts:
    """A serving certificate in files."""
    files = ServingFiles(*write_pair(authority.issue_cert("localhost"), tmp_path))
    return serving_tls(files, now=datetime.now(UTC))
