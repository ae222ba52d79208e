"""Samples as trace events: what each thread did, and when. (Go's own trace format tells of its runtime; nothing here is like it.)

The format is that of Chrome's trace viewer, in JSON: a call that is in two samples of a thread in a row counts as one.
"""

from collections.abc import Iterator

import msgspec

from scheduler.serving.pprof.sampler import PERIOD_NANOSECONDS, Line, Recording, Sample

_GAP_NANOSECONDS = 2 * PERIOD_NANOSECONDS
"""A thread that was not seen for so long was doing nothing."""


def trace_events(recording: Recording) -> bytes:
    """The file."""
    threads: dict[str, list[Sample]] = {}
    for sample in recording.samples:
        threads.setdefault(sample.thread, []).append(sample)
    events: list[dict[str, object]] = []
    for number, (thread, samples) in enumerate(threads.items(), 1):
        events.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": number, "args": {"name": thread}})
        for start, end, line in _calls(samples):
            events.append(
                {
                    "ph": "X", "name": line.function, "cat": line.file, "pid": 1, "tid": number,
                    "ts": start / 1000, "dur": (end - start) / 1000,
                }
            )  # fmt: skip
    return msgspec.json.encode({"traceEvents": events, "displayTimeUnit": "ms"})


def _calls(samples: list[Sample]) -> Iterator[tuple[int, int, Line]]:
    """Begin, end (in nanoseconds) and function of every call that was seen, outer ones first."""
    open_calls: list[tuple[int, Line]] = []
    last = 0
    found: list[tuple[int, int, Line]] = []
    for sample in samples:
        outer_first = sample.stack[::-1]
        kept = _common(open_calls, outer_first) if sample.at - last <= _GAP_NANOSECONDS else 0
        found += [(start, last, line) for start, line in open_calls[kept:]]
        begin = max(last, sample.at - PERIOD_NANOSECONDS)
        open_calls = open_calls[:kept] + [(begin, line) for line in outer_first[kept:]]
        last = sample.at
    found += [(start, last, line) for start, line in open_calls]
    yield from sorted(found, key=lambda call: (call[0], -call[1]))


def _common(open_calls: list[tuple[int, Line]], stack: tuple[Line, ...]) -> int:
    """How many of the outer calls are the same."""
    count = 0
    for (_, line), now in zip(open_calls, stack, strict=False):
        if line[:3] != now[:3]:
            break
        count += 1
    return count
