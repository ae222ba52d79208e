"""A process seen from outside, by what Linux tells of it in ``/proc``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_TICKS = os.sysconf("SC_CLK_TCK")


class Holdings(NamedTuple):
    """What it holds; ``resident`` in MB."""

    threads: int
    files: int
    resident: float


@dataclass(frozen=True, slots=True)
class Observed:
    """The process of this id, of the same user."""

    pid: int

    def holdings(self) -> Holdings:
        """As of now."""
        files = sum(1 for _ in self._path("fd").iterdir())
        return Holdings(self._status("Threads"), files, self._status("VmRSS") * 1024 / 1e6)

    def forget_peak(self) -> None:
        """Let `peak` count from now on."""
        self._path("clear_refs").write_text("5")

    def peak(self) -> float:
        """The most memory that was resident, in MB."""
        return self._status("VmHWM") * 1024 / 1e6

    def cpu_milliseconds(self) -> float:
        """CPU time so far, all threads together, user and system."""
        fields = self._path("stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / _TICKS * 1e3

    def _status(self, key: str) -> int:
        found = re.search(rf"^{key}:\s+(\d+)", self._path("status").read_text(), re.MULTILINE)
        if found is None:
            raise RuntimeError(f"/proc/{self.pid}/status has no {key}")
        return int(found[1])

    def _path(self, name: str) -> Path:
        return Path(f"/proc/{self.pid}/{name}")
