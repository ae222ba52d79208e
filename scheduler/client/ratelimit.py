"""The client-side limit of requests per second: ``clientConnection.qps`` and ``burst``.

A token bucket as in client-go (``flowcontrol.NewTokenBucketRateLimiter``): it starts full with ``burst`` tokens and
refills with ``qps`` tokens per second. A caller takes its token at once, possibly into the red, and then sleeps off
the debt; so callers are served in order and nobody polls.
"""

import threading
import time
from collections.abc import Callable

DEFAULT_QPS = 5.0
"""What client-go uses when qps is 0."""
DEFAULT_BURST = 10
"""What client-go uses when burst is 0."""


class TokenBucket:
    """Thread-safe token bucket.

    ``now``: monotonic seconds. ``wait(seconds)`` blocks the caller, and may return early when the client is closing.
    """

    def __init__(
        self,
        qps: float,
        burst: int,
        *,
        now: Callable[[], float] = time.monotonic,
        wait: Callable[[float], object] = time.sleep,
    ) -> None:
        if qps <= 0 or burst < 1:
            raise ValueError(f"a token bucket needs qps > 0 and burst >= 1, got {qps} and {burst}")
        self._qps = qps
        self._burst = float(burst)
        self._tokens = float(burst)
        self._now = now
        self._wait = wait
        self._filled_at = now()
        self._lock = threading.Lock()

    def reserve(self) -> float:
        """Take one token; the seconds to wait before acting on it (0.0 when the bucket was not empty)."""
        with self._lock:
            now = self._now()
            self._tokens = min(self._burst, self._tokens + (now - self._filled_at) * self._qps) - 1.0
            self._filled_at = now
            return max(0.0, -self._tokens / self._qps)

    def acquire(self) -> float:
        """Take one token and wait until it is due; the seconds waited for."""
        delay = self.reserve()
        if delay > 0:
            self._wait(delay)
        return delay


class Unlimited:
    """The limiter that never limits."""

    def acquire(self) -> float:
        """No wait."""
        return 0.0


def limiter(
    qps: float,
    burst: int,
    *,
    now: Callable[[], float] = time.monotonic,
    wait: Callable[[float], object] = time.sleep,
) -> TokenBucket | Unlimited:
    """The limiter for a configured qps and burst: 0 means client-go's default, a negative qps no limit."""
    if qps < 0:
        return Unlimited()
    return TokenBucket(qps or DEFAULT_QPS, burst or DEFAULT_BURST, now=now, wait=wait)
