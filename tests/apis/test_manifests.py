"""Manifest files: what is read of JSON and YAML, and the one line that says what is wrong."""

from __future__ import annotations

import json
import sys

import pytest

from scheduler.apis.manifests import ManifestError, read_bytes

POD = '{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}'
NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}'
POD_YAML = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: p\n"


def names(text: str, encoding: str = "utf-8") -> list[str]:
    return [each.obj["metadata"]["name"] for each in read_bytes(text.encode(encoding), "f")]


READABLE = [
    pytest.param(POD, ["p"], id="JSON"),
    pytest.param(POD + NODE + "\n" + POD, ["p", "n", "p"], id="what several kubectl get -o json print"),
    pytest.param("\ufeff" + POD, ["p"], id="JSON with a byte order mark"),
    pytest.param("\ufeff" + POD_YAML.replace("\n", "\r\n"), ["p"], id="YAML as Windows writes it"),
    pytest.param(POD + "\n---\n" + POD_YAML, ["p", "p"], id="JSON among YAML documents"),
    pytest.param("{apiVersion: v1, kind: Pod, metadata: {name: p}}", ["p"], id="YAML in braces"),
    pytest.param(POD[:-1] + ",}", ["p"], id="a comma too many is YAML"),
    pytest.param("", [], id="nothing"),
    pytest.param("# nothing\n---\n---\n", [], id="nothing but comments"),
    pytest.param('{"apiVersion": "v1", "kind": "PodList", "items": null}', [], id="a list of nothing"),
]


@pytest.mark.parametrize(("text", "found"), READABLE)
def test_what_is_read(text: str, found: list[str]) -> None:
    assert names(text) == found


def test_utf_16() -> None:
    assert names(POD_YAML, "utf-16") == ["p"]


BROKEN = [
    pytest.param(POD[:-9], "line 1: not valid JSON: it ends too early", id="cut off"),
    pytest.param('{\n"a": 1,,\n}', "line 2: not valid JSON: Expecting property name", id="a comma"),
    pytest.param(
        '{"kind": "Pod", "kind": "Node"}', 'line 1: key "kind" is twice in one object', id="JSON twice"
    ),
    pytest.param(POD + "\n" + '{"a": {"b": 1, "b": 2}}', 'line 2: key "b" is twice', id="twice, further on"),
    pytest.param("kind: Pod\nkind: Node\n", 'line 2: key "kind" already set in map', id="YAML twice"),
    pytest.param('{"a": "\\ud800"}', "not valid JSON", id="half a character"),
    pytest.param(
        '{"a": ' + "[" * sys.getrecursionlimit() * 60, "not valid JSON", id="a well without a bottom"
    ),
    pytest.param("a:\n\tb: 1\n", "line 2: found character that cannot start any token", id="a tab"),
    pytest.param(
        "NAME  READY\nweb-1 1/1\n", "expected an object with apiVersion and kind, found text", id="a table"
    ),
    pytest.param(
        "[1]", "document 1 (line 1): expected an object with apiVersion and kind, found a list", id="a list"
    ),
    pytest.param(
        "apiVersion: v1\nkind: List\nitems: {a: b}\n", "items: expected a list, found an object", id="items"
    ),
    pytest.param(
        "apiVersion: v1\nkind: PodList\nitems: [null]\n", "items[0]: expected an object", id="an item"
    ),
    pytest.param("kind: Pod\n", "document 1 (line 1): apiVersion not set", id="no version"),
]


@pytest.mark.parametrize(("text", "problem"), BROKEN)
def test_one_line_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(ManifestError) as caught:
        names(text)
    line = str(caught.value)
    assert line.startswith("f: ")
    assert problem in line
    assert "\n" not in line


def test_a_character_of_two_halves_is_one() -> None:
    (found,) = read_bytes(json.dumps({**json.loads(POD), "note": "\N{SHIP}\N{WATER WAVE}"}).encode(), "f")
    assert found.obj["note"] == "\N{SHIP}\N{WATER WAVE}"
