"""Durations as Go writes them: `1m30s`, `100ms`, `1.5h`, `-2us`, `0`.

Configuration files, flags and API fields carry Go durations. They are kept as whole nanoseconds in an `int`, because a
configuration that is written back must not lose what was read, and `datetime.timedelta` ends at microseconds. The sizes
of the units come from durationpy; its own parser is not used: it computes in floats and knows days and years, which Go
refuses.

The source of the rules is Go's `time.ParseDuration` and `time.Duration.String`.
"""

from __future__ import annotations

import re
from typing import Final

from durationpy.duration import units

MAX: Final = (1 << 63) - 1
_MAX_TEXT: Final = 256
_FRACTION_DIGITS: Final = 18
_GO_UNITS: Final = ("ns", "us", "µs", "μs", "ms", "s", "m", "h")
_UNITS: Final[dict[str, int]] = {unit: int(units[unit]) for unit in _GO_UNITS}
SECOND: Final = _UNITS["s"]
"""In nanoseconds, as durations are kept."""

_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]*)")


class DurationError(ValueError):
    """The text is not a Go duration, or is one that 64 bits of nanoseconds cannot hold."""


def parse(text: str) -> int:
    """Nanoseconds of a Go duration. Raises `DurationError` for anything that Go refuses, overflow included."""
    if len(text) > _MAX_TEXT:
        raise DurationError(f'time: invalid duration "{text[:32]}..." (longer than {_MAX_TEXT} characters)')
    rest = text
    negative = rest[:1] == "-"
    if rest[:1] in ("-", "+"):
        rest = rest[1:]
    if rest == "0":
        return 0
    if not rest:
        raise DurationError(f'time: invalid duration "{text}"')
    total = 0
    while rest:
        nanoseconds, rest = _leading_part(rest, text)
        total += nanoseconds
        if total > MAX + negative:
            raise DurationError(f'time: invalid duration "{text}"')
    return -total if negative else total


def format(nanoseconds: int) -> str:  # noqa: A001 - reads as duration.format(...)
    """The shortest exact Go text: `0s`, `1.5µs`, `100ms`, `1m30s`, `1h0m0s`."""
    sign = "-" if nanoseconds < 0 else ""
    size = abs(nanoseconds)
    if size < SECOND:
        return sign + _below_a_second(size)
    minutes, rest = divmod(size, _UNITS["m"])
    text = f"{_decimal(rest, SECOND)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{hours}h{minutes}m{text}" if hours else f"{minutes}m{text}"
    return sign + text


def _leading_part(rest: str, whole: str) -> tuple[int, str]:
    match = _PART.match(rest)
    if match is None or not (match[1] or match[2]):
        raise DurationError(f'time: invalid duration "{whole}"')
    integer, fraction, unit = match[1] or "0", match[2] or "", match[3]
    if not unit:
        raise DurationError(f'time: missing unit in duration "{whole}"')
    if unit not in _UNITS:
        raise DurationError(f'time: unknown unit "{unit}" in duration "{whole}"')
    size = _UNITS[unit]
    # Go computes the fraction in float64 and truncates; the same operations in the same order give the same nanosecond.
    fraction = fraction[:_FRACTION_DIGITS]
    part = int(float(int(fraction or "0")) * (size / float(10 ** len(fraction))))
    return int(integer) * size + part, rest[match.end() :]


def _below_a_second(size: int) -> str:
    if size == 0:
        return "0s"
    for unit in ("ms", "µs"):
        if size >= _UNITS[unit]:
            return _decimal(size, _UNITS[unit]) + unit
    return f"{size}ns"


def _decimal(value: int, unit: int) -> str:
    whole, part = divmod(value, unit)
    if not part:
        return str(whole)
    digits = len(str(unit)) - 1
    return f"{whole}.{part:0{digits}d}".rstrip("0")
