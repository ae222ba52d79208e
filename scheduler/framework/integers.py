"""Go's int64 arithmetic over columns: products wrap around, quotients are truncated toward zero, never floats in between."""

from __future__ import annotations

from typing import Final

import numpy as np

from scheduler.framework.rejections import Column

_HALF: Final = 1 << 63


def quotient(dividend: Column, divisor: Column | int) -> Column:
    """int64[rows]: the quotient truncated toward zero; 0 where the divisor is 0."""
    if isinstance(divisor, int):
        found: Column = dividend // divisor if divisor else np.zeros_like(dividend)
    elif divisor.all():
        found = dividend // divisor
    else:
        nonzero = divisor != 0
        found = np.floor_divide(dividend, divisor, out=np.zeros_like(dividend), where=nonzero)
    if found.min(initial=0) < 0:
        found += (found < 0) & (found * divisor != dividend)
    return found


def wrapped(number: int) -> int:
    """The number as an int64 that overflowed would hold it."""
    return number if -_HALF <= number < _HALF else (number + _HALF) % (1 << 64) - _HALF


def truncated(number: float) -> int:
    """A float64 as int64, as amd64 converts it: what is out of range becomes the smallest int64."""
    return int(number) if -_HALF <= number < _HALF else -_HALF
