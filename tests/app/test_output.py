"""What becomes of the command when its output cannot be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scheduling.harness import DEADLINE

COMMAND = [sys.executable, "-m", "scheduler"]
HELP = ["--help"]
DEMO = ["demo", "--once"]
FULL = "cannot write the output: no space left on device\n"


def _run(words: list[str], stdout: int, directory: Path) -> tuple[int, str]:
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    done = subprocess.run(
        [*COMMAND, *words],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        cwd=directory,
        env=environment,
        timeout=DEADLINE,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", [HELP, DEMO], ids=["help", "demo"])
def test_a_full_disk_is_one_line(words: list[str], tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        assert _run(words, full.fileno(), tmp_path) == (1, FULL)


@pytest.mark.parametrize("words", [HELP, DEMO], ids=["help", "demo"])
def test_a_reader_that_went_away_is_no_news(words: list[str], tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert _run(words, writer, tmp_path) == (1, "")
    finally:
        os.close(writer)


def test_without_an_output_it_does_its_work() -> None:
    closed = ["bash", "-c", '"$@" >&-', "bash", *COMMAND, "--version"]
    done = subprocess.run(closed, stderr=subprocess.PIPE, text=True, timeout=DEADLINE, check=False)
    assert (done.returncode, done.stderr) == (0, "")
