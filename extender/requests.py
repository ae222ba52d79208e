"""A request under way: what its path asked for, until when an answer is of use, and what is to be counted of it.

kube-scheduler waits ``httpTimeout`` for an answer, 5 s by default, and throws away what comes later, without a word of what went wrong. So
every verb runs in a thread of its own pool while the serving thread waits for it, and answers "too late" itself when the time is over::

    serving thread ──submit──> verb: decode ─> lock ─> judge ─> encode ──> answer
          │                                                     │
          └── deadline ──> "too late"; what has not begun is    └── a late answer is dropped
                           dropped, what has begun ends soon

A thread of Python's cannot be stopped from outside: a plugin that hangs keeps its thread, and the callers get their answers all the same.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from typing import Final

from scheduler.scheduling.workers import Crew


class TooLateError(Exception):
    """The request's time is over."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"no answer within {seconds:g} s, which this scheduler allows itself")


@dataclass(frozen=True, slots=True)
class Deadline:
    """When a request's time is over: ``at`` by the clock ``now``, ``seconds`` after it came."""

    seconds: float
    at: float
    now: Callable[[], float]

    @classmethod
    def after(cls, seconds: float, now: Callable[[], float]) -> Deadline:
        """So many seconds from now on."""
        return cls(seconds, now() + seconds, now)

    def left(self) -> float:
        """The seconds that are left, none or less when the time is over."""
        return self.at - self.now()

    def check(self) -> None:
        """Raise TooLateError when the time is over."""
        if self.left() <= 0:
            raise TooLateError(self.seconds)


NEVER: Final = Deadline(inf, inf, lambda: 0.0)


@dataclass(slots=True)
class Request:
    """One request.

    Attributes:
        profile: the profile that the path names; None when it names none.
        deadline: when its time is over.
        judged_by: the profile that judged; empty while none has.
        judged: the number of nodes judged.
        rejected: the number of nodes rejected, by plugin; the empty name stands for what no plugin rejected (unknown nodes, say).
        failed: the verb failed, whatever the status of the answer is.
    """

    profile: str | None = None
    deadline: Deadline = NEVER
    judged_by: str = ""
    judged: int = 0
    rejected: Counter[str] = field(default_factory=Counter)
    failed: bool = False


class _Task:
    """One call: waits, then runs, then has an outcome; unless it is given up while it waits."""

    def __init__(self, work: Callable[[], bytes], deadline: Deadline) -> None:
        self._work: Callable[[], bytes] | None = work
        self._deadline = deadline
        self._running = threading.Lock()
        self._running.acquire()
        self._answer = b""
        self._error: BaseException | None = None

    def run(self) -> None:
        """Called by a worker."""
        work = self._work
        if work is None:
            return
        try:
            self._deadline.check()
            self._answer = work()
        except BaseException as error:  # told to whoever waits
            self._error = error
        self._work = None  # a body may be large, and this may be remembered for a while
        self._running.release()

    def outcome(self) -> bytes:
        """The answer, when it comes in time; raises what the work raised, or TooLateError."""
        if not self._running.acquire(timeout=max(self._deadline.left(), 0.0)):
            self._work = None  # the crew may be busy for long
            raise TooLateError(self._deadline.seconds)
        if self._error is not None:
            raise self._error
        return self._answer


def in_time(work: Callable[[], bytes], deadline: Deadline, crew: Crew) -> bytes:
    """Have ``work`` done by the crew, and wait for it no longer than the deadline.

    Raises:
        TooLateError: the time is over; work that has begun goes on, and its outcome is dropped.
    """
    if deadline is NEVER:
        return work()
    task = _Task(work, deadline)
    crew.submit(task.run)
    return task.outcome()
