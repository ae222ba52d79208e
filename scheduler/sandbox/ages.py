"""Points in time as the API writes them, and spans as kubectl prints them (`5d2h`, `3m14s`)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from scheduler.sandbox.gotime import written


def stamp(moment: datetime) -> str:
    """RFC 3339 to the second, as `metav1.Time`."""
    return written(moment, "time")


def parse(text: Any) -> datetime | None:
    """The moment that a timestamp field names, or None when it is absent or no timestamp."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def age(text: Any, now: datetime) -> str:
    """How long ago that was, `<unknown>` when nobody knows."""
    moment = parse(text)
    return span((now - moment).total_seconds()) if moment else "<unknown>"


def span(seconds_exact: float) -> str:
    """A span in at most two units, with the thresholds of apimachinery's `HumanDuration`."""
    seconds = int(seconds_exact)
    if seconds < -1:
        return "<invalid>"
    if seconds < 120:
        return f"{max(seconds, 0)}s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    years = days // 365
    return _two(years, "y", days % 365, "d") if years < 8 else f"{years}y"


def _two(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}{small}{small_unit}" if small else f"{large}{large_unit}"
