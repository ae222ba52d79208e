"""What flags come to in a whole process: those that only a process shows, and that no other test is about."""

from __future__ import annotations

import http.client
import stat
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from flask import Flask

from scheduler.apis import config as configuration
from scheduler.app.config import Config, make_config
from scheduler.app.options import Options
from scheduler.app.setup import server, set_up
from scheduler.sandbox import Sandbox
from scheduler.scheduling.parts import Clocks
from tests.builders import make_node, make_pod
from tests.e2e.processes import free_port, run, trusting
from tests.extender.builders import ask, by_name
from tests.scheduling.harness import DEADLINE, Running, objects

PORT = ("--secure-port=1", "--authorization-always-allow-paths=/*")
"""The port is never listened on: the application is asked directly."""
Start = Callable[..., Running]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        server.load(objects(make_node("node-a").capacity(cpu="4")))
        yield server


@pytest.fixture
def start(sandbox: Sandbox, tmp_path: Path) -> Iterator[Start]:
    """Start a scheduler with flags."""
    running: list[Running] = []

    def begin(*flags: str) -> Running:
        running.append(Running(sandbox, tmp_path, *PORT, f"--cert-dir={tmp_path}", *flags))
        running[-1].wait_ready()
        return running[-1]

    yield begin
    for each in running:
        each.stop()


@pytest.fixture
def config(sandbox: Sandbox, tmp_path: Path) -> Callable[..., Config]:
    """Everything that flags make, ready to be tied together."""
    sandbox.write_kubeconfig(tmp_path / "kubeconfig")

    def made(*flags: str) -> Config:
        options, errors = Options.parse([f"--kubeconfig={tmp_path / 'kubeconfig'}", *flags])
        loaded = options.configuration()
        assert (errors, loaded.errors) == ((), ())
        assert loaded.config is not None
        return make_config(options, loaded.config)

    return made


def question() -> dict[str, Any]:
    return by_name(make_pod("p").req(cpu="1").doc(), "node-a")


def test_bodies_over_the_limit_of_the_flag_are_refused(start: Start) -> None:
    client = start("--extender-max-body-bytes=2000").setup.app.test_client()
    assert ask(client, "/filter", question())["NodeNames"] == ["node-a"]
    large = question() | {"x": " " * 2000}
    answer = client.post("/filter", json=large)
    assert answer.status_code == 413
    assert "at most 2000 are accepted" in answer.text


def test_no_answer_is_late_by_the_flag(start: Start) -> None:
    client = start("--extender-timeout=1ns").setup.app.test_client()
    assert "which this scheduler allows itself" in ask(client, "/filter", question())["Error"]


def test_without_a_limit_the_answer_takes_its_time(start: Start) -> None:
    client = start("--extender-timeout=0").setup.app.test_client()
    assert ask(client, "/filter", question())["NodeNames"] == ["node-a"]


@pytest.mark.parametrize(
    ("flag", "moved"),
    [
        ("--pod-max-in-unschedulable-pods-duration=59s", 1),
        ("--pod-max-in-unschedulable-pods-duration=61s", 0),
    ],
)
def test_a_refused_pod_is_tried_again_after_the_time_of_the_flag(
    config: Callable[..., Config], flag: str, moved: int
) -> None:
    now = 1000.0
    clocks = Clocks(lambda: now, lambda: datetime.now(UTC))
    queue = set_up(replace(config("--secure-port=0", flag), clocks=clocks)).scheduler.queue
    queue.add(make_pod("p").info())
    queued = queue.pop()
    assert queued is not None
    queued.unschedulable_plugins = {"NodeResourcesFit"}
    queue.add_unschedulable(queued)
    now += 60
    assert queue.flush() == moved


class Crowd:
    """A WSGI application in which requests with a body stay until they may leave; how many were there at a time."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self.leave = threading.Event()
        self.most = 0
        self._inside = 0
        self._lock = threading.Lock()

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., object]) -> Iterable[bytes]:
        if environ["wsgi.input"].read():
            self._count(1)
            self.arrived.set()
            assert self.leave.wait(DEADLINE)
            self._count(-1)
        start_response("204 No Content", [])
        return []

    def _count(self, change: int) -> None:
        with self._lock:
            self._inside += change
            self.most = max(self.most, self._inside)


def posted(port: int, path: str, body: bytes) -> int:
    client = http.client.HTTPSConnection("127.0.0.1", port, timeout=DEADLINE, context=trusting())
    with closing(client):
        client.request("POST", path, body=body)
        return client.getresponse().status


def test_bodies_wait_for_the_threads_of_the_flag(config: Callable[..., Config]) -> None:
    crowd = Crowd()
    app = Flask("crowd")
    app.wsgi_app = crowd  # type: ignore[method-assign,assignment]
    serving = server(config("--serving-threads=1", f"--secure-port={free_port()}"), app)
    assert serving is not None
    serving.start()
    try:
        with ThreadPoolExecutor() as clients:
            asked = [clients.submit(posted, serving.port, "/filter", b"{}") for _ in range(3)]
            assert crowd.arrived.wait(DEADLINE)
            assert posted(serving.port, "/healthz", b"") == 204  # others are answered meanwhile
            crowd.leave.set()
            assert [each.result(DEADLINE) for each in asked] == [204, 204, 204]
        assert crowd.most == 1
    finally:
        serving.stop(grace=1)


@pytest.mark.parametrize(
    ("flag", "place", "value"),
    [
        ("--contention-profiling=false", "enableContentionProfiling", False),
        ("--kube-api-content-type=application/json", "clientConnection.contentType", "application/json"),
        ("--leader-elect-resource-lock=leases", "leaderElection.resourceLock", "leases"),
    ],
)
def test_flags_that_only_change_the_configuration(flag: str, place: str, value: object) -> None:
    found = configuration.tree(Options.parse([flag])[0].configuration().config)
    for step in place.split("."):
        found = found[step]
    assert found == value


def test_no_other_lock_than_leases_is_known() -> None:
    loaded = Options.parse(["--leader-elect-resource-lock=endpoints"])[0].configuration()
    assert "resourceLock value must be" in str(loaded.errors)


def test_a_written_configuration_is_its_owners_alone(tmp_path: Path) -> None:
    """It has whatever is in it, private keys of extenders too."""
    path = tmp_path / "out.yaml"
    assert run(f"--write-config-to={path}", cwd=tmp_path).returncode == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert "kind: KubeSchedulerConfiguration" in path.read_text()
