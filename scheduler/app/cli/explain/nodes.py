"""Node by node: the scores of those that passed, the reasons of those that did not."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from rich.table import Table
from rich.text import Text

from scheduler.app.cli.outputs import with_rest
from scheduler.explain.answers import Answer

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[^A-Z]+")


def feasible_table(found: Answer, limit: int) -> Table:
    """Total, then per plugin the weighted score and in brackets the raw one where it differs; the best node first.

    A plugin that gives every node 0 has no column.
    """
    scores, raw = found["scores"], found.get("rawScores", {})
    plugins = [name for name in next(iter(raw.values()), {}) if any(row[name] for row in scores.values())]
    names = sorted(scores, key=lambda node: (-scores[node]["total"], node))
    table = _table("node", "total", *map(_heading, plugins), right=len(plugins) + 1)
    best = set(found["bestNodes"])
    for node in names[: limit or None]:
        cells = [_score(scores[node][plugin], raw[node][plugin]) for plugin in plugins]
        style = "green" if node in best else ""
        table.add_row(Text(node, style), Text(str(scores[node]["total"]), style), *map(Text, cells))
    return with_rest(table, len(names), limit)


def rejected_table(found: Answer, rejected: Sequence[str], limit: int) -> Table:
    """Who rejected first and why, who else would, and what preemption could do there; nodes where it could do something come first."""
    preemption = found.get("preemption", {})
    candidates, selected = preemption.get("candidates", {}), preemption.get("selected", ())
    rejected = sorted(rejected, key=lambda node: (node not in selected, node not in candidates))
    headings = ("node", "rejected by", "reasons", "and alone by", "preemption")
    rows = []
    for node in rejected[: limit or None]:
        status = found["filter"][node]
        alone = found.get("pluginFilter", {}).get(node, {})
        others = ", ".join(_others(alone, status.get("plugin", "")))
        reasons = "; ".join(status.get("reasons", ())) or status["code"]
        rows.append((node, status.get("plugin", ""), reasons, others, _eviction(preemption, node)))
    told = [column for column in range(len(headings)) if any(row[column] for row in rows)]
    table = _table(*(headings[column] for column in told))
    for row in rows:
        table.add_row(*(Text(row[column]) for column in told))
    return with_rest(table, len(rejected), limit)


def _others(alone: Mapping[str, Any], first: str) -> list[str]:
    return [plugin for plugin, status in alone.items() if status["code"] != "Success" and plugin != first]


def _eviction(preemption: Mapping[str, Any], node: str) -> str:
    candidate = preemption.get("candidates", {}).get(node)
    if candidate:
        return f"evict {', '.join(candidate['victims'])}"
    refusal = preemption.get("rejected", {}).get(node)
    return "; ".join(refusal.get("reasons", ())) if refusal else ""


def _score(weighted: int, raw: int) -> str:
    return str(weighted) if weighted == raw else f"{weighted} ({raw})"


def _heading(plugin: str) -> str:
    """A plugin's name, a word a line: columns are narrow."""
    return "\n".join(_WORDS.findall(plugin))


def _table(*headings: str, right: int = 0) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for column, heading in enumerate(headings):
        justify: Literal["left", "right"] = "right" if 0 < column <= right else "left"
        table.add_column(heading, justify=justify, overflow="fold")
    return table
