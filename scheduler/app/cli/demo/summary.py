"""The summary: every pod with its node and the score per plugin, or with the reason why it is pending."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from rich.console import Console
from rich.table import Table
from rich.text import Text

from scheduler.apis.objects import Pod
from scheduler.app.cli.demo.decisions import Decision
from scheduler.app.cli.demo.ledger import Placement, rate, state_of
from scheduler.scheduling.conditions import scheduled_condition

Decisions = Mapping[str, Decision]

_WIDE = 144
"""Columns that a table with one column per plugin needs."""
_UNKNOWN = Decision(namespace="", name="", result="")


def show(console: Console, pods: Sequence[Pod], placements: list[Placement], decisions: Decisions) -> None:
    """Print the whole of it."""
    placed = {each.pod for each in placements}
    ours = [pod for pod in pods if pod.full_name in placed]
    before = [pod for pod in pods if state_of(pod) == "bound" and pod.full_name not in placed]
    pending = [pod for pod in pods if state_of(pod) != "bound"]
    console.print()
    if before:
        console.print(_already_there(before))
    if ours:
        console.print(_placed(ours, decisions, console.width))
    if pending:
        console.print(_pending(pending, decisions))
    if placements:
        console.print(pace(placements), markup=False)


def pace(placements: list[Placement]) -> str:
    """How soon and how fast; times count from the start of the demo's process."""
    count = "1 pod" if len(placements) == 1 else f"{len(placements)} pods"
    words = f"first pod bound after {placements[0].at:.1f} s; {count} placed"
    return f"{words}, {rate(placements):.0f} pods/s" if len(placements) > 1 else words


def _already_there(pods: Sequence[Pod]) -> Table:
    table = Table(title="Pods that had a node before", title_justify="left", show_header=True)
    table.add_column("node")
    table.add_column("pods")
    by_node: dict[str, list[str]] = {}
    for pod in pods:
        by_node.setdefault(pod.spec.node_name, []).append(pod.full_name)
    for node, names in sorted(by_node.items()):
        table.add_row(Text(node), Text(", ".join(names)))
    return table


def _placed(pods: Sequence[Pod], decisions: Decisions, width: int) -> Table:
    plugins = _plugins(decisions)
    wide = width >= _WIDE
    table = Table(title="Pods placed: node, and its weighted score per plugin", title_justify="left")
    table.add_column("pod", no_wrap=wide, overflow="fold")
    table.add_column("node", no_wrap=True, style="cyan")
    table.add_column("nodes\nthat fit", justify="right")
    for heading in map(_heading, plugins) if wide else ("score per plugin",):
        table.add_column(heading, justify="right" if wide else "left", overflow="fold")
    table.add_column("total", justify="right", style="bold")
    for pod in pods:
        decision = decisions.get(pod.full_name, _UNKNOWN)
        scores = _scores(decision, plugins)
        total = str(decision.total) if decision.scores else "-"
        cells = scores if wide else [_in_words(decision)]
        table.add_row(Text(pod.full_name), Text(pod.spec.node_name), str(decision.feasible), *cells, total)
    return table


def _scores(decision: Decision, plugins: Sequence[str]) -> list[str]:
    """A cell per plugin; a node that alone fits is taken without scoring, as in kube-scheduler."""
    if not decision.scores:
        return ["-" for _ in plugins]
    return [str(decision.scores.get(plugin, 0)) for plugin in plugins]


def _in_words(decision: Decision) -> str:
    """All scores in one cell, for narrow terminals; zeros left out."""
    return ", ".join(f"{plugin} {score}" for plugin, score in decision.scores.items() if score)


def _pending(pods: Sequence[Pod], decisions: Decisions) -> Table:
    table = Table(title="Pods pending: why", title_justify="left", show_lines=True)
    table.add_column("pod", no_wrap=True)
    table.add_column("state", no_wrap=True)
    table.add_column("reason", overflow="fold")
    for pod in pods:
        table.add_row(Text(pod.full_name), state_of(pod), Text(_reason(pod, decisions.get(pod.full_name))))
    return table


def _reason(pod: Pod, decision: Decision | None) -> str:
    """The condition's message, which every user of the API sees; else what the scheduler remembers."""
    told = scheduled_condition(pod)
    if told is not None and told.message:
        return told.message
    if pod.spec.scheduling_gates:
        return f"waiting for scheduling gates: [{' '.join(each.name for each in pod.spec.scheduling_gates)}]"
    return decision.message if decision else ""


def _plugins(decisions: Decisions) -> list[str]:
    """Every plugin that gave any pod a score, in the order of their scoring; a plugin skips pods about which it has nothing to say."""
    complete_first = sorted((each.scores for each in decisions.values()), key=len, reverse=True)
    heard = {plugin for scores in complete_first for plugin, score in scores.items() if score}
    return [plugin for plugin in dict.fromkeys(chain.from_iterable(complete_first)) if plugin in heard]


def _heading(plugin: str) -> str:
    """``Node\\nResources\\nFit``: one word a line, so that the columns stay narrow."""
    return "\n".join(re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^A-Z]+", plugin)) or plugin
