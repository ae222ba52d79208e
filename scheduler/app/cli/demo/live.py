"""The live view: a table that follows the ledger, or plain lines where there is no terminal."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from scheduler.app.cli.demo.ledger import Ledger, Placement

_LATEST = 12
_LINE_SECONDS = 0.5
_RATE_SECONDS = 1.0


class View(Protocol):
    """A context that shows progress whenever it is told to look."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def look(self) -> None:
        """Show how things stand now."""
        ...


def view(console: Console, ledger: Ledger, now: Callable[[], float]) -> View:
    """The view that suits the console."""
    return LiveTable(console, ledger, now) if console.is_terminal else PlainLines(console, ledger, now)


def headline(ledger: Ledger, now: float) -> str:
    """``pending 12   bound 48   unschedulable 8   gated 1   placed 34   210 pods/s``."""
    counts = ledger.counts()
    placements = ledger.placements()
    recent = sum(1 for each in placements if each.at > now - _RATE_SECONDS)
    return (
        f"{now:5.1f} s   pending {counts['waiting']}   bound {counts['bound']}   unschedulable {counts['unschedulable']}   "
        f"gated {counts['gated']}   placed {len(placements)}   {recent / _RATE_SECONDS:.0f} pods/s"
    )


class LiveTable:
    """For terminals: counts and the latest placements, redrawn in place."""

    def __init__(self, console: Console, ledger: Ledger, now: Callable[[], float]) -> None:
        self._ledger = ledger
        self._now = now
        self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def look(self) -> None:
        """Redraw."""
        title = Text(headline(self._ledger, self._now()), style="bold")
        self._live.update(Group(title, _table(self._ledger.placements()[-_LATEST:])), refresh=True)


class PlainLines:
    """For files and pipes: a line when something has changed, but not too often."""

    def __init__(self, console: Console, ledger: Ledger, now: Callable[[], float]) -> None:
        self._console = console
        self._ledger = ledger
        self._now = now
        self._shown: object = None
        self._next = 0.0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._print()

    def look(self) -> None:
        """Print a line if it is time and there is something new."""
        if self._now() >= self._next:
            self._print()

    def _print(self) -> None:
        counts = self._ledger.counts()
        if not counts or counts == self._shown:
            return
        self._shown = counts
        self._next = self._now() + _LINE_SECONDS
        self._console.print(headline(self._ledger, self._now()), markup=False)


def _table(placements: list[Placement]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("at", "pod", "node"):
        table.add_column(heading, justify="left", style="cyan" if heading == "node" else "")
    for each in placements:
        table.add_row(f"{each.at:.2f} s", Text(each.pod), Text(each.node))
    return table
