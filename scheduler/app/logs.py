"""Log lines as Kubernetes components write them: klog's text, or JSON; and how much is written (``-v``, ``--vmodule``).

::

    I1130 06:21:55.123456   12345 server.py:70] starting          {"ts":1796017315123.456,"caller":"app/server.py:70","msg":"starting","v":0}

Python's INFO is klog's V(0) and V(1), V2 is V(2) and V(3), DEBUG is V(4) and more. Libraries stay at WARNING whatever is asked for: some of them would log
bodies and credentials.
"""

import fnmatch
import json
import logging
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TextIO

from scheduler.apis import fielderror, quantity
from scheduler.apis.fielderror import FieldError
from scheduler.app.flags.sections import Logs
from scheduler.app.flags.values import parse_level
from scheduler.features import Features
from scheduler.verbosity import V2

_FROM = {logging.DEBUG: 4, V2: 2, logging.INFO: 0}
"""The level of ``-v`` from which records of a Python level are written."""
FORMATS = ("text", "json")
_LETTERS = {
    logging.DEBUG: "I",
    V2: "I",
    logging.INFO: "I",
    logging.WARNING: "W",
    logging.ERROR: "E",
    logging.CRITICAL: "F",
}
_LIBRARIES = ("urllib3", "kubernetes", "werkzeug", "asyncio")
_MAX_LEVEL = (1 << 31) - 1
_ALPHA_GATE = "LoggingAlphaOptions"


class TextFormatter(logging.Formatter):
    """klog's header and the message; a traceback follows in lines of its own."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, unless there is a traceback."""
        letter = _LETTERS.get(record.levelno, "I")
        when = datetime.fromtimestamp(record.created, UTC).astimezone()
        place = f"{record.filename}:{record.lineno}"
        line = f"{letter}{when:%m%d %H:%M:%S.%f} {record.process or 0:7d} {place}] {record.getMessage()}"
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class JSONFormatter(logging.Formatter):
    """One JSON object per line: ``ts`` in milliseconds, ``caller``, ``msg``, and ``v`` or ``err``."""

    def format(self, record: logging.LogRecord) -> str:
        """The object."""
        entry: dict[str, object] = {
            "ts": round(record.created * 1000, 3),
            "caller": "/".join(record.pathname.split("/")[-2:]) + f":{record.lineno}",
            "msg": record.getMessage(),
        }
        if record.levelno < logging.WARNING:
            entry["v"] = _FROM.get(record.levelno, _FROM[logging.DEBUG])
        elif record.exc_info:
            entry["err"] = self.formatException(record.exc_info)
        return json.dumps(entry, ensure_ascii=False)


class Verbosity(logging.Filter):
    """Which records are written; ``set`` may be called while the program runs."""

    def __init__(self, level: int, vmodule: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self._vmodule = tuple(vmodule)
        self._lock = threading.Lock()
        self.level = level

    def filter(self, record: logging.LogRecord) -> bool:
        """Records from INFO always, those below where the level of the file allows it."""
        if record.levelno >= logging.INFO:
            return True
        matching = (level for pattern, level in self._vmodule if fnmatch.fnmatchcase(record.module, pattern))
        return next(matching, self.level) >= _FROM.get(record.levelno, _FROM[logging.DEBUG])

    def set(self, level: int) -> None:
        """Write more or less from now on."""
        with self._lock:
            self.level = level
            self.apply()

    def apply(self) -> None:
        """Let loggers make the records that could be written."""
        highest = max([self.level, *(level for _, level in self._vmodule)])
        logging.getLogger().setLevel(min(level for level, since in _FROM.items() if highest >= since))


def setup(flags: Logs, *, errors: TextIO | None = None, info: TextIO | None = None) -> Verbosity:
    """Log to ``errors`` (stderr) in the format that the flags ask for, in place of earlier handlers; see ``validate`` first.

    With ``--log-…-split-stream`` only errors go there, the rest to ``info`` (stdout).
    """
    errors, info = errors or sys.stderr, info or sys.stdout
    verbosity = Verbosity(flags.v, flags.vmodule)
    as_json = flags.logging_format == "json"
    split = flags.log_json_split_stream if as_json else flags.log_text_split_stream
    handlers = [logging.StreamHandler(errors)]
    if split:
        handlers[0].setLevel(logging.ERROR)
        handlers.append(logging.StreamHandler(info))
        handlers[1].addFilter(lambda record: record.levelno < logging.ERROR)
    for handler in handlers:
        handler.setFormatter(JSONFormatter() if as_json else TextFormatter())
        handler.addFilter(verbosity)
    logging.getLogger().handlers[:] = handlers
    for library in _LIBRARIES:
        logging.getLogger(library).setLevel(logging.WARNING)
    logging.captureWarnings(capture=True)
    verbosity.apply()
    return verbosity


def set_level(text: str) -> str:
    """Write more or less from now on, as ``PUT /debug/flags/v`` asks for; what is answered.

    Raises:
        ValueError: the text is no level.
    """
    level = parse_level(text)
    for handler in logging.getLogger().handlers:
        for verbosity in handler.filters:
            if isinstance(verbosity, Verbosity):
                verbosity.set(level)
    return f"successfully set klog.logging.verbosity to {text}"


def validate(flags: Logs, features: Features) -> list[FieldError]:
    """Everything that is wrong with the flags, by component-base's rules and field names."""
    found = []
    if flags.log_flush_frequency <= 0:
        shown = Logs.flag("log_flush_frequency").kind.show(flags.log_flush_frequency)
        found.append(fielderror.invalid("flushFrequency", shown, "Must be greater than zero"))
    if flags.logging_format not in FORMATS:
        found.append(fielderror.invalid("format", flags.logging_format, "Unsupported log format"))
    if flags.vmodule and flags.logging_format != "text":
        found.append(fielderror.forbidden("vmodule", "Only supported for text log format"))
    if flags.v > _MAX_LEVEL:
        found.append(fielderror.invalid("verbosity", flags.v, f"Must be <= {_MAX_LEVEL}"))
    if not features.enabled(_ALPHA_GATE):
        found += [fielderror.forbidden(path, f"Feature {_ALPHA_GATE} is disabled") for path in _alpha(flags)]
    return found


def _alpha(flags: Logs) -> list[str]:
    """The alpha options that are in use, as field paths."""
    used = {
        "options.text.splitStream": flags.log_text_split_stream,
        "options.text.infoBufferSize": quantity.value(flags.log_text_info_buffer_size),
        "options.json.splitStream": flags.log_json_split_stream,
        "options.json.infoBufferSize": quantity.value(flags.log_json_info_buffer_size),
    }
    return [path for path, value in used.items() if value]
