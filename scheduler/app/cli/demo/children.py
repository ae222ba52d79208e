"""Children: processes of our own, each with a log file, ended in order.

They get their own session, so that Ctrl-C in a terminal reaches only the demo, which then ends the scheduler before the API server that it
talks to.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from scheduler.app.cli.demo.errors import DemoError

_TAIL_BYTES = 4096


class Child:
    """A running process; what it prints goes to its log."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        environment: Mapping[str, str],
        *,
        patience: float = 10.0,
    ) -> None:
        """Start it. ``patience``: seconds that it may take to end. Raises DemoError when it cannot be started."""
        self._patience = patience
        self.name = name
        self.log = log
        try:
            with log.open("wb") as output:
                self._process = subprocess.Popen(  # noqa: S603  # our own interpreter and arguments
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=dict(environment),
                    start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise DemoError(f"the {name} cannot be started: {error}") from None

    def check(self) -> None:
        """Raises DemoError when the process has ended."""
        code = self._process.poll()
        if code is None:
            return
        ended = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
        # A signal comes from outside: the log knows nothing of it.
        words = self._last_words() if code > 0 else ""
        raise DemoError(f"the {self.name} {ended}{f': {words}' if words else ''} (its log: {self.log})")

    def stop(self) -> None:
        """Ask it to end, and see that it does."""
        if self._process.poll() is not None:
            return
        self._process.terminate()
        try:
            self._process.wait(self._patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _last_words(self) -> str:
        """The last line of the log."""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - _TAIL_BYTES))
            lines = log.read().decode(errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
