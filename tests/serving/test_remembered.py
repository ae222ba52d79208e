"""Answers that are kept: for their time, within bounds, one at a time."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from scheduler.serving.remembered import Remembered

DEADLINE = 20.0


class Oracle:
    """Counts what it is asked."""

    def __init__(self, seconds: float = 10.0) -> None:
        self.asked: list[str] = []
        self._seconds = seconds

    def about(self, key: str) -> tuple[str, float]:
        self.asked.append(key)
        return f"{key}{len(self.asked)}", self._seconds


def test_an_answer_is_kept_for_its_time() -> None:
    clock = [0.0]
    oracle = Oracle()
    kept: Remembered[str, str] = Remembered(9, now=lambda: clock[0])
    found = []
    for clock[0] in (0.0, 9.9, 10.0):
        found.append(kept.get("a", lambda: oracle.about("a")))
    assert found == ["a1", "a1", "a2"]


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    oracle = Oracle()
    kept: Remembered[str, str] = Remembered(2, now=lambda: 0.0)
    for key in "abacab":
        kept.get(key, lambda key=key: oracle.about(key))  # type: ignore[misc]
    assert oracle.asked == ["a", "b", "c", "b"]


def test_an_answer_without_time_is_not_kept() -> None:
    oracle = Oracle(seconds=0)
    kept: Remembered[str, str] = Remembered(9)
    assert [kept.get("a", lambda: oracle.about("a")) for _ in range(2)] == ["a1", "a2"]


def test_everybody_who_waits_gets_the_one_answer_or_the_one_error() -> None:
    kept: Remembered[str, str] = Remembered(9)
    asked, answer = threading.Event(), threading.Event()

    def failing() -> tuple[str, float]:
        asked.set()
        assert answer.wait(DEADLINE)
        raise LookupError("no")

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(kept.get, "a", failing)
        assert asked.wait(DEADLINE)
        second = pool.submit(kept.get, "a", failing)
        answer.set()
        for each in (first, second):
            with pytest.raises(LookupError):
                each.result(DEADLINE)
    assert kept.get("a", lambda: ("yes", 1.0)) == "yes"
