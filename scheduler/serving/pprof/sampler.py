"""Stacks of all threads, sampled: a hundred times a second, each with the CPU time that its thread took since the last look.

Nothing is instrumented, so nothing slows down while nobody asks. CPU time comes from the kernel's clock of the thread: a thread that waits
for a socket or for the interpreter's lock costs nothing and does not appear, as in a Go CPU profile. The sampler itself needs the
interpreter's lock to look, so stacks are those at which a thread lets go of it: lines inside a tight loop may swap places with their
neighbours, functions do not.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import NamedTuple

PERIOD_NANOSECONDS = 10_000_000
_PER_THREAD_CLOCK = 6  # CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED of Linux
_MAX_DEPTH = 256


class Line(NamedTuple):
    """A place in a stack: where the function begins, and the line in it that is being executed."""

    function: str
    file: str
    first_line: int
    line: int


Stack = tuple[Line, ...]
"""The innermost call first."""


class Sample(NamedTuple):
    """A thread that took CPU time; times in nanoseconds, ``at`` since the recording began."""

    at: int
    thread: str
    stack: Stack
    cpu: int


@dataclass(frozen=True, slots=True)
class Recording:
    """The samples of some time; ``started`` in nanoseconds since 1970, ``duration`` in nanoseconds."""

    started: int
    duration: int
    samples: list[Sample] = field(default_factory=list)


def record(seconds: float, stop: threading.Event | None = None) -> Recording:
    """Watch all threads but this one for so long, or until told to stop.

    Raises:
        OSError: this system has no CPU clocks of threads by their ids.
    """
    stop = stop or threading.Event()
    started, begin = time.time_ns(), time.monotonic_ns()
    end = begin + int(seconds * 1e9)
    clocks = _Clocks()
    samples: list[Sample] = []
    known: dict[Stack, Stack] = {}  # a recording may have a hundred thousand samples of a few stacks
    while (now := time.monotonic_ns()) < end and not stop.wait(min(PERIOD_NANOSECONDS, end - now) / 1e9):
        at = time.monotonic_ns() - begin
        samples += [
            Sample(at, name, known.setdefault(stack, stack), cpu) for name, stack, cpu in clocks.advanced()
        ]
    return Recording(started, time.monotonic_ns() - begin, samples)


def stacks() -> Counter[Stack]:
    """What every thread but this one is doing right now."""
    own = threading.get_ident()
    return Counter(_stack(frame) for ident, frame in sys._current_frames().items() if ident != own)  # noqa: SLF001  # the documented way to the stacks of other threads


class _Clocks:
    """The CPU clocks of the threads, and where they stood at the last look."""

    def __init__(self) -> None:
        time.clock_gettime_ns(_clock(threading.get_native_id()))
        self._last = {thread.ident: cpu for thread, cpu in _cpu_times()}

    def advanced(self) -> Iterator[tuple[str, Stack, int]]:
        """Name and stack of threads that ran since the last look, with their CPU time in nanoseconds."""
        frames = sys._current_frames()  # noqa: SLF001  # the documented way to the stacks of other threads
        for thread, cpu in _cpu_times():
            took = cpu - self._last.get(thread.ident, 0)
            self._last[thread.ident] = cpu
            if took > 0 and thread.ident in frames and thread.ident != threading.get_ident():
                yield thread.name, _stack(frames[thread.ident]), took


def _cpu_times() -> Iterator[tuple[threading.Thread, int]]:
    for thread in threading.enumerate():
        if thread.native_id is None:
            continue
        try:
            yield thread, time.clock_gettime_ns(_clock(thread.native_id))
        except OSError:
            continue  # it has just ended


def _clock(native_id: int) -> int:
    """Linux' CPU clock of a thread; an id that is no thread's any more is an error of the kernel, not a crash."""
    return (~native_id << 3) | _PER_THREAD_CLOCK


def _stack(frame: FrameType | None) -> Stack:
    found: list[Line] = []
    while frame is not None and len(found) < _MAX_DEPTH:
        code = frame.f_code
        found.append(
            Line(
                code.co_qualname, code.co_filename, code.co_firstlineno, frame.f_lineno or code.co_firstlineno
            )
        )
        frame = frame.f_back
    return tuple(found)
