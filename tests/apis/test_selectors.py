"""Label selectors: who is selected, and which selectors are refused."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.objects import LabelSelector, LabelSelectorRequirement
from scheduler.apis.selectors import (
    EVERYTHING,
    NOTHING,
    FieldRequirement,
    Operator,
    Requirement,
    SelectorError,
    compile_label_selector,
    parse_field_selector,
    parse_label_selector,
    selector_from_set,
)

LABELS = {"app": "web", "tier": "front", "n": "5", "empty": ""}


def selector(*expressions: tuple[str, str, tuple[str, ...]], **labels: str) -> LabelSelector:
    """The API object with these labels and (key, operator, values) expressions."""
    requirements = tuple(LabelSelectorRequirement(key=k, operator=o, values=v) for k, o, v in expressions)
    return LabelSelector(match_labels=labels, match_expressions=requirements)


@pytest.mark.parametrize(
    ("given_selector", "matches"),
    [
        pytest.param(None, False, id="absent matches nothing"),
        pytest.param(selector(), True, id="empty matches everything"),
        pytest.param(selector(app="web"), True, id="label equal"),
        pytest.param(selector(app="web", tier="back"), False, id="all labels must be equal"),
        pytest.param(selector(("app", "In", ("x", "web"))), True, id="In"),
        pytest.param(selector(("no", "In", ("x",))), False, id="In needs the label"),
        pytest.param(selector(("app", "NotIn", ("x",))), True, id="NotIn"),
        pytest.param(selector(("app", "NotIn", ("web",))), False, id="NotIn excludes"),
        pytest.param(selector(("no", "NotIn", ("x",))), True, id="NotIn holds without the label"),
        pytest.param(selector(("empty", "Exists", ())), True, id="Exists with an empty value"),
        pytest.param(selector(("no", "Exists", ())), False, id="Exists"),
        pytest.param(selector(("no", "DoesNotExist", ())), True, id="DoesNotExist"),
        pytest.param(selector(("app", "DoesNotExist", ())), False, id="DoesNotExist excludes"),
        pytest.param(selector(("tier", "Exists", ()), app="x"), False, id="labels and expressions both"),
    ],
)
def test_a_label_selector_selects(given_selector: LabelSelector | None, matches: bool) -> None:
    assert compile_label_selector(given_selector).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("given_selector", "complaint"),
    [
        (selector(("a", "In", ())), "values: Invalid value: null: for 'in', 'notin' operators"),
        (selector(("a", "NotIn", ())), "values set can't be empty"),
        (selector(("a", "Exists", ("x",))), r'values: Invalid value: \["x"\]: values set must be empty'),
        (selector(("a", "Gt", ("1",))), '"Gt" is not a valid label selector operator'),
        (selector(("a", "in", ("1",))), '"in" is not a valid label selector operator'),
        (selector(("", "Exists", ())), "key: .*name part must be non-empty"),
        (selector(("a/b/c", "Exists", ())), "a valid label key"),
        (selector(("/b", "Exists", ())), "prefix part must be non-empty"),
        (selector(("A_b/c", "Exists", ())), "prefix part a lowercase RFC 1123 subdomain"),
        (selector(("a" * 64, "Exists", ())), "no more than 63 bytes"),
        (selector(("a", "In", ("-x",))), r"values\[0\]\[a\]: .*a valid label must be an empty string"),
        (selector(a="x" * 64), r"values\[0\]\[a\]: .*no more than 63 bytes"),
        (selector(**{"a b": "x"}), "key: Invalid value"),
    ],
)
def test_a_faulty_label_selector_is_refused(given_selector: LabelSelector, complaint: str) -> None:
    with pytest.raises(SelectorError, match=complaint):
        compile_label_selector(given_selector)


def test_all_faults_of_a_requirement_are_told_at_once() -> None:
    with pytest.raises(SelectorError) as caught:
        compile_label_selector(selector(("a b", "In", ("-x", "ok", "y-"))))
    assert [error.path for error in caught.value.errors] == ["key", "values[0][a b]", "values[2][a b]"]


def test_a_set_of_labels_is_taken_as_it_is() -> None:
    assert selector_from_set({"app": "web"}).matches(LABELS)
    assert not selector_from_set({"app": "not valid!"}).matches(LABELS)
    assert selector_from_set({}).matches({})


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("", True),
        ("app=web", True),
        ("app==web", True),
        ("app!=web", False),
        ("no!=web", True),
        ("app = web , tier=front", True),
        ("app in (web,api),tier notin (back)", True),
        ("app notin (web)", False),
        ("app", True),
        ("no", False),
        ("!no", True),
        ("! app", False),
        ("n>4", True),
        ("n<5", False),
        ("app>4", False),
        ("empty=", True),
        ("empty=,app", True),
        ("empty in ()", True),
        ("empty in (,x)", True),
        ("app in (x,)", False),
        ("in=in", False),
        ("notin notin (in)", True),
    ],
)
def test_a_selector_text_selects(text: str, matches: bool) -> None:
    assert parse_label_selector(text).matches(LABELS) is matches


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a=b,", "found '', expected: identifier after ','"),
        ("a,,b", "found ',', expected: identifier after ','"),
        ("=", "found '=', expected: !, identifier, or 'end of string'"),
        ("a b", "found 'b', expected: in, notin, =, ==, !=, gt, lt"),
        ("a in b", r"found 'b' expected: '\('"),
        ("a in (b", "found '', expected: ',' or '\\)'"),
        ("a in (b c)", "found 'c', expected"),
        ("!", "found '', expected: identifier"),
        ("!a=b", "found '=', expected: ',' or 'end of string'"),
        ("a=(", r"found '\(', expected: identifier"),
        ("a>b", "the value must be an integer"),
        ("a>", "the value must be an integer"),
        ("-a=b", "unable to parse requirement: <nil>: Invalid value"),
        ("a=-b", r"values\[0\]\[a\]: Invalid value"),
        ("a=b\0c", "Invalid value"),
        ("a" * 70_000, "longer than"),
    ],
)
def test_a_faulty_selector_text_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SelectorError, match=complaint):
        parse_label_selector(text)


words = st.from_regex(r"[a-z0-9]([a-z0-9._-]{0,6}[a-z0-9])?", fullmatch=True)
requirements = st.one_of(
    st.builds(
        Requirement,
        words,
        st.sampled_from([Operator.IN, Operator.NOT_IN]),
        st.lists(words, min_size=1, max_size=3, unique=True).map(lambda values: tuple(sorted(values))),
    ),
    st.builds(Requirement, words, st.sampled_from([Operator.EXISTS, Operator.DOES_NOT_EXIST])),
    st.builds(
        Requirement,
        words,
        st.sampled_from([Operator.GT, Operator.LT]),
        st.integers(0, 99).map(lambda n: (str(n),)),
    ),
)


@given(requirements)
def test_a_requirement_survives_being_written_and_read(requirement: Requirement) -> None:
    assert parse_label_selector(str(requirement)).requirements == (requirement,)


@given(requirements, st.dictionaries(words, words, max_size=4))
def test_a_requirement_needs_only_the_value_of_its_label(
    requirement: Requirement, labels: Mapping[str, str]
) -> None:
    by_value = requirement.matches_value(labels.get(requirement.key))
    assert parse_label_selector(str(requirement)).matches(labels) is by_value


@given(st.text(max_size=20))
def test_no_text_is_worse_than_refused(text: str) -> None:
    for parse in (parse_label_selector, parse_field_selector):
        with contextlib.suppress(SelectorError):
            assert parse(text) is not None


@pytest.mark.parametrize(
    ("value", "operator", "bound", "matches"),
    [
        ("10", Operator.GT, "9", True),
        ("+10", Operator.GT, "-9", True),
        ("010", Operator.LT, "11", True),
        ("9", Operator.GT, "9", False),
        ("1_0", Operator.GT, "1", False),
        (" 10", Operator.GT, "1", False),
        ("10.0", Operator.GT, "1", False),
        ("9223372036854775808", Operator.GT, "1", False),
        ("9223372036854775807", Operator.GT, "1", True),
        (None, Operator.LT, "1", False),
    ],
)
def test_only_64_bit_integers_are_compared(
    value: str | None, operator: Operator, bound: str, matches: bool
) -> None:
    assert Requirement("a", operator, (bound,)).matches_value(value) is matches


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("spec.nodeName=n1", (FieldRequirement("spec.nodeName", "=", "n1"),)),
        ("b==x,a!=y", (FieldRequirement("a", "!=", "y"), FieldRequirement("b", "=", "x"))),
        (r"a=x\,y\=z\\", (FieldRequirement("a", "=", "x,y=z\\"),)),
        ("a=,,", (FieldRequirement("a", "=", ""),)),
        ("=", ()),
    ],
)
def test_a_field_selector_text_is_read(text: str, expected: tuple[FieldRequirement, ...]) -> None:
    assert parse_field_selector(text) == expected
    assert parse_field_selector(",".join(str(requirement) for requirement in expected)) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a", "can't understand 'a'"),
        ("a=b=c", "unescaped character"),
        (r"a=b\x", "invalid escape sequence"),
        ("a=b\\", "invalid escape sequence"),
    ],
)
def test_a_faulty_field_selector_text_is_refused(text: str, complaint: str) -> None:
    with pytest.raises(SelectorError, match=complaint):
        parse_field_selector(text)


def test_an_absent_field_is_an_empty_one() -> None:
    assert FieldRequirement("spec.nodeName", "=", "").matches({})
    assert FieldRequirement("spec.nodeName", "!=", "n").matches({})
    assert not FieldRequirement("spec.nodeName", "=", "n").matches({})


def test_the_borders_are_told_apart() -> None:
    assert EVERYTHING.empty
    assert not NOTHING.empty
    assert not NOTHING.matches({})
