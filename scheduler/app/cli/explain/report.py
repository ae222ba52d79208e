"""The answer for people, the widest information first: the verdict, the sentence that kube-scheduler writes, preemption, then node by node.

Colours only on a terminal; elsewhere lines are as long as they need to be, for ``less -S`` and ``grep``.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, RenderableType
from rich.text import Text

from scheduler.app.cli.explain.nodes import feasible_table, rejected_table
from scheduler.explain.answers import Answer

_WIDE = 10_000
_NAMED = 3


def output(parts: Iterable[RenderableType]) -> None:
    """Print to the standard output; sentences are wrapped by the terminal, if by anybody."""
    out = Console(width=None if sys.stdout.isatty() else _WIDE, highlight=False)
    for part in parts:
        out.print(part, soft_wrap=isinstance(part, Text))


def show(found: Answer, limit: int) -> None:
    """Print an answer; ``limit`` nodes of a kind at most, 0 for all."""
    output(parts(found, limit))


def parts(found: Answer, limit: int) -> Iterator[RenderableType]:
    """What is printed, one thing after the other."""
    yield _headline(found)
    for label, text in _sentences(found):
        yield Text.assemble((f"{label}: ", "bold"), text)
    if found.get("feasible"):
        yield Text()
        yield feasible_table(found, limit)
    rejected = [node for node, status in found.get("filter", {}).items() if status["code"] != "Success"]
    if rejected:
        yield Text()
        yield from _causes(found, rejected)
        yield rejected_table(found, rejected, limit)


def _headline(found: Answer) -> Text:
    name, total = found["name"], len(found.get("filter", {}))
    if found.get("feasible"):
        best: Sequence[str] = found["bestNodes"]
        where = best[0] if len(best) == 1 else f"one of {some(best)}, equally good"
        fits = f"fits on {_counted(len(found['feasible']), 'node')} of {total}"
        return Text.assemble((f"{name} {fits}", "bold green"), f"; it would go to {where}")
    return Text.assemble((f"{name} {_refusal(found, total)}", "bold red"))


def _refusal(found: Answer, total: int) -> str:
    if "skipped" in found:
        return "is being deleted: it is not scheduled"
    if "preEnqueue" in found:
        gate = found["preEnqueue"]
        return f"is kept out of the queue by {gate.get('plugin', 'a plugin')}"
    if "fitError" not in found:
        return "gets no node"
    return f"fits on none of {_counted(total, 'node')}"


def _sentences(found: Answer) -> Iterator[tuple[str, str]]:
    """The texts of the answer, each with what it is."""
    if found.get("nominatedNodeOnly"):
        yield "nominated", "its nominated node fits, so no other node is considered"
    if "skipped" in found:
        yield "event", found["skipped"]
    for status in filter(None, (found.get("preEnqueue"), _refused_before(found))):
        yield status.get("plugin", "reason"), "; ".join(status.get("reasons", ())) or status["code"]
    if "scheduleError" in found:
        yield "error", found["scheduleError"]
    if "fitError" in found:
        yield "kube-scheduler would write", found["fitError"]
        yield "waits for a change that helps", ", ".join(found["unschedulablePlugins"])
    if "preemption" in found:
        yield "preemption", _preemption(found["preemption"])


def _refused_before(found: Answer) -> Mapping[str, Any] | None:
    """What PreFilter said when it refused the pod altogether."""
    status = found.get("preFilter", {"code": "Success"})
    return None if status["code"] == "Success" else status


def _preemption(found: Mapping[str, Any]) -> str:
    if found.get("selected"):
        node = found["selected"][0]
        candidate = found["candidates"][node]
        violations = candidate["numPDBViolations"]
        budgets = f", against {_counted(violations, 'disruption budget')}" if violations else ""
        victims = ", ".join(candidate["victims"])
        others = len(found["candidates"]) - 1
        more = f"; possible on {_counted(others, 'other node')} too" if others else ""
        return f"evict {victims} from {node}{budgets}, then the pod is nominated there{more}"
    message: str = found.get("ineligibleReason") or found.get("message") or "not possible"
    return message.rpartition("preemption: ")[2]  # DynamicResources answers first


def _causes(found: Answer, rejected: Sequence[str]) -> Iterator[Text]:
    """How many nodes each plugin rejects first."""
    counts = Counter(found["filter"][node].get("plugin", "-") for node in rejected)
    summary = ", ".join(f"{plugin} {count}" for plugin, count in counts.most_common())
    yield Text.assemble(("rejected by: ", "bold"), summary)


def some(names: Sequence[str]) -> str:
    """The first few of the names, and how many more there are."""
    rest = len(names) - _NAMED
    return ", ".join(names) if rest <= 1 else f"{', '.join(names[:_NAMED])} and {rest} more"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
