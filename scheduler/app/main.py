"""The command ``wharfinger``: a sub-command when the first word names one, the scheduler otherwise.

Which one it is gets decided before the scheduler's modules are loaded: that takes most of a start, and the sub-commands do not need them.
"""

import sys
from collections.abc import Sequence

from scheduler.app.cli import SUBCOMMANDS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with these words, by default those of the command line; the exit code is returned."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if words and words[0] in SUBCOMMANDS:
        return SUBCOMMANDS[words[0]](words[1:])
    from scheduler.app import server  # see the module's docstring

    return server.main(words)
