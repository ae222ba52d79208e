"""``python -m bench [NAME…]``: every measurement, as one table, beside what it has to reach.

A measurement is a module here with a ``run`` that answers (what, value, unit). Names choose among them;
``--help`` tells them.
"""

import argparse
import importlib
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

MODULES = (
    "attempt",
    "cycle",
    "cluster_state",
    "informer_list",
    "extender",
    "sandbox_bindings",
    "whole_process",
    "first_pod",
)

TARGETS = {
    "scheduling cycle, 5000 nodes, all scored: median": "≤ 1 ms",
    "scheduling cycle, 100000 nodes, all scored: median": "≤ 15 ms",
    "5000 nodes and 50000 pods: decode and apply": "≤ 10 s",
    "5000 nodes and 50000 pods: resident": "≤ 600 MB",
    "assume and forget": "≤ 20 µs",
    "sandbox: bindings per second, 8 clients": "≥ 1,500",
    "demo: first pod bound, median of 3": "≤ 3 s",
}
"""What was promised, by the measurement's text, for a machine of 2 cores; those without an entry are for orientation."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of {', '.join(MODULES)}")
    wanted = parser.parse_args(arguments).names or MODULES
    unknown = set(wanted) - set(MODULES)
    if unknown:
        parser.error(f"no such measurement: {', '.join(sorted(unknown))}")
    table = Table("measurement", "value", "unit", "target", title="Wharfinger")
    for name in wanted:
        for what, value, unit in importlib.import_module(f"bench.{name}").run():
            table.add_row(what, f"{value:,.2f}", unit, TARGETS.get(what, ""))
    Console(width=max(120, Console().width)).print(table)
    return 0


sys.exit(main())
