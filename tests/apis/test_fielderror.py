"""The one line that a field's fault prints."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis import fielderror
from scheduler.apis.fielderror import OMITTED, ErrorType, FieldError, aggregate


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (fielderror.invalid("a.b", 3, "must be less"), "a.b: Invalid value: 3: must be less"),
        (fielderror.invalid("a", "x", ""), 'a: Invalid value: "x"'),
        (fielderror.invalid("a", None, "d"), "a: Invalid value: null: d"),
        (fielderror.invalid("a", True, "d"), "a: Invalid value: true: d"),
        (fielderror.invalid("a", ["x", "<y>"], "d"), 'a: Invalid value: ["x","\\u003cy\\u003e"]: d'),
        (fielderror.required("a"), "a: Required value"),
        (fielderror.required("a", "d"), "a: Required value: d"),
        (fielderror.duplicate("a[1]", "x"), 'a[1]: Duplicate value: "x"'),
        (fielderror.not_found("a", "x"), 'a: Not found: "x"'),
        (fielderror.forbidden("a", "d"), "a: Forbidden: d"),
        (
            fielderror.not_supported("a", "x", ["y", "z"]),
            'a: Unsupported value: "x": supported values: "y", "z"',
        ),
        (fielderror.not_supported("a", "x", []), 'a: Unsupported value: "x"'),
        (fielderror.invalid("", 1, "d"), "<nil>: Invalid value: 1: d"),
        (FieldError("a", ErrorType.INVALID, OMITTED, "d"), "a: Invalid value: d"),
    ],
)
def test_a_fault_reads_like_kubernetes(error: FieldError, line: str) -> None:
    assert str(error) == line


@pytest.mark.parametrize(
    ("errors", "text"), [(["a"], "a"), (["a", "b"], "[a, b]"), (["a", "b", "a"], "[a, b]")]
)
def test_several_faults_become_one_line_each_text_once(errors: list[Any], text: str) -> None:
    assert aggregate(errors) == text
