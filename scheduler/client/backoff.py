"""Exponential back-off with jitter, forgotten after a quiet time.

Upstream: ``wait.Backoff.DelayWithReset`` of apimachinery, with the reflector's constants: 800 ms doubling to 30 s, each
delay stretched by up to 100 %, back to the start when two minutes have passed since the last start.
"""

import random
import time
from collections.abc import Callable


class Backoff:
    """A sequence of delays in seconds. Used by one thread."""

    def __init__(
        self,
        initial: float = 0.8,
        cap: float = 30.0,
        *,
        factor: float = 2.0,
        jitter: float = 1.0,
        reset_after: float = 120.0,
        now: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        self._initial = initial
        self._cap = cap
        self._factor = factor
        self._jitter = jitter
        self._reset_after = reset_after
        self._now = now
        self._rng = rng or random.Random()
        self._next = initial
        self._started_at = now()

    def delay(self) -> float:
        """The next delay; the one after it is longer, up to the cap."""
        now = self._now()
        if now - self._started_at > self._reset_after:
            self._next = self._initial
            self._started_at = now
        current = self._next
        self._next = min(self._cap, current * self._factor)
        return current * (1.0 + self._rng.random() * self._jitter)
