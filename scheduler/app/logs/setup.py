"""Handlers from flags, and what can be wrong with these, by component-base's rules and field names."""

import logging
import sys
from typing import TextIO

from scheduler.apis import duration, fielderror, quantity
from scheduler.apis.fielderror import FieldError
from scheduler.app.flags.sections import Logs
from scheduler.app.flags.values import parse_level
from scheduler.app.logs.buffers import BufferedHandler
from scheduler.app.logs.formats import FORMATS, JSONFormatter, TextFormatter
from scheduler.app.logs.verbosity import Verbosity
from scheduler.features import Features

_LIBRARIES = ("urllib3", "kubernetes", "werkzeug", "asyncio")
_MAX_LEVEL = (1 << 31) - 1
_ALPHA_GATE = "LoggingAlphaOptions"


def setup(flags: Logs, *, errors: TextIO | None = None, info: TextIO | None = None) -> Verbosity:
    """Log to ``errors`` (stderr) in the format that the flags ask for, in place of earlier handlers; see ``validate`` first.

    With ``--log-…-split-stream`` only errors go there, the rest to ``info`` (stdout).
    """
    errors, info = errors or sys.stderr, info or sys.stdout
    verbosity = Verbosity(flags.v, flags.vmodule)
    as_json = flags.logging_format == "json"
    handlers: list[logging.Handler] = [logging.StreamHandler(errors)]
    if flags.log_json_split_stream if as_json else flags.log_text_split_stream:
        handlers[0].setLevel(logging.ERROR)
        handlers.append(_info_handler(flags, info, as_json=as_json))
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
    """Everything that is wrong with the flags."""
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


def _info_handler(flags: Logs, info: TextIO, *, as_json: bool) -> logging.Handler:
    size = quantity.value(flags.log_json_info_buffer_size if as_json else flags.log_text_info_buffer_size)
    if size <= 0:
        return logging.StreamHandler(info)
    return BufferedHandler(info, size, flags.log_flush_frequency / duration.SECOND)


def _alpha(flags: Logs) -> list[str]:
    """The alpha options that are in use, as field paths."""
    used = {
        "options.text.splitStream": flags.log_text_split_stream,
        "options.text.infoBufferSize": quantity.value(flags.log_text_info_buffer_size),
        "options.json.splitStream": flags.log_json_split_stream,
        "options.json.infoBufferSize": quantity.value(flags.log_json_info_buffer_size),
    }
    return [path for path, value in used.items() if value]
