"""``wharfinger explain`` and ``simulate`` as processes of their own: pipes, exit codes, and not a word too many."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from typing import Any

import pytest

from tests.conformance.harness import DATA, held_out, vectors
from tests.e2e.processes import PROJECT, environment

SAMPLE = str(PROJECT / "manifests" / "samples" / "cluster.yaml")


def run(*words: str, given: bytes | None = None) -> Any:
    return subprocess.run(
        [sys.executable, "-m", "scheduler", *words],
        env=environment(),
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_scenarios_from_a_pipe() -> None:
    recorded = [each for each in list(vectors(DATA / "mixed.jsonl.gz"))[:6] if not held_out(each)]
    given = b"".join(json.dumps(each["scenario"]).encode() + b"\n" for each in recorded)
    found = run("explain", "--scenarios", "-", given=given)
    assert (found.returncode, found.stderr) == (0, b"")
    assert [json.loads(line) for line in found.stdout.splitlines()] == [each["expected"] for each in recorded]


def test_the_sample_cluster_explained() -> None:
    found = run("explain", "llm-train", "-n", "ml", "-f", SAMPLE)
    assert found.returncode == 0
    assert found.stdout.startswith(
        b"ml/llm-train fits on none of 14 nodes\nkube-scheduler would write: 0/14 nodes"
    )


def test_the_sample_cluster_simulated() -> None:
    found = run("simulate", "-f", SAMPLE, "-o", "json")
    result = json.loads(found.stdout)
    assert (found.returncode, found.stderr) == (0, b"")
    expected = {each["pod"] for each in result["pending"]}
    assert {"ml/llm-train", "data/warehouse"} <= expected
    assert len(result["placed"]) > 40


@pytest.mark.parametrize("words", [["explain", "p", "-f", "-"], ["explain", "--scenarios", "-"]])
@pytest.mark.parametrize(
    "given", [b"\x80\x81", b"[" * 100_000, b"{" * 1000, b"a: &a [*a]\n", b"\x1f\x8bbroken"], ids=range(5)
)
def test_no_traceback_whatever_comes_in(words: list[str], given: bytes) -> None:
    found = run(*words, given=given)
    assert b"Traceback" not in found.stderr + found.stdout
    assert found.returncode in (0, 1)
    assert b"error" in found.stderr + found.stdout


def test_ctrl_c_ends_it_without_a_word() -> None:
    words = [sys.executable, "-m", "scheduler", "explain", "--scenarios", "-"]
    with subprocess.Popen(
        words, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"{\n")  # answered at once: it is running, then, and waits for more
        process.stdin.flush()
        assert process.stdout.readline().startswith(b'{"error"')
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=30)
    assert (process.returncode, said) == (130, b"")


@pytest.mark.parametrize("command", ["explain", "simulate"])
def test_help_tells_the_exit_codes(command: str) -> None:
    found = run(command, "--help")
    assert found.returncode == 0
    assert b"Exit codes: 0" in found.stdout
