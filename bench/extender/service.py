"""The webhook that is measured, as its clients and its observers reach it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.extender.client import Connection
from bench.extender.observed import Observed


@dataclass(frozen=True, slots=True)
class Service:
    """Its URLs without and with TLS, what a client shows of itself, and its process."""

    url: str
    secure_url: str
    certificate: Path
    process: Observed

    def plain(self) -> Connection:
        """A connection without TLS."""
        return Connection(self.url)

    def secure(self) -> Connection:
        """A connection with TLS and a client certificate."""
        return Connection(self.secure_url, self.certificate)

    def extra_memory(self, work: Callable[[], object]) -> float:
        """The most that the process needs for this beyond what it holds before, in MB."""
        before = self.process.holdings().resident
        self.process.forget_peak()
        work()
        return self.process.peak() - before
