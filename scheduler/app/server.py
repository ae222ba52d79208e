"""The command: Options -> Config -> Run.

::

    argv ── Options.parse ── validate ── configuration ── make_config ── set_up ── run ──> exit code
              │ usage error     │ every error at once          │ one clear line
              └────── 1 ────────┴──────────── 1 ───────────────┘

Nothing that goes wrong before ``run`` shows a traceback: each kind of error that can be expected has a line of its own.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Iterable, Sequence
from types import FrameType

from scheduler.apis import config as configuration
from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.fielderror import quote
from scheduler.app import logs
from scheduler.app.build import ConfigurationError
from scheduler.app.compatibility import gate_lines
from scheduler.app.config import make_config
from scheduler.app.flags import help_text, usage_line
from scheduler.app.flags.version import version_text
from scheduler.app.loading import StartupError, load_configuration, placed
from scheduler.app.options import Options
from scheduler.app.pages import shown_configuration, shown_flags
from scheduler.app.setup import Setup, server, set_up
from scheduler.client.errors import AccessError
from scheduler.framework.profile import ProfileError
from scheduler.framework.registry import PluginLoadError
from scheduler.logkeys import keys
from scheduler.serving.http import ListenError
from scheduler.serving.tls import CertificateError
from scheduler.verbosity import V1, V2

logger = logging.getLogger(__name__)

PROGRAM = "wharfinger"
FAILURE = 1
EXPECTED = (AccessError, CertificateError, ConfigurationError, ListenError, PluginLoadError, ProfileError)
"""What may go wrong with the world outside before anything runs; each says so in one line."""


def main(words: Sequence[str]) -> int:
    """The command ``wharfinger`` without a sub-command (see ``app.main``), with these words; the exit code is returned."""
    options, errors = Options.parse(words, program=PROGRAM)
    if errors:
        return _refuse([*errors, usage_line(PROGRAM)])
    if options.request.help:
        print(help_text(PROGRAM, gate_lines(options.features)))
        return 0
    if options.request.version in ("true", "raw"):
        print(version_text(options.request.version))
        return 0
    try:
        return command(options)
    except StartupError as refusal:
        return _refuse(refusal.reasons)


def command(options: Options) -> int:
    """Run with these options, or write the configuration that they amount to.

    Raises:
        StartupError: something is wrong with them; everything that is wrong is told.
    """
    component = check(options)
    if options.misc.write_config_to:
        return _write_config(options.misc.write_config_to, configuration.dump(component))
    try:
        config = make_config(options, component)
        made = set_up(config)
        port = server(config, made.app)
        if port is not None:
            made.process.serve_with(port)
        return run(made)
    except ConfigurationError as error:
        raise StartupError(placed(error.errors, options)) from error
    except EXPECTED as error:
        raise StartupError([error]) from error


def check(options: Options) -> KubeSchedulerConfiguration:
    """The configuration in force, once options and configuration are found to be good; logging is set up by then.

    Raises:
        StartupError: they are not.
    """
    errors = options.validate()
    if errors:
        raise StartupError(errors)
    logs.setup(options.logs)
    for name, value in shown_flags(options).items():
        logger.log(V1, "FLAG: --%s=%s", name, quote(value))
    for warning in options.warnings():
        logger.warning("%s", warning)
    component = load_configuration(options)
    if logger.isEnabledFor(V2):
        logger.log(V2, "Using component config", extra=keys(config=shown_configuration(component)))
    return component


def run(made: Setup) -> int:
    """Run until a signal: the first SIGTERM or SIGINT ends it gracefully, the second at once with exit code 1.

    SIGHUP has it reload its configuration, SIGUSR2 compare what it believes with the API server and log both.
    """

    def stop(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # a signal handler
        for again in (signal.SIGTERM, signal.SIGINT):
            signal.signal(again, _give_up)
        # The main thread may be holding the lock of what it waits for, so another thread has to tell it.
        threading.Thread(target=made.process.request_stop, name="stop", daemon=True).start()

    def reload(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # a signal handler
        threading.Thread(target=made.reloader.request, name="reload-request", daemon=True).start()

    def debug(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # a signal handler
        threading.Thread(target=made.debugger.run, name="debugger", daemon=True).start()

    for signum in (signal.SIGTERM, signal.SIGINT):
        signal.signal(signum, stop)
    signal.signal(signal.SIGHUP, reload)
    signal.signal(signal.SIGUSR2, debug)
    return made.process.run()


def _give_up(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001  # a signal handler
    logging.shutdown()
    os._exit(FAILURE)  # nothing is waited for: that is what the second signal means


def _write_config(path: str, text: str) -> int:
    """A file that is new is its owner's alone: it may hold the private keys of extenders."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(text.encode())
    except OSError as error:
        raise StartupError([f"open {path}: {(error.strerror or str(error)).lower()}"]) from error
    logger.info("Wrote configuration", extra=keys(file=path))
    return 0


def _refuse(reasons: Iterable[object]) -> int:
    for reason in reasons:
        print(reason, file=sys.stderr)  # the command's own words to its user
    return FAILURE
