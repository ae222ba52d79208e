"""The sandbox as a process, and the manifests that it loads."""

from __future__ import annotations

import argparse
import http.client
import re
import signal
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from scheduler.apis.manifests import ManifestError, read
from scheduler.sandbox import Sandbox, command
from scheduler.sandbox.server import load_files, serve

GOOD = """
apiVersion: v1
kind: Node
metadata: {name: n1, creationTimestamp: 2026-01-01T00:00:00Z}
---
# nothing in this one
---
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: c, image: i}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b}, spec: {containers: [{name: c, image: i}]}}
"""
BROKEN: list[tuple[str, str, str]] = [
    ("yaml", "a: b\nc: [}", "line 2: "),
    ("duplicate", "apiVersion: v1\nkind: Node\nkind: Pod\n", 'line 3: key "kind" already set in map'),
    (
        "second",
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\n---\nkind: Pod\n",
        "document 2 (line 5): apiVersion not set",
    ),
    ("text", "just text", "document 1 (line 1): expected an object with apiVersion and kind, found text"),
    (
        "kind",
        "apiVersion: v9\nkind: Node\n",
        'document 1 (line 1): no matches for kind "Node" in version "v9"',
    ),
    (
        "field",
        "apiVersion: v1\nkind: Node\nmetadata: {name: a}\nspec: {foo: 1}\n",
        'unknown field "spec.foo"',
    ),
    ("invalid", "apiVersion: v1\nkind: Node\nmetadata: {name: A}\n", 'Node "A" is invalid: metadata.name'),
    (
        "item",
        "apiVersion: v1\nkind: List\nitems: [{kind: Pod}]\n",
        "document 1 (line 1), items[0]: apiVersion not set",
    ),
    ("cycle", "&a [*a]", "line 1: the value contains itself"),
    ("python", "!!python/object:os.system {}", "line 1: could not determine a constructor"),
    ("binary", "a: \x00", "line 1: "),
]


def _parse(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return parser.parse_args(list(words))


def test_documents_lists_and_places(tmp_path: Path) -> None:
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    found = list(read([path]))
    assert [(manifest.obj["kind"], manifest.obj["metadata"]["name"]) for manifest in found] == [
        ("Node", "n1"),
        ("Pod", "a"),
        ("Pod", "b"),
    ]
    assert found[2].place == f"{path}: document 2 (line 8), items[1]"
    assert found[0].obj["metadata"]["creationTimestamp"] == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(("text", "message"), [case[1:] for case in BROKEN], ids=[case[0] for case in BROKEN])
def test_one_line_names_the_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text(text)
    assert serve([path]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert error.startswith(f"error: {path}: ")
    assert message in error


def test_json_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "one.json"
    path.write_text(
        '{"apiVersion": "v1", "kind": "NodeList", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "x"}}]}'
    )
    assert [manifest.obj["metadata"]["name"] for manifest in read([path])] == ["x"]
    path.write_text('{"apiVersion": "v1",\n "kind": ]}')
    with pytest.raises(ManifestError, match="line 2"):
        list(read([path]))


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(ManifestError, match=r"none\.yaml: No such file or directory"):
        list(read([tmp_path / "none.yaml"]))


def test_an_address_that_cannot_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    assert serve([], host="203.0.113.1") == 1
    assert capsys.readouterr().err.startswith("error: sandbox on 203.0.113.1:0: ")


def test_a_kubeconfig_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "gone" / "kubeconfig"
    assert serve([], kubeconfig=path) == 1
    assert capsys.readouterr().err == f"error: {path}: No such file or directory\n"


def test_a_kubeconfig_that_was_open_to_others_is_so_no_more(tmp_path: Path) -> None:
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o644)
    Sandbox(token="s").write_kubeconfig(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_flags() -> None:
    args = _parse("--load", "a", "b", "--load", "c", "--port", "80", "--termination-delay", "1.5")
    assert args.load == [Path("a"), Path("b"), Path("c")]
    assert (args.host, args.port, args.termination_delay) == ("127.0.0.1", 80, 1.5)


@pytest.mark.parametrize(
    "words", [["--port", "70000"], ["--port", "-1"], ["--port", "x"], ["--termination-delay", "-1"]], ids=str
)
def test_bad_flags(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        _parse(*words)
    assert "error: argument" in capsys.readouterr().err


def test_a_token_that_is_not_there_does_not_open_the_door(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("SANDBOX_TOKEN", raising=False)
    assert command.run(_parse("--token-env", "SANDBOX_TOKEN")) == 1
    assert "SANDBOX_TOKEN is not set" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["term", "int"])
def test_a_process_serves_and_ends_cleanly(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "good.yaml").write_text(GOOD)
    words = [sys.executable, "-m", "scheduler", "sandbox", "--load", str(tmp_path / "good.yaml")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, second = process.stdout.readline(), process.stdout.readline()
        address = urlsplit(first.split()[3])
        connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=10)
        connection.request("GET", "/api/v1/nodes/n1")
        status = connection.getresponse().status
        connection.close()
        match = re.search(r"--kubeconfig (\S+)", second)
        config = Path(match[1]).read_text() if match else ""
        process.send_signal(number)
        errors = process.communicate(timeout=30)[1]
    assert (status, process.returncode, errors) == (200, 0, "")
    assert "(3 objects loaded)" in first
    assert first.split()[3] in config


def test_loading_counts(tmp_path: Path) -> None:
    from scheduler.sandbox import Sandbox

    (tmp_path / "good.yaml").write_text(GOOD)
    assert load_files(Sandbox(), [tmp_path / "good.yaml"]) == 3
