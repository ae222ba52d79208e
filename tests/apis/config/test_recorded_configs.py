"""Configuration files and what kube-scheduler 1.36.2 made of each: accepted alike, refused alike, completed alike."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.apis.config import dump, load, startup_errors
from scheduler.apis.config.defaults import IMPLEMENTED
from scheduler.features import Features

CONFIGS = Path(__file__).parents[1] / "configs"
ANSWERS: dict[str, Any] = json.loads((CONFIGS / "answers.json").read_text())
ACCEPTED = sorted(name for name, answer in ANSWERS.items() if answer["ok"])
REFUSED = sorted(set(ANSWERS) - set(ACCEPTED))
FEATURES = Features.default()


def test_every_file_has_an_answer() -> None:
    files = {path.name for path in CONFIGS.iterdir()} - {"answers.json", "README.md"}
    assert files == set(ANSWERS)


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_accepted_file_is_completed_as_upstream_completes_it(name: str) -> None:
    result = load((CONFIGS / name).read_bytes(), source=name, features=FEATURES)
    assert result.errors == []
    assert result.config is not None
    assert startup_errors(result.config, known=IMPLEMENTED) == []
    assert yaml.safe_load(dump(result.config)) == ANSWERS[name]["config"]


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_is_written_reads_back_and_is_written_the_same(name: str) -> None:
    first = load((CONFIGS / name).read_bytes(), source=name, features=FEATURES).config
    assert first is not None
    again = load(dump(first), source=name, features=FEATURES)
    assert again.errors == []
    assert again.config is not None
    assert dump(again.config) == dump(first)


def places(name: str) -> list[str]:
    """Where a refused file is at fault."""
    result = load((CONFIGS / name).read_bytes(), source=name, features=FEATURES)
    errors = result.errors if result.config is None else startup_errors(result.config, known=IMPLEMENTED)
    return [error.path for error in errors]


@pytest.mark.parametrize("name", REFUSED)
def test_a_refused_file_is_refused(name: str) -> None:
    assert places(name)


@pytest.mark.parametrize("name", [name for name in REFUSED if "errors" in ANSWERS[name]])
def test_every_place_that_upstream_names_is_named(name: str) -> None:
    upstream = [re.split(r":\s", line, maxsplit=1)[0] for line in ANSWERS[name]["errors"]]
    assert sorted(places(name)) == sorted(upstream)
