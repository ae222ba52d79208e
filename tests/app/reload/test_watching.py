"""A file that becomes another, in all the ways in which files do; looked at by hand."""

from __future__ import annotations

import os
from pathlib import Path

from scheduler.app.reload.watching import FileWatch


def looks(watch: FileWatch, times: int = 4) -> list[bool]:
    return [watch.changed() for _ in range(times)]


def mounted(tmp_path: Path, text: str) -> Path:
    """A file as Kubernetes mounts it from a ConfigMap."""
    exchange(tmp_path, "..2026_01", text)
    (tmp_path / "config.yaml").symlink_to("..data/config.yaml")
    return tmp_path / "config.yaml"


def exchange(tmp_path: Path, directory: str, text: str) -> None:
    """What the kubelet does when the ConfigMap changed."""
    (tmp_path / directory).mkdir()
    (tmp_path / directory / "config.yaml").write_text(text)
    (tmp_path / "..data_tmp").symlink_to(directory)
    os.replace(tmp_path / "..data_tmp", tmp_path / "..data")  # noqa: PTH105  # what the kubelet calls


def test_a_file_that_stays_never_changes(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("one")
    assert looks(FileWatch(file)) == [False] * 4


def test_a_file_that_is_written_to_changes_once(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("one")
    watch = FileWatch(file)
    file.write_text("another")
    assert looks(watch) == [False, True, False, False]


def test_a_file_that_is_still_being_written_is_left_alone_until_it_is_not(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("")
    watch = FileWatch(file)
    for text in ("a", "ab", "abc"):
        file.write_text(text)
        assert not watch.changed()
    assert looks(watch) == [True, False, False, False]


def test_a_file_put_in_place_of_it_is_noticed(tmp_path: Path) -> None:
    file, other = tmp_path / "config.yaml", tmp_path / "new"
    file.write_text("one")
    watch = FileWatch(file)
    other.write_text("two")
    other.replace(file)
    assert looks(watch) == [False, True, False, False]


def test_a_config_map_that_is_exchanged_is_noticed(tmp_path: Path) -> None:
    watch = FileWatch(mounted(tmp_path, "one"))
    exchange(tmp_path, "..2026_02", "two")
    assert looks(watch) == [False, True, False, False]


def test_a_config_map_that_is_exchanged_for_an_equal_one_is_no_change(tmp_path: Path) -> None:
    watch = FileWatch(mounted(tmp_path, "one"))
    exchange(tmp_path, "..2026_02", "one")
    assert looks(watch) == [False] * 4


def test_a_file_that_is_gone_for_a_while_is_looked_at_when_it_is_back(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("one")
    watch = FileWatch(file)
    file.unlink()
    assert looks(watch) == [False] * 4
    file.write_text("two")
    assert looks(watch) == [False, True, False, False]
