"""Times as Go's decoder takes them: RFC 3339 for `metav1.Time`, exactly six decimals for `metav1.MicroTime`, its complaints word for word.

Clients that write `2026-01-02T03:04:05Z` into a MicroTime are refused by a real server, and must be here.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime

Layout = tuple[tuple[str, str], ...]

_SECONDS: Layout = (
    ("2006", r"\d{4}"),
    ("-", "-"),
    ("01", r"\d\d"),
    ("-", "-"),
    ("02", r"\d\d"),
    ("T", "T"),
    ("15", r"\d\d"),
    (":", ":"),
    ("04", r"\d\d"),
    (":", ":"),
    ("05", r"\d\d"),
)
_ZONE = ("Z07:00", r"Z|[+-]\d\d:\d\d")
_LAYOUTS: dict[str, Layout] = {
    "time": (*_SECONDS[:-1], ("05", r"\d\d([.,]\d+)?"), _ZONE),
    "microtime": (*_SECONDS, (".000000", r"\.\d{6}"), _ZONE),
}
_STORED = {
    "time": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", re.ASCII),
    "microtime": re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", re.ASCII),
}
_FORMATS = {"time": "%Y-%m-%dT%H:%M:%SZ", "microtime": "%Y-%m-%dT%H:%M:%S.%fZ"}


class TimeError(ValueError):
    """A text that is no such time."""


def canonical_time(text: str, kind: str) -> str:
    """The time in UTC as an API server stores it; `kind` is `time` or `microtime`. Raises `TimeError`."""
    layout = _LAYOUTS[kind]
    _check(text, layout)
    try:
        moment = datetime.fromisoformat(text.replace(",", "."))
        if _STORED[kind].fullmatch(text):
            return text
        return written(moment, kind)
    except (ValueError, OverflowError) as error:
        raise TimeError(f'parsing time "{text}": {error}') from None


def written(moment: datetime, kind: str) -> str:
    """An aware moment in UTC as the API writes it; `kind` is `time` (to the second) or `microtime` (six decimals)."""
    return moment.astimezone(UTC).strftime(_FORMATS[kind])


def _check(text: str, layout: Layout) -> None:
    place = 0
    for element, pattern in layout:
        match = re.compile(pattern, re.ASCII).match(text, place)
        if match is None:
            shown = "".join(name for name, _ in layout)
            raise TimeError(
                f'parsing time "{text}" as "{shown}": cannot parse "{text[place:]}" as "{element}"'
            )
        place = match.end()
    if place < len(text):
        raise TimeError(f'parsing time "{text}": extra text: "{text[place:]}"')
