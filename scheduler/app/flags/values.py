"""Types of flag values: Go's grammar (``strconv``, ``pflag``), and errors in its words, since operators search for them.

A type parses one argument, raising ValueError with the reason, and shows a value as ``--help`` and ``/flagz`` print it.
"""

import csv
import ipaddress
import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from scheduler.apis import duration, quantity

_TRUE = frozenset({"1", "t", "T", "true", "TRUE", "True"})
_FALSE = frozenset({"0", "f", "F", "false", "FALSE", "False"})
_INTEGER = re.compile(r"[+-]?(0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|0[0-7_]*|[1-9][0-9_]*)")
_DECIMAL = re.compile(r"[0-9]+")
_FLOAT = re.compile(
    r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?|[+-]?(inf|infinity)|nan", re.IGNORECASE
)
_MAX_FLOAT32 = 3.4028234663852886e38


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of value.

    Attributes:
        name: as ``--help`` prints it after the flag.
        parse: one argument to a value; raises ValueError.
        show: a value to text.
        bare: the argument that a flag without one stands for; empty when it needs one.
        repeats: each further use of the flag adds to the tuple of values.
    """

    name: str
    parse: Callable[[str], Any]
    show: Callable[[Any], str] = str
    bare: str = ""
    repeats: bool = False


def _refuse(function: str, text: str, reason: str = "invalid syntax") -> ValueError:
    return ValueError(f'strconv.{function}: parsing "{text}": {reason}')


def parse_bool(text: str) -> bool:
    """Go's ``strconv.ParseBool``."""
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _refuse("ParseBool", text)


def parse_int(text: str, bits: int = 64) -> int:
    """Go's ``strconv.ParseInt`` with base 0: ``0x``, ``0o``, ``0b`` and a leading ``0`` choose the base."""
    digits = text.lstrip("+-").lower()
    if (
        not _INTEGER.fullmatch(text)
        or "__" in text
        or text.endswith("_")
        or (digits[0] != "0" and "_" in digits)
    ):
        raise _refuse("ParseInt", text)
    base = {"0x": 16, "0o": 8, "0b": 2}.get(digits[:2], 8 if digits.startswith("0") else 10)
    value = int(digits[2:] if digits[:2] in ("0x", "0o", "0b") else digits, base)
    value = -value if text.startswith("-") else value
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise _refuse("ParseInt", text, "value out of range")
    return value


def parse_float(text: str) -> float:
    """Go's ``strconv.ParseFloat`` for 32 bits, hexadecimal numbers apart."""
    if not _FLOAT.fullmatch(text):
        raise _refuse("ParseFloat", text)
    value = float(text)
    if abs(value) > _MAX_FLOAT32 and not math.isinf(value):
        raise _refuse("ParseFloat", text, "value out of range")
    return value


def parse_level(text: str) -> int:
    """A verbosity: an unsigned 32-bit number."""
    if not _DECIMAL.fullmatch(text):
        raise _refuse("ParseUint", text)
    if int(text) >= 1 << 32:
        raise _refuse("ParseUint", text, "value out of range")
    return int(text)


def parse_strings(text: str) -> tuple[str, ...]:
    """One line of comma-separated values, quotes as in CSV files."""
    if not text:
        return ()
    try:
        rows = list(csv.reader([text], strict=True))
    except csv.Error as error:
        raise ValueError(f"parse error on line 1: {error}") from error
    return tuple(rows[0]) if rows else ()


def parse_ip(text: str) -> str:
    """An IPv4 or IPv6 address without a zone; nothing stays nothing."""
    text = text.strip()
    if not text:
        return text
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f'failed to parse IP: "{text}"') from None
    if isinstance(address, ipaddress.IPv6Address) and address.scope_id:
        raise ValueError(f'failed to parse IP: "{text}"')
    return text


def parse_int32s(text: str) -> tuple[int, ...]:
    """Comma-separated 32-bit numbers."""
    return tuple(parse_int(item, 32) for item in text.split(","))


def parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """``key=value`` pairs, comma-separated; a single pair may have commas in it."""
    items: Iterable[str] = [text.strip('"')] if text.count("=") == 1 else parse_strings(text)
    pairs = []
    for item in items:
        key, equals, value = item.partition("=")
        if not equals:
            raise ValueError(f"{item} must be formatted as key=value")
        pairs.append((key, value))
    return tuple(pairs)


def parse_named_pair(text: str) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """``certificate,key`` files, optionally with ``:`` and host patterns."""
    files, _, names = text.partition(":")
    certificate, comma, key = files.partition(",")
    if not (certificate and comma and key) or "," in key:
        raise ValueError("expected comma separated certificate and key file paths")
    return ((certificate, key, tuple(names.split(",")) if names else ()),)


def parse_vmodule(text: str) -> tuple[tuple[str, int], ...]:
    """``pattern=N`` pairs, comma-separated."""
    pairs = []
    for item in filter(None, text.split(",")):
        pattern, equals, level = item.partition("=")
        if not (pattern and equals and level):
            raise ValueError(f'"{item}" does not have the pattern=N format')
        pairs.append((pattern, parse_level(level)))
    return tuple(pairs)


def parse_quantity(text: str) -> str:
    """A quantity, kept as written."""
    quantity.parse(text)
    return text


def show_list(values: Iterable[object]) -> str:
    """A list as ``[a,b]``."""
    return f"[{','.join(map(str, values))}]"


def show_bool(value: bool) -> str:
    """``true`` or ``false``."""
    return "true" if value else "false"


def _show_pairs(pairs: Iterable[tuple[str, object]]) -> str:
    return ",".join(f"{key}={value}" for key, value in pairs)


def _show_named_pairs(pairs: Iterable[tuple[str, str, tuple[str, ...]]]) -> str:
    shown = (f"{cert},{key}" + (f":{','.join(names)}" if names else "") for cert, key, names in pairs)
    return f"[{';'.join(shown)}]"


BOOL = Kind("bool", parse_bool, show_bool, bare="true")
INT = Kind("int", parse_int)
INT32 = Kind("int32", lambda text: parse_int(text, 32))
FLOAT32 = Kind("float32", parse_float, lambda value: f"{value:g}")
DURATION = Kind("duration", duration.parse, duration.format)
STRING = Kind("string", str)
STRINGS = Kind("strings", parse_strings, show_list, repeats=True)
IP = Kind("ip", parse_ip)
INT32_SLICE = Kind("int32Slice", parse_int32s, show_list, repeats=True)
NAMED_CERT_KEY = Kind("namedCertKey", parse_named_pair, _show_named_pairs, repeats=True)
STRING_TO_STRING = Kind("stringToString", parse_pairs, lambda pairs: f"[{_show_pairs(pairs)}]", repeats=True)
GATES = Kind("colonSeparatedMultimapStringString", lambda text: (text,), ",".join, repeats=True)
LEVEL = Kind("Level", parse_level)
QUANTITY = Kind("quantity", parse_quantity)
VMODULE = Kind("pattern=N,...", parse_vmodule, _show_pairs)
