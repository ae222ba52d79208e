"""Workers: a few threads for what blocks: bindings, status patches.

Daemon threads, unlike those of ``concurrent.futures``: the interpreter does not wait for them when it ends, so that a request to a
server that does not answer never keeps a process alive that was told to stop.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from typing import Protocol

logger = logging.getLogger(__name__)

Work = Callable[[], None]


class Crew(Protocol):
    """Does what is submitted, at once or later."""

    def submit(self, work: Work) -> None:
        """Have ``work`` done soon; once stopped, never."""
        ...

    def stop(self, timeout: float | None) -> int:
        """Begin nothing more, and wait at most ``timeout`` seconds for what has begun; the number of works that have not ended by then."""
        ...


class Workers:
    """Runs what is submitted, in the order of submission, on at most ``limit`` threads; they are started when needed."""

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._changed = threading.Condition()
        self._waiting: deque[Work] = deque()
        self._threads = 0
        self._idle = 0
        self._closed = False

    def submit(self, work: Work) -> None:
        """Have ``work`` run soon; once stopped, never. What it raises is logged."""
        with self._changed:
            if self._closed:
                return
            self._waiting.append(work)
            if self._idle < len(self._waiting) and self._threads < self._limit:
                self._start_thread()
            else:
                self._changed.notify()

    def stop(self, timeout: float | None) -> int:
        """Begin nothing more, and wait at most ``timeout`` seconds for what has begun; the number of works that have not ended by then."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._threads, timeout)
            return self._threads

    def _start_thread(self) -> None:
        self._threads += 1
        name = f"{self._name}-{self._threads}"
        threading.Thread(target=self._run, name=name, daemon=True).start()

    def _run(self) -> None:
        while self._do_next():
            pass
        with self._changed:
            self._threads -= 1
            self._changed.notify_all()

    def _do_next(self) -> bool:
        """Do the next work, and forget it: it may hold a lot. False when there will be none."""
        work = self._next()
        if work is None:
            return False
        try:
            work()
        except BaseException:
            # Not even what means to end a thread may: there would be one less from then on.
            logger.exception("a worker failed")
        return True

    def _next(self) -> Work | None:
        """The next work; None when there will be none."""
        with self._changed:
            self._idle += 1
            self._changed.wait_for(lambda: self._waiting or self._closed)
            self._idle -= 1
            return self._waiting.popleft() if self._waiting else None
