"""One wrong field: where it is, what kind of fault, the value found, and what would be right.

Validation never stops at the first fault. It collects `FieldError` values, so that a user sees every faulty place of a
file or an object at once. `str()` gives the line that Kubernetes gives for the same fault (apimachinery
`util/validation/field`), because operators search for those words::

    profiles[0].percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]
    leaderElection.resourceName: Required value

Paths are plain strings (`profiles[0].plugins.score`); an unnamed place is the empty string and prints as `<nil>`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any, Final


class ErrorType(StrEnum):
    """The kinds of fault, each worded as Kubernetes words it."""

    NOT_FOUND = "Not found"
    REQUIRED = "Required value"
    DUPLICATE = "Duplicate value"
    INVALID = "Invalid value"
    NOT_SUPPORTED = "Unsupported value"
    FORBIDDEN = "Forbidden"
    TOO_LONG = "Too long"
    TOO_MANY = "Too many"
    INTERNAL = "Internal error"


class Omitted(Enum):
    """The type of `OMITTED`, the mark for a value that must not be printed."""

    OMITTED = "omitted"


OMITTED: Final = Omitted.OMITTED

_VALUELESS = frozenset({ErrorType.REQUIRED, ErrorType.FORBIDDEN, ErrorType.TOO_LONG, ErrorType.INTERNAL})


@dataclass(frozen=True, slots=True)
class FieldError:
    """A fault at `path`. `value` is the offending value as JSON would hold it; it is printed only for kinds that show it."""

    path: str
    type: ErrorType
    value: Any = OMITTED
    detail: str = ""

    def __str__(self) -> str:
        text = f"{self.path or '<nil>'}: {self.type.value}"
        if self.type not in _VALUELESS and self.value is not OMITTED:
            text += f": {_shown(self.value)}"
        return f"{text}: {self.detail}" if self.detail else text


def invalid(path: str, value: Any, detail: str) -> FieldError:
    """A malformed or out-of-range value."""
    return FieldError(path, ErrorType.INVALID, value, detail)


def required(path: str, detail: str = "") -> FieldError:
    """A value that must be given and is not."""
    return FieldError(path, ErrorType.REQUIRED, OMITTED, detail)


def duplicate(path: str, value: Any) -> FieldError:
    """A value that must be unique and is not."""
    return FieldError(path, ErrorType.DUPLICATE, value)


def not_found(path: str, value: Any) -> FieldError:
    """A reference to something that does not exist."""
    return FieldError(path, ErrorType.NOT_FOUND, value)


def not_supported(path: str, value: Any, supported: Sequence[str]) -> FieldError:
    """A value outside an enumeration; `supported` lists the enumeration in the order in which it is printed."""
    detail = "supported values: " + ", ".join(quote(word) for word in supported) if supported else ""
    return FieldError(path, ErrorType.NOT_SUPPORTED, value, detail)


def forbidden(path: str, detail: str) -> FieldError:
    """A well-formed value that may not stand here, under these conditions."""
    return FieldError(path, ErrorType.FORBIDDEN, OMITTED, detail)


def aggregate(errors: Iterable[object]) -> str:
    """The one-line text of several errors, each text once: `a`, or `[a, b]` as Go's aggregate prints it."""
    texts = list(dict.fromkeys(str(error) for error in errors))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


def quote(text: str) -> str:
    """`text` in double quotes, as Go's `%q` writes ordinary text."""
    return json.dumps(text, ensure_ascii=False)


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return quote(value)
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
