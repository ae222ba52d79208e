"""``wharfinger demo``: the arguments, the signals and the exit code."""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from scheduler.app.cli.demo import settings
from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.settings import Settings
from scheduler.app.cli.demo.stage import Stage


def main(arguments: list[str]) -> int:
    """Run the demo; 0 when it was ended by Ctrl-C or SIGTERM, or when ``--once`` found everything as expected."""
    logging.basicConfig(level=logging.ERROR, format="demo: %(message)s")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    try:
        return _run(_settings(arguments), stop, _since_start(time.monotonic))
    except DemoError as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1


def _run(chosen: Settings, stop: threading.Event, now: Callable[[], float]) -> int:
    print("starting the sandbox and the scheduler", flush=True)
    with Stage(chosen) as stage:
        from scheduler.app.cli.demo.onlooker import Onlooker  # while the children load theirs

        return Onlooker(chosen, stage, stop, now, terminal=sys.stdout.isatty()).run()


def _settings(arguments: list[str]) -> Settings:
    own, passed_on = _split(arguments)
    parsed = _parser().parse_args(own)
    if not (parsed.load or settings.SAMPLE.is_file()):
        raise DemoError("the sample cluster comes with a checkout, not with the package; give --load FILE")
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
    once = "end after the summary; exit 0 when all that can be placed is placed"
    load = "manifests to load instead of the sample cluster (repeatable)"
    config = "a KubeSchedulerConfiguration for the scheduler"
    port = f"the scheduler's port (default: {settings.USUAL_PORT} if it is free)"
    directory = "for kubeconfig, logs and certificates (default: .run)"
    timeout = "how long every pod may take to be judged (default: 60)"
    parser.add_argument("--once", action="store_true", help=once)
    parser.add_argument("--load", type=Path, action="append", metavar="FILE", help=load)
    parser.add_argument("--config", type=Path, metavar="FILE", help=config)
    parser.add_argument("--port", type=int, default=0, help=port)
    parser.add_argument("--directory", type=Path, default=Path(".run"), metavar="DIR", help=directory)
    parser.add_argument("--timeout", type=float, default=60.0, metavar="SECONDS", help=timeout)
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
