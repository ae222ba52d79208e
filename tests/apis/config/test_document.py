"""The text of a file: scalars mean what they mean to Kubernetes, and no text can do harm."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.config.document import MAX_BYTES, plain_means_text, read


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("yes", True), ("y", True), ("On", True), ("TRUE", True), ("n", False), ("off", False), ("tRUE", "tRUE"),
        ("~", None), ("null", None), ("", None), ("nULL", "nULL"),
        ("12", 12), ("+12", 12), ("-3", -3), ("010", 8), ("08", 8), ("0o17", 15), ("0x1F", 31), ("-0b11", -3),
        ("1_000", 1000), ("4.0", 4), ("1.5", 1.5), (".5", 0.5), ("1e3", 1000), ("1e30", 1e30), ("0", 0),
        ("1:30", "1:30"), ("2001-01-01", "2001-01-01"), ("5s", "5s"), ("1.2.3", "1.2.3"), ("0x", "0x"),
        ("'1'", "1"), ('"yes"', "yes"), ("!!str 5", "5"), ("!!int 5", 5), ("!!binary YWJj", "abc"),
    ],
)  # fmt: skip
def test_a_scalar_means_what_it_means_to_kubernetes(text: str, meaning: Any) -> None:
    document = read(f"a: {text}\n", "f")
    assert document.errors == []
    assert document.tree == {"a": meaning}
    assert type(document.tree["a"]) is type(meaning)


def test_keys_are_text() -> None:
    assert read("1: a\ntrue: b\nx: c", "f").tree == {"1": "a", "true": "b", "x": "c"}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: 2\na: 3", ['a: Invalid value: key "a" is given more than once (line 3)']),
        ("x:\n- {b: 1, b: 2}", ['x[0].b: Invalid value: key "b" is given more than once (line 2)']),
        (
            "a: &a {k: 1}\nb:\n  <<: *a\n  k: 2",
            ['b.k: Invalid value: key "k" is given more than once (line 4)'],
        ),
        (
            '{"a": {"b": 1, "b": 2}, "a": {"c": 1, "c": 2}}',
            [
                'a: Invalid value: key "a" is given more than once',
                'a.c: Invalid value: key "c" is given more than once',
            ],
        ),
        ("a: .inf", ['a: Invalid value: ".inf": must be a finite number']),
        ("a: !!binary '*'", ["a: Invalid value: !!binary is not base64 of text"]),
    ],
)
def test_faults_of_content_have_a_path(text: str, lines: list[str]) -> None:
    assert [str(error) for error in read(text, "f").errors] == lines


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("a: 1\n\tb: 2", "f:2:1: Invalid value"),
        ("a: b: c", "f:1:5: Invalid value: mapping values are not allowed"),
        ("a: 'x", "f:1:6: Invalid value"),
        ("a: *b", "f:1:4: Invalid value: found undefined alias"),
        ("{a: 1}", "f:1:2: Invalid value: Expecting property name"),
        ('{"a": 1} x', "f:1:10: Invalid value: Extra data"),
        ('{"a": NaN}', "f: Invalid value: NaN is not a JSON number"),
        ("a: \x01", "f: Invalid value: unacceptable character"),
        (b"a: \xff", "f: Invalid value: not UTF-8 text"),
        ("? [a]\n: 1", "<nil>: Invalid value: a key on line 1 is not text"),
        ("a:\n  <<: 1", "a.<<: Invalid value: a merge needs a mapping"),
        ("a: &a [*a]", "a[0]: Forbidden: an anchor contains itself"),
        ("a: &a\n  <<: *a", "a.<<: Invalid value: a merge needs"),
        ("[" * 5000, "f:1"),
        ("x: " + '{"a": ' * 3000, "f:1: Forbidden: nested deeper than 100 levels"),
        ('{"a": ' * 200 + "1" + "}" * 200, "a.a.a"),
        ('{"a":' * 100_000, "f"),
        (" " * (MAX_BYTES + 1), "f: Forbidden: the file is larger than"),
    ],
    ids=range(18),
)
def test_faults_of_form_have_a_line(text: str | bytes, start: str) -> None:
    errors = read(text, "f").errors
    assert len(errors) == 1
    assert str(errors[0]).startswith(start)


def test_a_few_lines_of_aliases_cannot_fill_the_memory() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    errors = read("\n".join(lines), "f").errors
    assert [error.detail for error in errors] == ["more than 200000 values after expanding aliases"]


@pytest.mark.parametrize(
    ("text", "more"), [("a: 1", False), ("a: 1\n---\nb: 2", True), ("a: 1\n---\nb: [", True)]
)
def test_only_the_first_document_counts(text: str, more: bool) -> None:
    document = read(text, "f")
    assert (document.tree, document.errors, document.more) == ({"a": 1}, [], more)


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "\ufeff".encode()])
def test_an_empty_file_is_no_tree(text: str | bytes) -> None:
    assert read(text, "f") == (None, [], False)


@given(st.text(max_size=12))
def test_text_that_needs_no_quotes_is_known(text: str) -> None:
    if text.isascii() and text.isalnum():
        assert plain_means_text(text) == (read(f"a: {text}", "f").tree == {"a": text})


@given(st.text(max_size=40))
def test_no_text_is_worse_than_refused(text: str) -> None:
    document = read(text, "f")
    assert all(str(error) for error in document.errors)
