"""The stage: the two processes of the demo, side by side, and where they can be reached.

Loading modules is most of a start. So both are started at once, before the demo loads what it needs itself, with ports chosen ahead: the
sandbox serves before the scheduler has finished loading.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from scheduler.app.cli.demo import settings
from scheduler.app.cli.demo.children import Child
from scheduler.app.cli.demo.directory import reserved
from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.settings import HOST, Settings
from scheduler.sandbox.kubeconfig import kubeconfig

_SANDBOX_SECONDS = 30.0
_LOOK_SECONDS = 0.02


class Stage:
    """A context: the processes run inside it and are ended when it is left, the scheduler first.

    Attributes:
        port: the scheduler's, HTTPS.
        url: the sandbox's.
    """

    def __init__(self, chosen: Settings) -> None:
        self._settings = chosen
        self._children: list[Child] = []
        self._directory = ExitStack()
        self._sandbox_port = 0
        self.port = 0
        self.url = ""

    def __enter__(self) -> Self:
        """Start both. Raises DemoError."""
        self.port = settings.choose_port(self._settings.port)
        self._sandbox_port = settings.free_port()
        self.url = f"http://{HOST}:{self._sandbox_port}"
        self._directory.enter_context(reserved(self._settings.directory))
        try:
            self._write_kubeconfig()
            self._start("sandbox", settings.sandbox_command(self._settings, self._sandbox_port))
            self._start("scheduler", settings.scheduler_command(self._settings, self.url, self.port))
        except DemoError:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    def check(self) -> None:
        """Raises DemoError when one of them has ended."""
        for child in self._children:
            child.check()

    def wait_for_sandbox(self, stop: threading.Event, now: Callable[[], float]) -> None:
        """Until the sandbox accepts connections, or ``stop`` is set. Raises DemoError when that takes too long."""
        deadline = now() + _SANDBOX_SECONDS
        while settings.is_free(self._sandbox_port) and not stop.wait(_LOOK_SECONDS):
            self.check()
            if now() > deadline:
                log = self._settings.log("sandbox")
                raise DemoError(f"the sandbox is not ready after {_SANDBOX_SECONDS:.0f} s (its log: {log})")

    def _start(self, name: str, command: Sequence[str]) -> None:
        log = self._settings.log(name)
        self._children.append(Child(name, command, log, settings.environment()))

    def _leave(self) -> None:
        for child in reversed(self._children):
            child.stop()
        self._directory.close()

    def _write_kubeconfig(self) -> None:
        try:
            self._settings.kubeconfig.write_text(kubeconfig(self.url))
        except OSError as error:
            raise DemoError(f"{self._settings.directory} cannot be used: {error.strerror}") from None
