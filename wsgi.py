"""``gunicorn wsgi:app``: the same process, served by gunicorn.

gunicorn imports this module in every worker, so each worker is a whole replica: its own informers, its own cluster state, a
candidate of its own in the leader election; only the holder of the lease schedules. Flags come from the environment::

    WHARFINGER_FLAGS="--kubeconfig=/etc/kubernetes/scheduler.conf -v=2" gunicorn -w 2 -k gthread --threads 16 wsgi:app

Wrong flags are one line of each worker, and gunicorn gives up with exit code 3. With several workers its master may add a traceback that
ends in ``HaltServer``: it does not expect a second worker to fail while it is stopping for the first. The line that counts stands above it.

A replica that ends by itself, because it lost the lease or died of a bug, has its worker end too; gunicorn starts another.

The address, TLS and signals are gunicorn's own business here; ``--bind-address``, ``--secure-port`` and the certificate flags
do not count. Do not use ``--preload``: threads do not survive the fork.
"""

from __future__ import annotations

import atexit
import dataclasses
import os
import shlex
import signal
import sys
import threading
from typing import NoReturn

from flask import Flask

from scheduler.app.config import make_config
from scheduler.app.loading import StartupError
from scheduler.app.options import Options
from scheduler.app.server import EXPECTED, check
from scheduler.app.setup import Setup, set_up

_SHUTDOWN_SECONDS = 10.0
_ANY_PORT = 1
_BOOT_ERROR = 3
"""The exit code of a worker by which gunicorn gives up; any other would have it start workers for ever."""


def start(flags: str) -> Flask:
    """Start a replica in this process and return the application that gunicorn serves.

    Raises:
        SystemExit: the flags, or what they name, are wrong; what is wrong was printed.
    """
    try:
        words = shlex.split(flags)
    except ValueError as error:  # a quotation that is not closed
        _refuse(error)
    options, errors = Options.parse(words, program="wsgi")
    if errors:
        _refuse("; ".join(errors))
    try:
        options = _served(options)
        made = set_up(make_config(options, check(options)))
    except (StartupError, *EXPECTED) as error:
        _refuse(error)
    runner = threading.Thread(target=_run, args=(made,), name="process", daemon=True)
    runner.start()
    atexit.register(_stop, made, runner)
    return made.app


def _served(options: Options) -> Options:
    """``--secure-port`` does not count, not as 0 either: somebody does serve, so it matters who may ask."""
    serving = dataclasses.replace(options.serving, secure_port=options.serving.secure_port or _ANY_PORT)
    return dataclasses.replace(options, serving=serving)


def _run(made: Setup) -> None:
    code = 1
    try:
        code = made.process.run()
    finally:
        if code:
            os.kill(os.getpid(), signal.SIGTERM)


def _refuse(reason: object) -> NoReturn:
    print(f"WHARFINGER_FLAGS: {reason}", file=sys.stderr, flush=True)
    raise SystemExit(_BOOT_ERROR)


def _stop(made: Setup, runner: threading.Thread) -> None:
    made.process.request_stop()
    runner.join(_SHUTDOWN_SECONDS)


app = start(os.environ.get("WHARFINGER_FLAGS", ""))
