r"""Selectors as query strings write them: `labelSelector=a=b,c in (d,e),!f` and `fieldSelector=spec.nodeName=n1`.

The grammar of label selector texts (apimachinery `labels.Parse`)::

    selector    = [ requirement { "," requirement } ]
    requirement = [ "!" ] KEY | KEY ( "=" | "==" | "!=" | ">" | "<" ) [ VALUE ]
                | KEY ( "in" | "notin" ) "(" [ VALUE ] { "," [ VALUE ] } ")"

A value left out is the empty value, and the words `in` and `notin` are values where a value may stand. Field selectors
(apimachinery `fields.ParseSelector`) know only `=`, `==` and `!=`; a backslash escapes `\`, `,` and `=` in their values.
"""

from __future__ import annotations

import re
from typing import Final

from scheduler.apis.fielderror import aggregate
from scheduler.apis.requirements import (
    FieldRequirement,
    Operator,
    Requirement,
    SelectorError,
    label_key_errors,
    new_requirement,
)

_MAX_TEXT: Final = 64 * 1024
_TOKEN = re.compile(r"[ \t\r\n]*(==|!=|[=!(),<>]|[^ \t\r\n=!(),<>]+)")
_SPECIAL: Final = frozenset({"==", "!=", "=", "!", "(", ")", ",", "<", ">"})
_END: Final = ""
_EXACT: Final = {
    "=": Operator.IN,
    "==": Operator.IN,
    "!=": Operator.NOT_IN,
    ">": Operator.GT,
    "<": Operator.LT,
}
_SETS: Final = {"in": Operator.IN, "notin": Operator.NOT_IN}
_BINARY: Final = "in, notin, =, ==, !=, gt, lt"
_FIELD_TERM = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL)
_FIELD_SPLIT = re.compile(r"((?:[^\\,]|\\.|\\\Z)*)(?:,|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(.?)|[,=]", re.DOTALL)


def parse_requirements(text: str) -> list[Requirement]:
    """The requirements of a label selector text, in its order. Raises `SelectorError`."""
    return _Parser(_limited(text)).requirements()


def parse_field_selector(text: str) -> tuple[FieldRequirement, ...]:
    """The requirements of a field selector text, sorted as upstream sorts them. Raises `SelectorError`."""
    terms = [match[1] for match in _FIELD_SPLIT.finditer(_limited(text))]
    found = []
    for term in sorted(term for term in terms if term):
        match = _FIELD_TERM.fullmatch(term)
        if match is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{term}'")
        op = "!=" if match[2] == "!=" else "="
        value = _unescaped(match[3])
        if match[1] or value:
            found.append(FieldRequirement(match[1], op, value))
    return tuple(found)


def _limited(text: str) -> str:
    if len(text) > _MAX_TEXT:
        raise SelectorError(f"selector text is longer than {_MAX_TEXT} characters")
    return text


def _unescaped(value: str) -> str:
    def literal(match: re.Match[str]) -> str:
        found = match[0]
        if found in (",", "="):
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(found)}")
        if match[1] not in ("\\", ",", "=") or not match[1]:
            raise SelectorError(f"invalid field selector: invalid escape sequence: {found}")
        return match[1]

    return _ESCAPE.sub(literal, value)


class _Parser:
    """Recursive descent over the tokens; the end of the text is the empty word."""

    def __init__(self, text: str) -> None:
        self._tokens: list[str] = [*_TOKEN.findall(text), _END]
        self._position = 0

    def requirements(self) -> list[Requirement]:
        found: list[Requirement] = []
        if self._peek() != _END and not self._starts_requirement():
            raise SelectorError(f"found '{self._peek()}', expected: !, identifier, or 'end of string'")
        while self._peek() != _END:
            try:
                found.append(self._requirement())
            except SelectorError as error:
                raise SelectorError(f"unable to parse requirement: {error}", error.errors) from None
            separator = self._next()
            if separator == _END:
                break
            if separator != ",":
                raise SelectorError(f"found '{separator}', expected: ',' or 'end of string'")
            if not self._starts_requirement():
                raise SelectorError(f"found '{self._peek()}', expected: identifier after ','")
        return found

    def _requirement(self) -> Requirement:
        word = self._next()
        absent = word == "!"
        key = self._next() if absent else word
        if not _is_word(key):
            raise SelectorError(f"found '{key}', expected: identifier")
        errors = label_key_errors(key, "")
        if errors:
            raise SelectorError(aggregate(errors), errors)
        if absent:
            return Requirement(key, Operator.DOES_NOT_EXIST)
        if self._peek() in (_END, ","):
            return Requirement(key, Operator.EXISTS)
        sign = self._next()
        if sign in _SETS:
            return new_requirement(key, _SETS[sign], sorted(self._value_set()))
        if sign in _EXACT:
            return new_requirement(key, _EXACT[sign], (self._exact_value(),))
        raise SelectorError(f"found '{sign}', expected: {_BINARY}")

    def _value_set(self) -> set[str]:
        word = self._next()
        if word != "(":
            raise SelectorError(f"found '{word}' expected: '('")
        values: set[str] = set()
        while True:
            values.add(self._next() if _is_word(self._peek()) else "")
            word = self._next()
            if word == ")":
                return values
            if word != ",":
                raise SelectorError(f"found '{word}', expected: ',' or ')'")

    def _exact_value(self) -> str:
        if self._peek() in (_END, ","):
            return ""
        word = self._next()
        if not _is_word(word):
            raise SelectorError(f"found '{word}', expected: identifier")
        return word

    def _starts_requirement(self) -> bool:
        return self._peek() == "!" or _is_word(self._peek())

    def _peek(self) -> str:
        return self._tokens[self._position]

    def _next(self) -> str:
        word = self._tokens[self._position]
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return word


def _is_word(word: str) -> bool:
    return word != _END and word not in _SPECIAL
