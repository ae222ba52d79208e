"""How ``explain`` and ``simulate`` answer: a table for people, JSON or YAML for programs; and nothing else on the way."""

from __future__ import annotations

import argparse
import io
import logging
import sys
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from scheduler.app.cli.inputs import count


def add_arguments(parser: argparse.ArgumentParser, listed: str) -> None:
    """The flags of the output; ``listed`` is what ``--nodes`` limits."""
    parser.add_argument(
        "-o", "--output", choices=("table", "json", "yaml"), default="table", help="(default %(default)s)"
    )
    parser.add_argument(
        "--nodes", metavar="N", type=count, default=0, help=f"at most N {listed} of a kind (default: all)"
    )
    parser.add_argument("--exit-code", action="store_true", help="exit with 3 when a pod gets no node")


def with_rest(table: Table, total: int, limit: int) -> Table:
    """The table with a last line about those that ``--nodes`` left out."""
    if limit and total > limit:
        table.add_row(Text(f"and {total - limit} more", "dim"))
    return table


def write(value: Any, form: str) -> None:
    """Print plain values, ``json`` or ``yaml``."""
    if form == "json":
        text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
        print(text)
        return
    import yaml  # only here

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    yaml.dump(value, sys.stdout, Dumper=dumper, sort_keys=False, allow_unicode=True)


def prepare() -> None:
    """Nothing but the answer is printed, and all of it, also where the output cannot show a character."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    root = logging.getLogger()
    if not root.handlers:
        root.addHandler(logging.NullHandler())
