"""A record as a line.

::

    I1130 06:21:55.123456   12345 server.py:70] "Starting" version="v1.36.2"
    {"ts":1796017315123.456,"caller":"app/server.py:70","msg":"Starting","v":0,"version":"v1.36.2"}

Messages and values may hold what others wrote: names, errors of servers, paths of requests. So that nobody can write a line of the log by
way of them, control characters are escaped; what has lines of its own (a traceback, a long value) is indented by a tab, as klog does it,
and no line of the log begins with one.
"""

import json
import logging
import re
from datetime import UTC, datetime

from scheduler.apis.fielderror import quote
from scheduler.logkeys import ObjectRef, keys_of
from scheduler.verbosity import verbosity_of

FORMATS = ("text", "json")
_LETTERS = {logging.WARNING: "W", logging.ERROR: "E", logging.CRITICAL: "F"}
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_CONTROLS_WITHIN_LINES = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029]")


class TextFormatter(logging.Formatter):
    """klog's header, then the message: quoted when keys follow, as klog does."""

    def format(self, record: logging.LogRecord) -> str:
        """One line; the lines of values and of a traceback follow, each behind a tab."""
        letter = _LETTERS.get(record.levelno, "I")
        when = datetime.fromtimestamp(record.created, UTC).astimezone()
        place = f"{record.filename}:{record.lineno}"
        header = f"{letter}{when:%m%d %H:%M:%S.%f} {record.process or 0:7d} {place}]"
        keys = keys_of(record)
        message = record.getMessage()
        if keys:
            shown = "".join(f" {key}={_as_text(value)}" for key, value in keys.items())
            line = f"{header} {_escaped(quote(message))}{shown}"
        else:
            line = f"{header} {_escaped(message)}"
        return f"{line}\n{_indented(self.formatException(record.exc_info))}" if record.exc_info else line


class JSONFormatter(logging.Formatter):
    """One JSON object per line: ``ts`` in milliseconds, ``caller``, ``msg``, ``v`` below warnings, the keys, ``err`` and ``stacktrace``."""

    def format(self, record: logging.LogRecord) -> str:
        """The object."""
        entry: dict[str, object] = {
            "ts": round(record.created * 1000, 3),
            "caller": "/".join(record.pathname.split("/")[-2:]) + f":{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno < logging.WARNING:
            entry["v"] = verbosity_of(record.levelno)
        entry |= {key: _as_json(value) for key, value in keys_of(record).items() if key not in entry}
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            entry["err"] = f"{type(error).__name__}: {error}"
            entry["stacktrace"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False, separators=(",", ":"))


def _as_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, list):
        return f"[{','.join(map(_as_text, value))}]"
    text = str(value)
    if "\n" in text:
        return f"<\n{_indented(text)}\n >"
    return _escaped(quote(text))


def _as_json(value: object) -> object:
    if isinstance(value, ObjectRef):
        return {"name": value.name} | ({"namespace": value.namespace} if value.namespace else {})
    return value if isinstance(value, bool | int | float | str | list | dict) else str(value)


def _escaped(text: str) -> str:
    return _CONTROLS.sub(_escape, text)


def _indented(text: str) -> str:
    lines = _CONTROLS_WITHIN_LINES.sub(_escape, text).split("\n")
    return "\n".join(f"\t{line}" for line in lines)


def _escape(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode()
