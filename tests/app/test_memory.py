"""What has come to stay is kept out of the collector's sight; a C library without knobs is fine."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator

import pytest

from scheduler.app import memory


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_is_there_is_not_looked_at_again() -> None:
    kept = [[] for _ in range(1000)]
    before = gc.get_freeze_count()
    memory.settle()
    assert gc.get_freeze_count() >= before + len(kept)
    assert not any(one is kept[0] for one in gc.get_objects(generation=2))


def test_elsewhere_than_with_glibc_only_the_collector_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())
    memory.settle()
    assert gc.get_threshold()[0] > 10_000
