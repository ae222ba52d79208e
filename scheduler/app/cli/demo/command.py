"""``wharfinger demo``: the arguments, the order of it all, and the exit code."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from rich.console import Console

from scheduler.apis.objects import Pod, decode
from scheduler.app.cli.demo import decisions, live, paste, settings, summary, verdict
from scheduler.app.cli.demo.children import Child
from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.ledger import Ledger
from scheduler.app.cli.demo.settings import Settings
from scheduler.client.access import Access, load_access, user_agent
from scheduler.client.errors import ClientError
from scheduler.client.informers import Informer
from scheduler.client.resources import PODS
from scheduler.client.rest import Rest
from scheduler.sandbox.kubeconfig import kubeconfig

_POLL_SECONDS = 0.1
_SANDBOX_SECONDS = 30.0
_WIDTH = 150
"""Columns where there is no terminal to ask."""


def main(arguments: list[str]) -> int:
    """Run the demo; 0 when it was ended by Ctrl-C or SIGTERM, or when ``--once`` found everything as expected."""
    logging.basicConfig(level=logging.ERROR, format="demo: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    try:
        return Demo(_settings(arguments), console, stop, _since_start(time.monotonic)).run()
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


class Demo:
    """One run.

    Args:
        console: where it shows.
        stop: set when the user has had enough.
        now: seconds since the start of this process.
    """

    def __init__(
        self, chosen: Settings, console: Console, stop: threading.Event, now: Callable[[], float]
    ) -> None:
        self._settings = chosen
        self._console = console
        self._stop = stop
        self._now = now
        self._ledger = Ledger(now)
        self._children: list[Child] = []

    def run(self) -> int:
        """All of it; the exit code. Raises DemoError."""
        with ExitStack() as cleanup:
            port = settings.choose_port(self._settings.port)
            access = self._start_children(cleanup, port)
            rest = Rest(access, user_agent=user_agent("demo", "demo"))
            informer = Informer(rest, PODS, partial(decode, Pod))
            informer.add_handler(self._ledger)
            informer.start()
            cleanup.callback(informer.stop)
            self._follow(informer)
            if self._stop.is_set():
                return self._stopped_early()
            self._tell(rest, port)
            if self._settings.once:
                return self._judge()
            self._keep_serving()
            return 0

    def _start_children(self, cleanup: ExitStack, port: int) -> Access:
        """Start both at once: the sandbox serves before the scheduler has loaded its modules."""
        sandbox_port = settings.free_port()
        url = f"http://{settings.HOST}:{sandbox_port}"
        self._prepare_directory(url)
        self._start(cleanup, "sandbox", settings.sandbox_command(self._settings, sandbox_port))
        self._start(cleanup, "scheduler", settings.scheduler_command(self._settings, url, port))
        try:
            access = load_access(str(self._settings.kubeconfig))
        except ClientError as error:
            raise DemoError(str(error)) from None
        self._wait_for_sandbox(sandbox_port)
        return access

    def _start(self, cleanup: ExitStack, name: str, command: Sequence[str]) -> None:
        child = Child(name, command, self._settings.log(name), settings.environment())
        cleanup.callback(child.stop)
        self._children.append(child)

    def _wait_for_sandbox(self, port: int) -> None:
        """Until it accepts connections. Raises DemoError."""
        deadline = self._now() + _SANDBOX_SECONDS
        while settings.is_free(port):
            self._check_children()
            if self._now() > deadline:
                log = self._settings.log("sandbox")
                raise DemoError(f"the sandbox is not ready after {_SANDBOX_SECONDS:.0f} s (its log: {log})")
            if self._stop.wait(0.02):
                raise DemoError("stopped before the sandbox was ready")

    def _follow(self, informer: Informer[Pod]) -> None:
        """Show progress until every pod is judged. Raises DemoError when that takes too long."""
        with live.view(self._console, self._ledger, self._now) as view:
            while not self._stop.is_set():
                self._check_children()
                pods = self._ledger.pods()
                if informer.has_synced and verdict.settled(pods):
                    return
                if self._now() > self._settings.timeout:
                    raise DemoError(self._too_late(pods))
                view.look()
                self._ledger.wait(_POLL_SECONDS)

    def _too_late(self, pods: Sequence[Pod]) -> str:
        waiting = verdict.unjudged(pods)
        more = f" and {len(waiting) - 1} more" if len(waiting) > 1 else ""
        first = waiting[0] if waiting else "the sandbox did not list its pods"
        return f"not finished after {self._settings.timeout:.0f} s: {first}{more} (log: {self._settings.log('scheduler')})"

    def _tell(self, rest: Rest, port: int) -> None:
        """The summary, and what to try next."""
        made = decisions.fetch(port, self._settings.certificate)
        self._ledger.claim(pod for pod, each in made.items() if each.result == "scheduled")
        summary.show(self._console, self._ledger.pods(), self._ledger.placements(), made)
        paste.write_body(rest, self._settings.body)
        if not self._settings.once:
            self._console.print("\nIt keeps running. In another terminal, in this directory:\n", markup=False)
            for line in paste.lines(self._settings, port):
                print(line)
            self._console.print("\nNew placements follow. Ctrl-C ends it.", markup=False)

    def _judge(self) -> int:
        surprises = verdict.surprises(self._ledger.pods())
        if surprises:
            raise DemoError("; ".join(surprises))
        self._console.print("all that can be placed is placed", markup=False)
        return 0

    def _keep_serving(self) -> None:
        """Until the user has had enough, tell each new placement."""
        told = len(self._ledger.placements())
        while not self._stop.is_set():
            self._check_children()
            for each in self._ledger.placements(told):
                told += 1
                self._console.print(f"{each.pod} -> {each.node}", markup=False)
            self._ledger.wait(_POLL_SECONDS)

    def _stopped_early(self) -> int:
        if self._settings.once:
            raise DemoError("stopped before every pod was judged")
        return 0

    def _check_children(self) -> None:
        for child in self._children:
            child.check()

    def _prepare_directory(self, url: str) -> None:
        """The directory, and the kubeconfig of the sandbox that will serve at ``url``."""
        directory = self._settings.directory
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._settings.kubeconfig.write_text(kubeconfig(url))
        except OSError as error:
            raise DemoError(f"{directory} cannot be used: {error.strerror}") from None


def _settings(arguments: list[str]) -> Settings:
    own, passed_on = _split(arguments)
    parsed = _parser().parse_args(own)
    loads = tuple(parsed.load or [settings.SAMPLE])
    for path in (*loads, *filter(None, [parsed.config])):
        if not path.is_file():
            raise DemoError(f"{path}: no such file")
    return Settings(
        once=parsed.once,
        load=loads,
        config=parsed.config,
        directory=parsed.directory,
        timeout=parsed.timeout,
        port=parsed.port,
        scheduler_flags=tuple(passed_on),
    )


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What stands before ``--``, and what stands after it."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wharfinger demo",
        description="Start a sandbox cluster and the scheduler, and watch the pods get their nodes.",
        epilog="Words after -- are flags for the scheduler, such as: demo -- --plugin=my_module:MyPlugin",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--once",
        action="store_true",
        help="end after the summary; exit 0 when all that can be placed is placed",
    )
    parser.add_argument(
        "--load",
        type=Path,
        action="append",
        metavar="FILE",
        help="manifests to load instead of the sample cluster (repeatable)",
    )
    parser.add_argument(
        "--config", type=Path, metavar="FILE", help="a KubeSchedulerConfiguration for the scheduler"
    )
    parser.add_argument(
        "--port",
        type=int,
        default=0,
        help=f"the scheduler's port (default: {settings.USUAL_PORT} if it is free)",
    )
    parser.add_argument(
        "--directory",
        type=Path,
        default=Path(".run"),
        metavar="DIR",
        help="for kubeconfig, logs and certificates (default: .run)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how long every pod may take to be judged (default: 60)",
    )
    return parser


def _since_start(clock: Callable[[], float]) -> Callable[[], float]:
    """A clock that starts with this process, the interpreter's own start included."""
    begun = clock() - _age()
    return lambda: clock() - begun


def _age() -> float:
    """Seconds since the kernel started this process; 0 where it does not tell."""
    try:
        fields = Path("/proc/self/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
    return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
