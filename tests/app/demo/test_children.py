"""Processes that the demo starts: what is told when they end, and that they do end."""

import signal
import socket
import sys
from pathlib import Path

import pytest

from scheduler.app.cli.demo.children import Child
from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.settings import choose_port, free_port
from tests.e2e.processes import eventually

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(600)"


def child(tmp_path: Path, source: str, patience: float = 10.0) -> Child:
    return Child("helper", [sys.executable, "-c", source], tmp_path / "helper.log", {}, patience=patience)


def wait_for_end(process: Child) -> None:
    process._process.wait(30)


def test_a_child_that_ended_is_told_with_its_last_words_and_its_log(tmp_path: Path) -> None:
    process = child(tmp_path, "print('first'); print('no luck'); raise SystemExit(3)")
    wait_for_end(process)
    with pytest.raises(DemoError) as caught:
        process.check()
    log = tmp_path / "helper.log"
    assert str(caught.value) == f"the helper ended with exit code 3: no luck (its log: {log})"


def test_of_a_child_that_was_killed_no_words_are_told(tmp_path: Path) -> None:
    process = child(tmp_path, "import os; print('all is well', flush=True); os.kill(os.getpid(), 9)")
    wait_for_end(process)
    with pytest.raises(DemoError, match=r"^the helper was ended by signal 9 \(its log: "):
        process.check()


def test_a_child_that_ignores_sigterm_is_ended_all_the_same(tmp_path: Path) -> None:
    process = child(tmp_path, STUBBORN, patience=0.2)
    eventually(process.log.read_text, "the child ignores SIGTERM")
    process.check()
    process.stop()
    assert process._process.returncode == -signal.SIGKILL
    process.stop()


def test_a_program_that_does_not_exist_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(DemoError, match=r"the helper cannot be started: .*no-such-program"):
        Child("helper", ["/no-such-program"], tmp_path / "helper.log", {})


def test_a_port_that_is_taken_is_refused_and_a_free_one_is_found() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(DemoError, match=f"port {port} is taken"):
            choose_port(port)
    assert free_port() != 0
