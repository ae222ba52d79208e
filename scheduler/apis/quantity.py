"""Resource quantities (`100m`, `1.5Gi`, `3e6`) with apimachinery's arithmetic, bit for bit.

Every request and every capacity that the scheduler adds up starts as one of these texts, so a wrong rounding here is a
wrong decision later. The rules are those of apimachinery `api/resource`, including its odd ones:

* Two representations. Up to 18 digits stay a 64-bit number with a decimal exponent (`small`); the rest becomes an
  arbitrary-precision decimal in nano units. They round alike for positive numbers. A negative small number rounds away
  from zero, a negative large one upwards.
* Parsing rounds up to whole nano units, so that whoever asks for something gets something.
* Only binary suffixes are capped at 2**63-1. A decimal quantity beyond 64 bits yields 0 or wraps, as it does upstream.
* A bare sign, point or suffix (`+`, `.`, `Ki`) is zero to apimachinery, hence zero here.

Where upstream would build a number of a billion digits (`1e1000000000`), the exponent stays symbolic: no input makes
this module use more than a few kilobytes.

The hot entry points are `value` and `milli_value`: cached, because a cluster repeats the same few texts endlessly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache, total_ordering
from typing import Final

MAX_INT64: Final = (1 << 63) - 1
_MAX_TEXT: Final = 1024
_MAX_SHIFT: Final = 2048
_SMALL_DIGITS: Final = 18
_NANO: Final = -9
_MILLI: Final = -3
_JSON_SPACE: Final = " \t\r\n"

_SCAN = re.compile(r"([+-]?)0*([0-9]*)(\.[0-9]*)?([eEinumkKMGTP]*[+-]?[0-9]*)")
_EXPONENT = re.compile(r"[eE]([+-]?[0-9]+)")
_DECIMAL: Final = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY: Final = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX: Final = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX: Final = {exponent // 10: suffix for suffix, exponent in _BINARY.items()}

_WRONG_FORMAT: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
_WRONG_NUMBER: Final = "unable to parse numeric part of quantity"
_WRONG_SUFFIX: Final = "unable to parse quantity's suffix"


class QuantityError(ValueError):
    """The text is not a quantity; the message is apimachinery's."""


class Format(StrEnum):
    """How a quantity was written, and hence how it is printed."""

    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"
    DECIMAL_EXPONENT = "DecimalExponent"


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """The exact number `unscaled * 10**exponent`, with the format that it prints in.

    `small` tells which of upstream's two representations it has (see the module's text). `text` is the original where
    upstream prints that instead of a canonical form. Equality and order are numeric; the format does not take part.
    """

    unscaled: int
    exponent: int = 0
    format: Format = Format.DECIMAL_SI
    small: bool = True
    text: str = field(default="", repr=False)

    def scaled_value(self, exponent: int) -> int:
        """`ceil(self / 10**exponent)` as an int64, with upstream's overflow behaviour."""
        return _small_scaled(self, exponent) if self.small else _large_scaled(self, exponent)

    def value(self) -> int:
        """The number rounded up to an integer."""
        return self.scaled_value(0)

    def milli_value(self) -> int:
        """The number of thousandths, rounded up to an integer."""
        return self.scaled_value(_MILLI)

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1 as this number is less than, equal to or greater than the other."""
        mine, theirs = _order(self), _order(other)
        if mine != theirs:
            return -1 if mine < theirs else 1
        low = min(self.exponent, other.exponent)
        left, right = _aligned(self, low), _aligned(other, low)
        return (left > right) - (left < right)

    def __eq__(self, other: object) -> bool:
        return self.compare(other) == 0 if isinstance(other, Quantity) else NotImplemented

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __hash__(self) -> int:
        digits, exponent = _without_zeros(self.unscaled, self.exponent)
        return hash((digits, exponent if digits else 0))

    def __add__(self, other: Quantity) -> Quantity:
        """The sum; a zero takes the other's format. Raises `QuantityError` when it would need thousands of digits."""
        form = other.format if self.unscaled == 0 else self.format
        if self.small and other.small and 0 in (self.unscaled, other.unscaled):
            nonzero = self if other.unscaled == 0 else other
            return Quantity(nonzero.unscaled, nonzero.exponent, form)
        low = min(self.exponent, other.exponent)
        total = _aligned(self, low) + _aligned(other, low)
        return Quantity(total, low, form, small=self.small and other.small and abs(total) <= MAX_INT64)

    def __neg__(self) -> Quantity:
        return Quantity(-self.unscaled, self.exponent, self.format, self.small)

    def __sub__(self, other: Quantity) -> Quantity:
        return self + -other

    def __bool__(self) -> bool:
        return self.unscaled != 0

    def __str__(self) -> str:
        """The text that apimachinery prints: `1500m`, `1536Mi`, `3e6`."""
        return self.text or _canonical(self)


ZERO: Final = Quantity(0, text="0")


@lru_cache(maxsize=65536, typed=True)
def value(q: str | float) -> int:
    """A quantity as JSON gave it (text or bare number), rounded up to an integer. Raises `QuantityError`."""
    return from_json(q).value()


@lru_cache(maxsize=65536, typed=True)
def milli_value(q: str | float) -> int:
    """A quantity as JSON gave it (text or bare number) in thousandths, rounded up. Raises `QuantityError`."""
    return from_json(q).milli_value()


def from_json(q: str | float) -> Quantity:
    """The quantity in a JSON field: a number may stand without quotes, white space around the text is ignored."""
    if isinstance(q, bool):
        raise QuantityError(_WRONG_FORMAT)
    return parse(q.strip(_JSON_SPACE) if isinstance(q, str) else repr(q))


def parse(text: str) -> Quantity:
    """The exact quantity that `text` denotes. Raises `QuantityError` for whatever apimachinery refuses."""
    if text == "0":
        return ZERO
    match = _SCAN.fullmatch(text) if 0 < len(text) <= _MAX_TEXT else None
    if match is None:
        raise QuantityError(_WRONG_FORMAT)
    sign, number, point, suffix = match.groups()
    form, exponent = _suffix(suffix)
    places = (point or ".")[1:]
    fast = _parse_small(number or "0", places, form, exponent)
    if fast is None:
        if not re.search(r"[0-9]", text[: match.start(4)]):
            raise QuantityError(_WRONG_NUMBER)
        return _parse_large(sign, number + places, len(places), form, exponent)
    unscaled, scale, reuse = fast
    return Quantity(-unscaled if sign == "-" else unscaled, scale, form, text=text if reuse else "")


def _suffix(suffix: str) -> tuple[Format, int]:
    if suffix in _DECIMAL:
        return Format.DECIMAL_SI, _DECIMAL[suffix]
    if suffix in _BINARY:
        return Format.BINARY_SI, _BINARY[suffix]
    match = _EXPONENT.fullmatch(suffix)
    if match is None or not -MAX_INT64 - 1 <= int(match[1]) <= MAX_INT64:
        raise QuantityError(_WRONG_SUFFIX)
    return Format.DECIMAL_EXPONENT, _wrap(int(match[1]), 32)


def _parse_small(number: str, places: str, form: Format, exponent: int) -> tuple[int, int, bool] | None:
    """(unscaled, exponent, whether the original text is kept), or None where upstream leaves its 64-bit path."""
    if form is Format.BINARY_SI:
        if places or len(number) > _SMALL_DIGITS - 4 - exponent * 3 // 10:
            return None
        digits = int(number)
        return digits << exponent, 0, digits & 7 != 0
    shifted, scale = number + places, exponent - len(places)
    if len(shifted) > _SMALL_DIGITS or scale < _NANO:
        return None
    return int(shifted), scale, scale % 3 == 0 and not shifted.endswith("000") and shifted[0] != "0"


def _parse_large(sign: str, digits: str, places: int, form: Format, exponent: int) -> Quantity:
    unscaled = int(digits or "0")
    binary = form is Format.BINARY_SI
    if binary:
        unscaled, exponent = unscaled << exponent, 0
    unscaled, scale = _up_to_nano(unscaled, exponent - places)
    if binary and unscaled > MAX_INT64 * 10**-scale:
        unscaled, scale = MAX_INT64, 0
    if binary and 0 < unscaled < 10**-scale:
        form = Format.DECIMAL_SI
    return Quantity(-unscaled if sign == "-" else unscaled, scale, form, small=False)


def _up_to_nano(unscaled: int, exponent: int) -> tuple[int, int]:
    """The non-negative number in nano units, rounded up; exponents beyond 64 bits of value stay symbolic."""
    if unscaled == 0:
        return 0, 0
    drop = _NANO - exponent
    if drop <= 0:
        return (unscaled * 10**-drop, _NANO) if exponent <= 64 else (unscaled, exponent)
    if drop > _MAX_TEXT:
        return 1, _NANO
    quotient, rest = divmod(unscaled, 10**drop)
    return quotient + (rest > 0), _NANO


def _small_scaled(q: Quantity, exponent: int) -> int:
    shift = q.exponent - exponent
    if shift < 0:
        size = -(-abs(q.unscaled) // _power_of_ten(min(-shift, _SMALL_DIGITS + 1)))
        return -size if q.unscaled < 0 else size
    if q.unscaled == 0 or shift > 2 * _SMALL_DIGITS:
        return 0
    result = q.unscaled * _power_of_ten(shift)
    # Upstream unrolls these shifts without an overflow check; the others give 0 on overflow.
    return _wrap(result, 64) if shift in (0, 1, 2, 3, 6, 9) or abs(result) <= MAX_INT64 else 0


def _large_scaled(q: Quantity, exponent: int) -> int:
    shift = exponent - q.exponent
    if shift <= 0:
        return _wrap(q.unscaled * 10**-shift, 64) if -shift < 64 else 0
    if q.unscaled >= MAX_INT64 or shift > _SMALL_DIGITS:
        return _wrap(-(-q.unscaled // 10**shift), 64)
    low, divisor = _wrap(q.unscaled, 64), _power_of_ten(shift)
    size = abs(low) // divisor
    return (-size if low < 0 else size) + (low % divisor != 0)


def _wrap(number: int, bits: int) -> int:
    half = 1 << (bits - 1)
    return (number + half) % (1 << bits) - half


def _power_of_ten(exponent: int) -> int:
    return int(10**exponent)


def _aligned(q: Quantity, exponent: int) -> int:
    if q.unscaled == 0:
        return 0
    if q.exponent - exponent > _MAX_SHIFT:
        raise QuantityError("the quantities differ by too many orders of magnitude")
    return q.unscaled * _power_of_ten(q.exponent - exponent)


def _order(q: Quantity) -> tuple[int, int]:
    """A sort key by sign and magnitude: equal for numbers of the same sign and the same number of integer digits."""
    if q.unscaled == 0:
        return 0, 0
    magnitude = len(str(abs(q.unscaled))) + q.exponent
    return (1, magnitude) if q.unscaled > 0 else (-1, -magnitude)


def _without_zeros(unscaled: int, exponent: int) -> tuple[int, int]:
    while unscaled and unscaled % 10 == 0:
        unscaled, exponent = unscaled // 10, exponent + 1
    return unscaled, exponent


def _canonical(q: Quantity) -> str:
    if q.unscaled == 0:
        return "0"
    whole = _binary_integer(q) if q.format is Format.BINARY_SI else None
    if whole is not None:
        times = 0
        while whole % 1024 == 0:
            whole, times = whole // 1024, times + 1
        return f"{whole}{_BINARY_SUFFIX.get(times, '')}"
    digits, exponent = _without_zeros(q.unscaled, q.exponent)
    digits, exponent = digits * 10 ** (exponent % 3), exponent - exponent % 3
    if q.format is Format.DECIMAL_EXPONENT:
        return f"{digits}e{exponent}" if exponent else str(digits)
    return f"{digits}{_DECIMAL_SUFFIX.get(exponent, '')}"


def _binary_integer(q: Quantity) -> int | None:
    """The integer to print in powers of 1024, or None where upstream falls back to decimal: fractions, and below 1024."""
    digits, exponent = _without_zeros(q.unscaled, q.exponent)
    if exponent < 0:
        return None
    number: int = digits * 10**exponent
    return number if abs(number) >= 1024 else None
