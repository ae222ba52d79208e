"""Back-off and rate limit by a clock that only moves when told."""

import random

import pytest

from scheduler.client.backoff import Backoff
from scheduler.client.ratelimit import TokenBucket, Unlimited, limiter


class Clock:
    """Seconds that pass by hand, or by waiting."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.seconds += seconds


def test_backoff_is_jittered_by_up_to_its_own_length() -> None:
    backoff = Backoff(rng=random.Random(3), now=lambda: 0.0)
    delays = [backoff.delay() for _ in range(6)]
    for base, delay in zip([0.8, 1.6, 3.2, 6.4, 12.8, 25.6], delays, strict=True):
        assert base <= delay <= 2 * base
    assert len(set(delays)) == 6


def test_backoff_forgets_after_two_quiet_minutes() -> None:
    clock = Clock()
    backoff = Backoff(jitter=0.0, now=clock)
    assert [backoff.delay(), backoff.delay()] == [0.8, 1.6]
    clock.wait(120.5)
    assert backoff.delay() == 0.8


def test_a_burst_passes_then_the_rate_holds() -> None:
    clock = Clock()
    bucket = TokenBucket(qps=10, burst=3, now=clock, wait=clock.wait)
    assert [bucket.acquire() for _ in range(5)] == pytest.approx([0, 0, 0, 0.1, 0.1])


def test_callers_in_debt_queue_up_one_behind_the_other() -> None:
    bucket = TokenBucket(qps=10, burst=1, now=lambda: 0.0)
    assert [bucket.reserve() for _ in range(4)] == pytest.approx([0, 0.1, 0.2, 0.3])


def test_an_idle_bucket_fills_up_to_the_burst_only() -> None:
    clock = Clock()
    bucket = TokenBucket(qps=10, burst=2, now=clock, wait=clock.wait)
    bucket.acquire()
    clock.wait(3600)
    assert [bucket.acquire() for _ in range(3)] == pytest.approx([0, 0, 0.1])


def test_zero_means_the_default_and_negative_no_limit() -> None:
    clock = Clock()
    default = limiter(0, 0, now=clock, wait=clock.wait)
    assert [default.acquire() for _ in range(11)] == pytest.approx([0.0] * 10 + [0.2])
    assert isinstance(limiter(-1, 0), Unlimited)


def test_an_impossible_bucket_is_refused() -> None:
    with pytest.raises(ValueError, match="qps > 0"):
        TokenBucket(qps=1, burst=0)
