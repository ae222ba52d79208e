"""The table by area at the end of a session: how many scenarios are equal, and how many fields that took."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

_COLUMNS = "{:<12} {:>9} {:>7} {:>10}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print it, from what the tests recorded (with several workers too: properties travel with reports)."""
    rows: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            _count(rows, dict(report.user_properties), equal=outcome == "passed")
    if rows:
        terminalreporter.section("conformance with kube-scheduler 1.36.2")
        terminalreporter.write_line(_COLUMNS.format("area", "scenarios", "equal", "fields"))
        for area, numbers in sorted(rows.items()):
            terminalreporter.write_line(_COLUMNS.format(area, *numbers))


def _count(rows: dict[str, list[int]], properties: dict[str, Any], *, equal: bool) -> None:
    if "area" not in properties:
        return
    row = rows[properties["area"]]
    for column, number in enumerate((1, int(equal), properties["fields"])):
        row[column] += number
