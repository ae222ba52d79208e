"""Two demos never share a directory."""

from pathlib import Path

import pytest

from scheduler.app.cli.demo.directory import reserved
from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.settings import Settings
from scheduler.app.cli.demo.stage import Stage


def chosen(directory: Path) -> Settings:
    return Settings(once=True, load=(), config=None, directory=directory, timeout=60, port=0)


def test_a_second_demo_is_refused_and_leaves_the_files_of_the_first_alone(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text("of the first")
    with (
        reserved(tmp_path),
        pytest.raises(DemoError, match=rf"^another demo is using {tmp_path}; .* --directory DIR$"),
        Stage(chosen(tmp_path)),
    ):
        pass
    assert (tmp_path / "kubeconfig").read_text() == "of the first"
    assert list(tmp_path.glob("*.log")) == []


def test_a_directory_is_free_again_after_its_demo_and_others_are_free_all_along(tmp_path: Path) -> None:
    with reserved(tmp_path / "one"), reserved(tmp_path / "other"):
        pass
    with reserved(tmp_path / "one"):
        pass


def test_a_directory_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(DemoError, match="file/below cannot be used: Not a directory"),
        reserved(tmp_path / "file" / "below"),
    ):
        pass
