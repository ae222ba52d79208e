"""How the command ends: at a signal, at once at the second, when it lost the lease, whatever the API server does meanwhile."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from scheduler.client.resources import LEASES
from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import DEADLINE, Observer, objects

HASTY = (
    "--leader-elect-lease-duration=2s",
    "--leader-elect-renew-deadline=1s",
    "--leader-elect-retry-period=200ms",
)
SOON = DEADLINE / 2
"""Less than any timeout of a request: nothing may wait for an answer that never comes."""


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as server:
        server.load(objects(make_node("n").capacity(cpu="4")))
        yield server


@pytest.fixture
def observer(sandbox: Sandbox, tmp_path: Path) -> Iterator[Observer]:
    made = Observer(sandbox, tmp_path)
    yield made
    made.close()


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a server that accepts connections and says nothing."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


class Command:
    """``python -m scheduler`` with these flags; its log is read line by line."""

    def __init__(self, *flags: str) -> None:
        command = [sys.executable, "-m", "scheduler", "--secure-port=0", *flags]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        self.lines: list[str] = []

    def read_until(self, text: str) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if text in line:
                return
        raise AssertionError(f"{text!r} was not said: {self.lines}")

    def end(self, *signals: signal.Signals) -> int:
        for each in signals:
            self.process.send_signal(each)
        try:
            _, rest = self.process.communicate(timeout=SOON)
        finally:
            self.process.kill()
        self.lines += rest.splitlines(keepends=True)
        assert not [line for line in self.lines if "Traceback" in line]
        return self.process.returncode


def start(sandbox: Sandbox, folder: Path, *flags: str) -> Command:
    kubeconfig = folder / "kubeconfig"
    sandbox.write_kubeconfig(kubeconfig)
    return Command(f"--kubeconfig={kubeconfig}", *flags)


def waiting_pod(name: str) -> object:
    return make_pod(name).container({"cpu": "1"}, name="c", image="pause").doc()


@pytest.mark.parametrize("which", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_well(sandbox: Sandbox, tmp_path: Path, which: signal.Signals) -> None:
    command = start(sandbox, tmp_path)
    command.read_until("Successfully acquired lease")
    assert command.end(which) == 0


def test_a_signal_before_the_server_has_said_anything_ends_it(silent: str) -> None:
    command = Command(f"--master={silent}")
    command.read_until("Starting Kubernetes Scheduler")
    assert command.end(signal.SIGTERM) == 0


def test_a_signal_while_the_server_is_down_ends_it(tmp_path: Path) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        command = Command(f"--master=http://127.0.0.1:{reserved.getsockname()[1]}")
        command.read_until("cannot list")
        assert command.end(signal.SIGTERM) == 0


@pytest.mark.parametrize("elect", ["true", "false"])
def test_a_binding_that_is_not_answered_does_not_keep_it_from_ending(
    sandbox: Sandbox, tmp_path: Path, elect: str
) -> None:
    hanging = sandbox.faults.add(method="POST", path="/binding$", delay=60)
    sandbox.load([waiting_pod("p")])
    command = start(sandbox, tmp_path, *HASTY, f"--leader-elect={elect}")
    assert hanging.struck.wait(DEADLINE)
    assert command.end(signal.SIGTERM) == 0


def test_a_binding_that_has_begun_ends_before_the_process(
    sandbox: Sandbox, observer: Observer, tmp_path: Path
) -> None:
    slow = sandbox.faults.add(method="POST", path="/binding$", delay=1)
    sandbox.load([waiting_pod("p")])
    command = start(sandbox, tmp_path)
    assert slow.struck.wait(DEADLINE)
    assert command.end(signal.SIGTERM) == 0
    observer.wait_bound("p")
    observer.wait(lambda: observer.leases()[0]["spec"].get("holderIdentity", "") == "")


def test_the_second_signal_ends_it_at_once(sandbox: Sandbox, tmp_path: Path) -> None:
    hanging = sandbox.faults.add(method="POST", path="/binding$", delay=60)
    sandbox.load([waiting_pod("p")])
    command = start(sandbox, tmp_path)
    assert hanging.struck.wait(DEADLINE)
    assert command.end(signal.SIGTERM, signal.SIGINT) == 1


def test_a_lost_lease_ends_it_with_1_though_a_binding_hangs(sandbox: Sandbox, tmp_path: Path) -> None:
    hanging = sandbox.faults.add(method="POST", path="/binding$", delay=60)
    sandbox.load([waiting_pod("p")])
    command = start(sandbox, tmp_path, *HASTY)
    assert hanging.struck.wait(DEADLINE)
    sandbox.faults.add(path=LEASES.collection("kube-system"), status=403)
    assert command.end() == 1
    assert any("Leaderelection lost" in line for line in command.lines)
