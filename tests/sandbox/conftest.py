"""One sandbox per test, and clients for it."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import Rest


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    """A running server with repeatable names."""
    with Sandbox(rng=random.Random(7)) as running:
        yield running


@pytest.fixture
def rest(sandbox: Sandbox) -> Iterator[Rest]:
    """A plain HTTP client of the server."""
    with Rest(sandbox.url) as client:
        yield client


@pytest.fixture
def kubeconfig(sandbox: Sandbox, tmp_path: Path) -> Path:
    """A kubeconfig for the server."""
    path = tmp_path / "kubeconfig"
    sandbox.write_kubeconfig(path)
    return path
