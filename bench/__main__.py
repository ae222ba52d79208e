"""``python -m bench [NAME…]``: every measurement, a table for each module here, beside what it has to reach.

A measurement is a module here with a ``run`` that answers (what, value, unit); a value may be a ``Spread``. Names choose among them;
``--help`` tells them.
"""

import argparse
import importlib
import logging
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from bench.spread import Spread
from bench.targets import TARGETS

MODULES = (
    "attempt",
    "cycle",
    "plugins_cycle",
    "curves",
    "pod_index",
    "preemption",
    "explain_scenarios",
    "cluster_state",
    "informer_list",
    "extender",
    "sandbox_bindings",
    "whole_process",
    "first_pod",
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MODULES)}")
    wanted = parser.parse_args(arguments).names or MODULES
    unknown = set(wanted) - set(MODULES)
    if unknown:
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}")
    # A table says what was measured; warnings repeated for each scheduler that is built would only hide it.
    logging.getLogger("scheduler").setLevel(logging.ERROR)
    console = Console(width=max(120, Console().width))
    for name in wanted:
        module = importlib.import_module(f"bench.{name}")
        console.print(f"\n[bold]{(module.__doc__ or name).partition(chr(10))[0]}[/]")
        results = module.run()
        console.print(_table(results) if results else "nothing of it is there yet")
    return 0


def _table(results: Sequence[tuple[str, float | Spread, str]]) -> Table:
    spread = any(isinstance(value, Spread) for _, value, _ in results)
    table = Table()
    table.add_column("measurement", min_width=60)
    for title in ("p50", "p95", "p99") if spread else ("value",):
        table.add_column(title, justify="right")
    table.add_column("unit")
    table.add_column("target", justify="right")
    table.add_column("")
    for what, value, unit in results:
        values = value if isinstance(value, Spread) else (value, *([None] * 2 if spread else ()))
        target = TARGETS.get(what)
        verdict = "" if target is None else "[red]missed[/]" if target.missed_by(values[0]) else "reached"
        shown = ("" if each is None else f"{each:,.2f}" for each in values)
        table.add_row(what, *shown, unit, str(target or ""), verdict)
    return table


sys.exit(main())
