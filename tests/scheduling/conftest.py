"""A sandbox, somebody who watches it, and schedulers that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scheduler.client.access import load_access
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.scheduling.desk import Desk
from tests.scheduling.harness import Observer, Running


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        yield server


@pytest.fixture
def observer(sandbox: Sandbox, tmp_path: Path) -> Iterator[Observer]:
    made = Observer(sandbox, tmp_path)
    yield made
    made.close()


@pytest.fixture
def scheduler(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Running]]:
    """Starts a scheduler: ``scheduler("--flag", config={…})``."""
    made: list[Running] = []

    def start(*flags: str, **options: object) -> Running:
        made.append(Running(sandbox, tmp_path_factory.mktemp("running"), *flags, **options))  # type: ignore[arg-type]
        return made[-1]

    yield start
    for one in made:
        one.stop()


@pytest.fixture
def api(sandbox: Sandbox, tmp_path: Path) -> Iterator[Callable[..., None]]:
    """One request as any client would send it: ``api("PATCH", path, {…})``."""
    path = tmp_path / "api"
    sandbox.write_kubeconfig(path)
    access = load_access(str(path))
    rest = Rest(access, user_agent="api", qps=-1)

    def send(method: str, path: str, body: object | None = None) -> None:
        rest.request(method, path, body=body, content_type="application/merge-patch+json")

    yield send
    rest.close()
    access.close()


@pytest.fixture
def desk() -> Iterator[Callable[..., Desk]]:
    """Makes schedulers that are turned by hand: ``desk(Plugin, …)``."""
    made: list[Desk] = []

    def make(*plugins: type) -> Desk:
        made.append(Desk(*plugins))
        return made[-1]

    yield make
    for one in made:
        one.close()
