"""JSON as Kubernetes reads it: one document, or a stream of them as several ``kubectl get -o json`` print it; duplicate keys are refused.

A file that begins like JSON may be YAML all the same (``{a: b}``, or documents between ``---``): what cannot be read here is for the
caller to try as YAML, unless it is JSON that ends too early.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

_SPACE = re.compile(r"[ \t\r\n]*")
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
"""Halves of a character: a string may hold both or none."""


class JsonError(ValueError):
    """Text that is no JSON.

    Attributes:
        line: counts from 1.
        cut_off: the text is JSON as far as it goes.
    """

    def __init__(self, line: int, problem: str, *, cut_off: bool = False) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.cut_off = cut_off


class DuplicateKeyError(JsonError):
    """JSON in which an object has a key twice; the line is the first of the document."""


def documents(content: bytes) -> Iterator[tuple[int, Any]]:
    """Every document, with the line it starts on. Raises JsonError."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JsonError(1, f"not valid UTF-8 at byte {error.start}") from None
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse)
    line, at, start = 1, 0, _skip_space(text, 0)
    while start < len(text):
        line += text.count("\n", at, start)
        value, end = _decode(decoder, text, start, line)
        yield line, value
        at, start = start, _skip_space(text, end)


def _decode(decoder: json.JSONDecoder, text: str, start: int, line: int) -> tuple[Any, int]:
    try:
        value, end = decoder.raw_decode(text, start)
        if _HALF_CHARACTER.search(text, start, end):
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        problem = "it ends too early" if cut_off else error.msg
        raise JsonError(error.lineno, f"not valid JSON: {problem}", cut_off=cut_off) from None
    except _TwiceError as error:
        raise DuplicateKeyError(line, f'key "{error}" is twice in one object of this document') from None
    except RecursionError:
        raise JsonError(line, "not valid JSON: it is nested too deeply") from None
    except ValueError as error:
        raise JsonError(line, f"not valid JSON: {error}") from None
    return value, end


def _skip_space(text: str, start: int) -> int:
    found = _SPACE.match(text, start)
    return found.end() if found else start


class _TwiceError(ValueError):
    """The key."""


def _unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise _TwiceError(next(key for key, count in counts.items() if count > 1))
    return found


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is no number")
