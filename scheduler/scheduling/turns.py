"""Turns: a lock that is taken in turn.

Python's locks are not fair: a loop that releases one and takes it again at once keeps everybody else out for long. Whoever
wants in first takes the turnstile, so that the one who comes out has to queue behind the one who waits.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """A fair, non-reentrant lock."""

    def __init__(self) -> None:
        self._turnstile = threading.Lock()
        self._lock = threading.Lock()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Hold the lock while the block runs."""
        with self._turnstile:
            self._lock.acquire()
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def released(self) -> Iterator[None]:
        """Within ``hold``: let others have their turns while the block runs, then wait for ours."""
        self._lock.release()
        try:
            yield
        finally:
            with self._turnstile:
                self._lock.acquire()
