"""The command ``wharfinger``: a sub-command when the first word names one, the scheduler otherwise.

Which one it is gets decided before the scheduler's modules are loaded: that takes most of a start, and the sub-commands do not need them.
Whoever reads the output may go away (``| head``), its disk may be full, or there may be none at all: that ends a command, or is passed
over, without a traceback.
"""

import errno
import os
import sys
from collections.abc import Sequence

from scheduler.app.cli import SUBCOMMANDS

_FAILURE = 1
_INTERRUPTED = 130
"""What shells say of a command that Ctrl-C ended."""
_UNWRITABLE = frozenset({errno.EPIPE, errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run with these words, by default those of the command line; the exit code is returned."""
    if sys.stdout is None:  # closed by whoever started this
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        if error.errno not in _UNWRITABLE:
            raise
        if error.errno != errno.EPIPE:
            print(f"cannot write the output: {str(error.strerror).lower()}", file=sys.stderr)
        _discard_output()
        return _FAILURE
    return code


def _run(words: list[str]) -> int:
    if words and words[0] in SUBCOMMANDS:
        return SUBCOMMANDS[words[0]](words[1:])
    from scheduler.app import server  # see the module's docstring

    return server.main(words)


def _discard_output() -> None:
    """Leave the interpreter's end nothing to complain of: it flushes once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
