"""Signals, waited for by the main thread.

A Python handler runs in the main thread, and only once that thread gets to it: a signal that comes just before it begins to wait for a lock
is not noticed until the wait ends. So the interpreter writes each signal's number into a socket, and the main thread waits for that.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Collection
from types import FrameType, TracebackType
from typing import Any, Self


class Signals:
    """Catches some signals while the ``with`` block runs, which has to be in the main thread."""

    def __init__(self, wanted: Collection[signal.Signals]) -> None:
        self._wanted = frozenset(wanted)
        self._before: dict[signal.Signals, Any] = {}
        self._wakeup = -1

    def __enter__(self) -> Self:
        self._out, self._in = socket.socketpair()
        self._in.setblocking(False)
        self._wakeup = signal.set_wakeup_fd(self._in.fileno(), warn_on_full_buffer=False)
        self._before = {signum: signal.signal(signum, _nothing) for signum in self._wanted}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for signum, handler in self._before.items():
            signal.signal(signum, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._in.close()
        self._out.close()

    def wait(self) -> signal.Signals:
        """The next one of the signals that came, or will come."""
        while True:
            (number,) = self._out.recv(1)
            if number in self._wanted:
                return signal.Signals(number)


def _nothing(signum: int, frame: FrameType | None) -> None:
    """What came stands in the socket."""
