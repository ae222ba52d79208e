"""Real processes for end-to-end tests: started by their command lines, watched from outside, ended by signals."""

from __future__ import annotations

import http.client
import os
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import yaml

from scheduler.sandbox.sandbox import Sandbox

PROJECT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
DEADLINE = 40.0
"""Seconds after which anything that should happen has failed to; generous, machines may be slow."""

T = TypeVar("T")


def eventually(look: Callable[[], T | None], what: str) -> T:
    """The first true answer of ``look``; fails when none comes in time."""
    pause = threading.Event()
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        pause.wait(0.05)
    raise AssertionError(f"did not happen within {DEADLINE:.0f} s: {what}")


def environment(**more: str) -> dict[str, str]:
    """For children: this code and this environment's programs first."""
    paths = os.pathsep.join(filter(None, [str(PROJECT), more.pop("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": paths, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", **more}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def run(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``wharfinger`` with these words to its end."""
    command = [sys.executable, "-m", "scheduler", *words]
    return subprocess.run(
        command, cwd=cwd, env=environment(), capture_output=True, text=True, timeout=2 * DEADLINE
    )


def curl(line: str, cwd: Path) -> str:
    """What a pasted curl line prints; where there is no curl, what the server answers to the same request."""
    if shutil.which("curl"):
        return shell(line, cwd)
    words = shlex.split(line)
    data = next((cwd / word[1:] for word in words if word.startswith("@")), None)
    headers = dict([words[words.index("-H") + 1].split(": ")]) if "-H" in words else {}
    request = urllib.request.Request(words[-1], data=data.read_bytes() if data else None, headers=headers)
    with urllib.request.urlopen(request, timeout=DEADLINE, context=trusting()) as answer:
        return str(answer.read().decode())


def trusting() -> ssl.SSLContext:
    """What ``curl -k`` does: the serving certificate signs itself."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def shell(line: str, cwd: Path) -> str:
    """What a pasted line prints; fails when it fails."""
    done = subprocess.run(
        ["bash", "-c", line], cwd=cwd, env=environment(), capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


@dataclass
class SchedulerProcess:
    """A running scheduler."""

    process: subprocess.Popen[bytes]
    port: int
    log: Path

    def get(self, path: str, **headers: str) -> tuple[int, str]:
        """(status, text) of its serving port; (0, "") when it does not answer."""
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=5, context=trusting())
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except OSError:
            return 0, ""
        finally:
            connection.close()

    def wait_until_ready(self) -> None:
        """Until ``/readyz`` says ok."""
        eventually(lambda: self.get("/readyz")[0] == 200, "ready")

    def terminate(self) -> int:
        """SIGTERM; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(DEADLINE)


@contextmanager
def scheduler(
    tmp_path: Path, master: str, *flags: str, open_paths: str = "/*", **more: str
) -> Iterator[SchedulerProcess]:
    """A scheduler against the API server at ``master``; killed at the end if it still runs. ``more``: its environment."""
    port, log = free_port(), tmp_path / "scheduler.log"
    command = [
        sys.executable, "-m", "scheduler", f"--master={master}", f"--secure-port={port}", "--bind-address=127.0.0.1",
        f"--authorization-always-allow-paths={open_paths}", "-v=2", *flags,
    ]  # fmt: skip
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=tmp_path, env=environment(**more), stdout=output, stderr=output
        )
    try:
        yield SchedulerProcess(process, port, log)
    except AssertionError as error:
        error.add_note(f"the scheduler's log ends so:\n{log.read_text()[-2000:]}")
        raise
    finally:
        process.kill()
        process.wait()


def load(sandbox: Sandbox, text: str) -> None:
    """Create the objects of a YAML text."""
    sandbox.load(each for each in yaml.safe_load_all(text) if each)


def node(name: str, **labels: str) -> dict[str, Any]:
    """A node with four cores."""
    allocatable = {"cpu": "4", "memory": "8Gi", "pods": "110"}
    meta = {"name": name, "labels": {key.replace("_", "-"): value for key, value in labels.items()}}
    return {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": {"allocatable": allocatable}}


def pod(name: str, **spec: Any) -> dict[str, Any]:
    """A pod of one container that wants a tenth of a core."""
    container = {"name": "main", "image": "busybox", "resources": {"requests": {"cpu": "100m"}}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "default"},
        "spec": {"containers": [container], **spec},
    }


def node_of(sandbox: Sandbox, name: str) -> str:
    """The node of a pod in the default namespace, "" while it has none."""
    entry = sandbox.store.get("pods", "default", name)
    return entry["spec"].get("nodeName", "") if entry else ""


def eventually_bound(sandbox: Sandbox, name: str) -> str:
    """The node that the pod gets."""
    return eventually(lambda: node_of(sandbox, name), f"pod {name} bound")


def decode(text: str) -> Any:
    """JSON."""
    return msgspec.json.decode(text)
