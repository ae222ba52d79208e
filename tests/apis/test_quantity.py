"""Quantities: apimachinery's arithmetic and notation, checked against tables and against exact fractions."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.quantity import (
    MAX_INT64,
    Format,
    Quantity,
    QuantityError,
    from_json,
    milli_value,
    parse,
    value,
)

BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}


@pytest.mark.parametrize(
    ("text", "whole", "milli", "printed"),
    [
        ("0", 0, 0, "0"),
        ("100m", 1, 100, "100m"),
        ("0.5", 1, 500, "500m"),
        (".5", 1, 500, "500m"),
        ("5.", 5, 5000, "5."),
        ("1e3", 1000, 1_000_000, "1e3"),
        ("1E", 10**18, 0, "1E"),
        ("128974848000m", 128974848, 128974848000, "128974848"),
        ("+7920m", 8, 7920, "+7920m"),
        ("3920E-3", 4, 3920, "3920E-3"),
        ("3072.0Mi", 3 * 2**30, 3000 * 2**30, "3Gi"),
        ("7500000000n", 8, 7500, "7500m"),
        ("1920000u", 2, 1920, "1920m"),
        ("1.5Gi", 3 * 2**29, 1500 * 2**30, "1536Mi"),
        ("1024", 1024, 1_024_000, "1024"),
        ("1024Ki", 2**20, 1000 * 2**20, "1Mi"),
        ("0.001Ki", 2, 1024, "1024m"),
        ("0.1Ki", 103, 102400, "102400m"),
        ("1000k", 10**6, 10**9, "1M"),
        ("0.0000000001", 1, 1, "1n"),
        ("1e-1000000000", 1, 1, "1e-9"),
        ("-1.5", -2, -1500, "-1500m"),
        ("-100m", -1, -100, "-100m"),
    ],
)
def test_a_quantity_means_and_prints_what_it_does_upstream(
    text: str, whole: int, milli: int, printed: str
) -> None:
    assert (value(text), milli_value(text), str(parse(text))) == (whole, milli, printed)


@pytest.mark.parametrize(
    ("text", "whole", "milli"),
    [
        pytest.param("100Ei", MAX_INT64, -1000, id="binary is capped, thousands of the cap wrap"),
        pytest.param("12345678901Gi", MAX_INT64, -1000, id="the cap holds whatever the suffix"),
        pytest.param("1Ei", 2**60, -(2**63), id="thousands of a large binary wrap"),
        pytest.param("100E", 0, 0, id="a decimal beyond 64 bits is nothing"),
        pytest.param("1e1000000000", 0, 0, id="even a very large one"),
        pytest.param("123456789012345678901e1000000000", 0, 0, id="with many digits"),
        pytest.param("99999999999999999999", 7766279631452241919, 200376420520688664, id="many digits wrap"),
        pytest.param(
            "10000000000000000M", 1864712049423024128, 1590897978359414784, id="an unchecked shift wraps"
        ),
        pytest.param("-0.0000000001", 1, 1, id="a negative trifle rounds upwards past zero"),
        pytest.param("1e4294967296", 1, 1000, id="an exponent of more than 32 bits wraps"),
    ],
)
def test_numbers_beyond_64_bits_go_where_they_go_upstream(text: str, whole: int, milli: int) -> None:
    assert (value(text), milli_value(text)) == (whole, milli)


@pytest.mark.parametrize("text", ["+", "-", ".", "m", "Ki", "e5", "000", "-0", "0Ei", "0.000"])
def test_what_has_no_digits_that_count_is_zero(text: str) -> None:
    assert parse(text) == Quantity(0)
    assert str(parse(text)) in ("0", text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "regular expression"),
        (" 1", "regular expression"),
        ("1 ", "regular expression"),
        ("NaN", "regular expression"),
        ("Infinity", "regular expression"),
        ("1_000", "regular expression"),
        ("1.1.M", "regular expression"),
        ("1+1.0M", "regular expression"),
        ("٣", "regular expression"),
        ("1\n", "regular expression"),
        ("--1", "suffix"),
        ("1K", "suffix"),
        ("1ki", "suffix"),
        ("1e", "suffix"),
        ("1i", "suffix"),
        ("1e+", "suffix"),
        ("1e99999999999999999999", "suffix"),
        ("Ei", "numeric"),
        (".e-20", "numeric"),
        ("9" * 5000, "regular expression"),
    ],
)
def test_what_upstream_refuses_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(QuantityError, match=complaint):
        parse(text)


@pytest.mark.parametrize(
    ("given_json", "milli"), [(2, 2000), (0.25, 250), (1e-7, 1), (1e21, 0), ("2", 2000), (" 2\n", 2000)]
)
def test_json_may_leave_the_quotes_out(given_json: str | float, milli: int) -> None:
    assert milli_value(given_json) == milli


def test_a_boolean_is_no_quantity() -> None:
    with pytest.raises(QuantityError):
        from_json(True)


digits = st.integers(0, 10**15)
signs = st.sampled_from(["", "+", "-"])
fractions = st.integers(0, 10**6).map(lambda part: f".{part:06d}") | st.just("")


@given(signs, digits, fractions, st.sampled_from([*DECIMAL, *BINARY]))
def test_parsing_is_exact_down_to_nano_units(sign: str, whole: int, fraction: str, suffix: str) -> None:
    exact = Fraction(f"{whole}{fraction}") * (
        Fraction(10) ** DECIMAL[suffix] if suffix in DECIMAL else Fraction(2) ** BINARY[suffix]
    )
    rounded = -((-exact * 10**9) // 1)
    expected = min(rounded, MAX_INT64 * 10**9) if suffix in BINARY else rounded
    found = parse(f"{sign}{whole}{fraction}{suffix}")
    assert found.unscaled * Fraction(10) ** (found.exponent + 9) == (-expected if sign == "-" else expected)


@given(st.integers(0, 10**14), st.sampled_from(["n", "u", "m", "", "k", "Ki", "Mi"]))
def test_values_round_up_to_the_unit(number: int, suffix: str) -> None:
    exact = number * (Fraction(10) ** DECIMAL[suffix] if suffix in DECIMAL else Fraction(2) ** BINARY[suffix])
    if exact * 1000 < MAX_INT64:
        assert value(f"{number}{suffix}") == -(-exact // 1)
        assert milli_value(f"{number}{suffix}") == -(-exact * 1000 // 1)


@given(st.integers(-(10**17), 10**17), st.integers(-9, 17), st.sampled_from(list(Format)))
def test_what_is_printed_reads_back_as_the_same_number(unscaled: int, exponent: int, form: Format) -> None:
    quantity = Quantity(unscaled, exponent, form, small=False)
    # Upstream has no suffix beyond E and prints such numbers without one.
    if form is Format.DECIMAL_EXPONENT or abs(unscaled) * 10 ** max(exponent, 0) < 10**18:
        assert parse(str(quantity)) == quantity


quantities = st.builds(Quantity, st.integers(-(10**20), 10**20), st.integers(-9, 30), small=st.just(False))


def exact_of(quantity: Quantity) -> Fraction:
    return quantity.unscaled * Fraction(10) ** quantity.exponent


@given(quantities, quantities)
def test_sums_and_order_are_those_of_the_numbers(left: Quantity, right: Quantity) -> None:
    assert exact_of(left + right) == exact_of(left) + exact_of(right)
    assert exact_of(left - right) == exact_of(left) - exact_of(right)
    assert (left < right, left == right) == (
        exact_of(left) < exact_of(right),
        exact_of(left) == exact_of(right),
    )


@given(quantities, st.integers(0, 5))
def test_equal_quantities_have_equal_hashes(quantity: Quantity, shift: int) -> None:
    same = Quantity(quantity.unscaled * 10**shift, quantity.exponent - shift)
    assert same == quantity
    assert hash(same) == hash(quantity)


def test_huge_exponents_compare_without_being_written_out() -> None:
    assert parse("1e1000000000") > parse("9Ei")
    assert parse("2e1000000000") > parse("1e1000000000")
    assert parse("10e1000000000") == parse("1e1000000001")
    with pytest.raises(QuantityError, match="orders of magnitude"):
        parse("1e1000000000") + parse("1")


@given(st.text(alphabet="0123456789.+-eEinumkKMGTPi_ ", max_size=12))
def test_no_text_is_worse_than_refused(text: str) -> None:
    try:
        quantity = parse(text)
    except QuantityError:
        return
    assert isinstance(quantity.value(), int)
    assert isinstance(quantity.milli_value(), int)
    assert str(quantity)


def test_a_zero_takes_the_format_of_what_is_added() -> None:
    assert str(parse("0") + parse("1Gi")) == "1Gi"
    assert str(parse("1Gi") + parse("1G")) == "2073741824"
