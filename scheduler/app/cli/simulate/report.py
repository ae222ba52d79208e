"""The result for people, the widest information first: how many, what stays pending and why, where the others went, how full it is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from scheduler.app.cli.explain.report import output, some
from scheduler.app.cli.outputs import with_rest
from scheduler.app.cli.simulate.result import Result, Waiting
from scheduler.app.cli.simulate.usage import Usage, Usages, shown, total

_ALWAYS = ("cpu", "memory", "pods")


def show(result: Result, limit: int) -> None:
    """Print a result; at most ``limit`` lines of a kind, 0 for all."""
    output(parts(result, limit))


def parts(result: Result, limit: int) -> Iterator[RenderableType]:
    """What is printed, one thing after the other."""
    yield _headline(result)
    if result.pending:
        yield Text()
        yield _pending(result.pending, limit)
    if result.evicted:
        yield Text()
        yield _evicted(result, limit)
    if result.placed:
        yield Text()
        yield _placed(result, limit)
    if result.after:
        yield Text()
        yield _utilisation(result.before, result.after, limit)


def _headline(result: Result) -> Text:
    if result.full is not None:
        copies = _counted(result.full.copies, "copy", "copies")
        text = Text.assemble((f"{copies} fit" if result.full.copies != 1 else f"{copies} fits", "bold"))
        return text.append(
            f"; the next one does not: {result.full.limit}" if result.full.limit else "; no more are wanted"
        )
    counts = f"{_counted(len(result.placed), 'pod', 'pods')} placed, {len(result.pending)} pending"
    evicted = f", {len(result.evicted)} evicted" if result.evicted else ""
    return Text(counts + evicted, "bold green" if not result.pending else "bold yellow")


def _pending(pending: Sequence[Waiting], limit: int) -> Table:
    """Pods with the same reason share a line."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for each in pending:
        by_reason[each.reason].append(each.pod)
    table = _table("pending", "reason")
    for reason, pods in list(by_reason.items())[: limit or None]:
        table.add_row(Text(some(pods)), Text(reason))
    return with_rest(table, len(by_reason), limit)


def _evicted(result: Result, limit: int) -> Table:
    table = _table("evicted", "from")
    for each in result.evicted[: limit or None]:
        table.add_row(Text(each.pod), Text(each.node))
    return with_rest(table, len(result.evicted), limit)


def _placed(result: Result, limit: int) -> Table:
    """By node, in the order in which the nodes got their first pod."""
    by_node: dict[str, list[str]] = defaultdict(list)
    for each in result.placed:
        by_node[each.node].append(each.pod)
    table = _table("node", "count", "placed")
    for node, pods in list(by_node.items())[: limit or None]:
        table.add_row(Text(node), Text(str(len(pods))), Text(some(pods)))
    return with_rest(table, len(by_node), limit)


def _utilisation(before: Usages, after: Usages, limit: int) -> Table:
    sums = total(before), total(after)
    resources = [name for name, usage in sums[1].items() if name in _ALWAYS or usage.requested]
    table = _table("node", *resources)
    for node in list(after)[: limit or None]:
        table.add_row(Text(node), *(_cell(name, before[node], after[node]) for name in resources))
    with_rest(table, len(after), limit)
    if len(after) > 1:
        table.add_row(Text("all nodes", "bold"), *(_cell(name, *sums) for name in resources))
    return table


def _cell(resource: str, before: Mapping[str, Usage], after: Mapping[str, Usage]) -> Text:
    """``35% → 80% of 7.9``"""
    now = after.get(resource)
    if now is None:
        return Text("-", "dim")
    then = before.get(resource, Usage(now.allocatable, 0))
    share = f"{_percent(then)} → {_percent(now)}" if then != now else _percent(now)
    style = "bold" if then != now else ""
    return Text.assemble((share, style), f" of {shown(resource, now.allocatable)}")


def _percent(usage: Usage) -> str:
    return f"{100 * usage.requested / usage.allocatable:.0f}%" if usage.allocatable else "-"


def _counted(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table
