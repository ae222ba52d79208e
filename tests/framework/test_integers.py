"""Go's int64 arithmetic: truncation toward zero, wrapping around, conversion from float64."""

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.framework.integers import quotient, truncated, wrapped

SMALL = st.integers(-(2**31), 2**31)
INT64_MIN = -(2**63)


def truncating(dividend: int, divisor: int) -> int:
    if not divisor:
        return 0
    size = abs(dividend) // abs(divisor)
    return size if (dividend < 0) == (divisor < 0) else -size


@given(st.lists(st.tuples(SMALL, SMALL), max_size=8))
def test_quotient_of_columns_truncates_toward_zero(pairs: list[tuple[int, int]]) -> None:
    dividends = np.array([dividend for dividend, _ in pairs], np.int64)
    divisors = np.array([divisor for _, divisor in pairs], np.int64)
    assert quotient(dividends, divisors).tolist() == [truncating(*pair) for pair in pairs]


@given(st.lists(SMALL, max_size=8), SMALL)
def test_quotient_by_a_number_truncates_toward_zero(dividends: list[int], divisor: int) -> None:
    column = np.array(dividends, np.int64)
    assert quotient(column, divisor).tolist() == [truncating(each, divisor) for each in dividends]


@given(st.integers(-(2**70), 2**70))
def test_wrapped_is_what_64_bits_hold(number: int) -> None:
    assert wrapped(number) == ctypes.c_int64(number).value


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        pytest.param(2.9, 2, id="toward zero"),
        pytest.param(-2.9, -2, id="toward zero, negative"),
        pytest.param(-(2.0**63), INT64_MIN, id="the smallest"),
        pytest.param(2.0**63, INT64_MIN, id="too large"),
        pytest.param(float("inf"), INT64_MIN, id="infinite"),
        pytest.param(float("nan"), INT64_MIN, id="not a number"),
    ],
)
def test_truncated_converts_as_amd64_does(number: float, expected: int) -> None:
    assert truncated(number) == expected
