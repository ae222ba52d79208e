"""``--help``: the sections, one entry per flag, as kube-scheduler lays it out."""

import textwrap
from collections.abc import Sequence

from scheduler.app.flags.sections import SECTIONS
from scheduler.app.flags.table import Flag

_ABOUT = """\
Wharfinger assigns pods to nodes: for every pod in its queue it finds the nodes that fit, ranks them, and binds the
pod to the best. It decides like kube-scheduler, takes kube-scheduler's flags and configuration file, and also serves
its plugins to other schedulers as a scheduler extender."""
_INDENT = 16


def usage_line(program: str) -> str:
    """How to call the program, and where to read more; printed with usage errors."""
    return f"Usage:\n  {program} [flags]\n\nUse '{program} --help' for every flag."


_COMMANDS = (
    ("explain", "would a pod get a node, which one, and why? (--help tells more, here and below)"),
    ("simulate", "where would all pending pods go, and how many more would fit?"),
    ("sandbox", "an API server in memory, for trying things out"),
    ("demo", "a sandbox, the scheduler, and a live table"),
)


def help_text(program: str, gates: Sequence[str], width: int = 120) -> str:
    """The whole text.

    Args:
        program: the command's name.
        gates: one line per feature gate, printed with ``--feature-gates``.
        width: columns to wrap at.
    """
    commands = "".join(f"\n  {program} {name:<10} {about}" for name, about in _COMMANDS)
    parts = [_ABOUT, f"\nUsage:\n  {program} [flags]{commands}"]
    for section in SECTIONS:
        entries = "\n".join(_entry(flag, gates, width) for flag in section.flags())
        parts.append(f"\n{section.title} flags:\n\n{entries}")
    return "\n".join(parts) + "\n"


def _entry(flag: Flag, gates: Sequence[str], width: int) -> str:
    lines = [_head(flag)]
    text = flag.help
    if flag.effect:
        text += f" (Effect: {flag.effect}.)"
    if flag.shown_default:
        text += f" (default {flag.shown_default})"
    indent = " " * _INDENT
    lines += textwrap.wrap(
        text, width, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )
    if flag.name == "feature-gates":
        lines += [indent + gate for gate in gates]
    return "\n".join(lines)


def _head(flag: Flag) -> str:
    short = f"-{flag.short}, " if flag.short else "    "
    bare = flag.kind.bare
    if not bare:
        return f"  {short}--{flag.name} {flag.kind.name}"
    return f"  {short}--{flag.name}" + (f" {flag.kind.name}[=true]" if flag.kind.name == "version" else "")
