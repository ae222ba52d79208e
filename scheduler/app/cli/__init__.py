"""The sub-commands: what ``wharfinger`` does besides scheduling when its first word names one.

Each is imported when it is asked for, so that the scheduler itself starts without any of them.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType


def _demo(arguments: list[str]) -> int:
    from scheduler.app.cli.demo.command import main

    return main(arguments)


def _explain(arguments: list[str]) -> int:
    from scheduler.app.cli.explain.command import main

    return main(arguments)


def _sandbox(arguments: list[str]) -> int:
    from scheduler.app.cli.sandbox import main

    return main(arguments)


def _serve(arguments: list[str]) -> int:
    from scheduler.app.cli.serve import main

    return main(arguments)


def _simulate(arguments: list[str]) -> int:
    from scheduler.app.cli.simulate.command import main

    return main(arguments)


SUBCOMMANDS: Mapping[str, Callable[[list[str]], int]] = MappingProxyType(
    {"demo": _demo, "explain": _explain, "sandbox": _sandbox, "serve": _serve, "simulate": _simulate}
)
"""By name: a function from the words after the name to the exit code."""
