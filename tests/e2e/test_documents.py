"""What the documents promise exists."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.processes import PROJECT, environment

DOCUMENTS = [*sorted(PROJECT.glob("*.md")), *sorted((PROJECT / "docs").rglob("*.md"))]
TEXTS = "\n".join(path.read_text() for path in DOCUMENTS)


def test_every_make_target_that_is_mentioned_exists() -> None:
    targets = set(re.findall(r"^([a-z]+):", (PROJECT / "Makefile").read_text(), re.MULTILINE))
    mentioned = set(re.findall(r"(?:^|`)make ([a-z]+)", TEXTS, re.MULTILINE))
    assert {"run", "test"} <= mentioned
    assert mentioned <= targets


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:)([^)#]+)", document.read_text())
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_file_that_is_mentioned_exists() -> None:
    mentioned = set(re.findall(r"`((?:manifests|docs|tests|scheduler|bench)/[\w./-]+)`", TEXTS))
    assert mentioned
    assert {path for path in mentioned if not (PROJECT / path).exists()} == set()


def test_the_reference_of_flags_is_current() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "scheduler", "--help"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert shown.stdout.strip() in (PROJECT / "docs" / "reference" / "flags.md").read_text()


def test_every_flag_that_is_mentioned_exists() -> None:
    known = set(re.findall(r"--([a-z0-9-]+)", (PROJECT / "docs" / "reference" / "flags.md").read_text()))
    mentioned = set(
        re.findall(r"`wharfinger (?!sandbox|demo|explain|serve|simulate)[^`\n]*?--([a-z0-9-]+)", TEXTS)
    )
    mentioned |= {
        flag
        for line in re.findall(r"^wharfinger (?!sandbox|demo|explain|serve|simulate).*", TEXTS, re.MULTILINE)
        for flag in re.findall(r"--([a-z0-9-]+)", line)
    }
    assert mentioned
    assert mentioned <= known


@pytest.mark.parametrize("command", ["explain", "serve", "simulate"])
def test_every_flag_of_a_sub_command_that_is_mentioned_exists(command: str) -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "scheduler", command, "--help"],
        env=environment(),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = re.findall(rf"wharfinger {command}\b[^`\n]*", TEXTS)
    mentioned = {flag for line in lines for flag in re.findall(r"(--[a-z][a-z-]+)", line)}
    assert mentioned
    assert {flag for flag in mentioned if flag not in shown} == set()
