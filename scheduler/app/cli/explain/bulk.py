"""Files of scenarios: one JSON document a line, answered one JSON line each, in order.

A line is a scenario, or a recording that has it under ``scenario``. A line that is no JSON is answered with an ``error`` like a scenario
that cannot be run, so that answers stay aligned with lines.
"""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from scheduler.apis.manifests import STDIN
from scheduler.app.cli.inputs import CommandError
from scheduler.explain.answers import Answer
from scheduler.explain.profiles import Workshop
from scheduler.explain.scenarios import answer_scenario

_MAX_LINE = 256 * 1024 * 1024
_GZIP = b"\x1f\x8b"


def answers(path: Path, workshop: Workshop) -> Iterator[Answer]:
    """The answers to a file's scenarios; ``-`` is the standard input, and what is compressed is unpacked. Raises CommandError."""
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            yield _answer(line, f"{path}:{number}", workshop)


def _answer(line: bytes, place: str, workshop: Workshop) -> Answer:
    try:
        document: Any = msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return {"error": f"{place}: not JSON: {error}"}
    if isinstance(document, dict) and isinstance(document.get("scenario"), dict):
        document = document["scenario"]
    return answer_scenario(document, workshop)


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with ExitStack() as stack:
            file: Any = sys.stdin.buffer if path == STDIN else stack.enter_context(path.open("rb"))
            if file.peek(2)[:2] == _GZIP:
                file = stack.enter_context(gzip.open(file))
            while line := file.readline(_MAX_LINE + 1):
                if len(line) > _MAX_LINE:
                    raise CommandError(f"{path}: a line is longer than {_MAX_LINE} bytes")
                yield line
    except (OSError, EOFError, zlib.error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise CommandError(f"{path}: {reason}") from error
