"""Settings: what the demo was asked for, where its files lie, and the command lines that follow from it."""

from __future__ import annotations

import os
import socket
import sys
from dataclasses import dataclass
from pathlib import Path

from scheduler.app.cli.demo.errors import DemoError

PROJECT = Path(__file__).resolve().parents[4]
SAMPLE = PROJECT / "manifests" / "samples" / "cluster.yaml"
HOST = "127.0.0.1"
USUAL_PORT = 10259
"""kube-scheduler's port, taken when it is free."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What was asked for.

    Attributes:
        once: end after the summary.
        load: manifests for the sandbox.
        config: a KubeSchedulerConfiguration, or None.
        directory: for the kubeconfig, logs, certificates and request bodies.
        timeout: seconds until every pod must have been judged.
        port: the scheduler's; 0 chooses.
        scheduler_flags: more words for the scheduler's command line.
    """

    once: bool
    load: tuple[Path, ...]
    config: Path | None
    directory: Path
    timeout: float
    port: int
    scheduler_flags: tuple[str, ...] = ()

    @property
    def kubeconfig(self) -> Path:
        """The sandbox's kubeconfig."""
        return self.directory / "kubeconfig"

    @property
    def certificate(self) -> Path:
        """The scheduler's self-signed certificate."""
        return self.directory / "certificates" / "kube-scheduler.crt"

    @property
    def body(self) -> Path:
        """A request body for the extender's verbs."""
        return self.directory / "extender-args.json"

    def log(self, name: str) -> Path:
        """The log file of a child."""
        return self.directory / f"{name}.log"


def sandbox_command(settings: Settings, port: int) -> list[str]:
    """The sandbox's command line."""
    loads = [word for path in settings.load for word in ("--load", str(path))]
    return [*_python(), "sandbox", "--port", str(port), "--run-pods", *loads]


def scheduler_command(settings: Settings, master: str, port: int) -> list[str]:
    """The scheduler's command line.

    ``--master`` beside ``--kubeconfig``, because the latter does not count together with ``--config``, as with kube-scheduler.
    """
    words = [
        f"--kubeconfig={settings.kubeconfig}",
        f"--master={master}",
        "--leader-elect=false",
        f"--bind-address={HOST}",
        f"--secure-port={port}",
        f"--cert-dir={settings.certificate.parent}",
        "--authorization-always-allow-paths=/*",
        "--kube-api-qps=2000",
        "--kube-api-burst=4000",
        "-v=2",
    ]
    if settings.config is not None:
        words.append(f"--config={settings.config}")
    return [*_python(), *words, *settings.scheduler_flags]


def environment() -> dict[str, str]:
    """For the children: they run this very code, wherever the demo was started."""
    paths = [str(PROJECT), *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONUNBUFFERED": "1"}


def choose_port(wanted: int) -> int:
    """The port that was asked for; without one the usual port when it is free, else any free port. Raises DemoError."""
    if wanted:
        if not is_free(wanted):
            raise DemoError(f"port {wanted} is taken; leave out --port to have a free one chosen")
        return wanted
    return USUAL_PORT if is_free(USUAL_PORT) else free_port()


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def is_free(port: int) -> bool:
    """Whether nobody listens on the port."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _python() -> list[str]:
    return [sys.executable, "-P", "-m", "scheduler"]
