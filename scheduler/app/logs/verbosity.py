"""Which records are written: ``-v``, and ``--vmodule`` for certain files.

A pattern of ``--vmodule`` is compared with the name of a record's file, without its ending (``queue=5``, ``leader*=4``). One with a
slash or a dot is compared with the whole module, step by step: ``scheduler/backend/queue=4``, ``scheduler.plugins.*=4``.
"""

import logging
import re
import threading
from collections.abc import Sequence
from fnmatch import fnmatchcase

from scheduler.verbosity import level_of, verbosity_of

_SEPARATOR = re.compile(r"[/.]")


class Verbosity(logging.Filter):
    """A filter of handlers; ``set`` may be called while the program runs."""

    def __init__(self, level: int, vmodule: Sequence[tuple[str, int]]) -> None:
        super().__init__()
        self._vmodule = tuple(vmodule)
        self._lock = threading.Lock()
        self.level = level

    def filter(self, record: logging.LogRecord) -> bool:
        """Records from INFO always, those below where the level of their file allows it."""
        if record.levelno >= logging.INFO:
            return True
        matching = (level for pattern, level in self._vmodule if matches(pattern, record.module, record.name))
        return next(matching, self.level) >= verbosity_of(record.levelno)

    def set(self, level: int) -> None:
        """Write more or less from now on."""
        with self._lock:
            self.level = level
            self.apply()

    def apply(self) -> None:
        """Let loggers make the records that could be written."""
        highest = max([self.level, *(level for _, level in self._vmodule)])
        logging.getLogger().setLevel(level_of(highest))


def matches(pattern: str, file: str, module: str) -> bool:
    """Whether the pattern means the file (``queue``) or, with separators, the module (``scheduler.backend.queue``)."""
    steps = _SEPARATOR.split(pattern)
    if len(steps) == 1:
        return fnmatchcase(file, pattern)
    names = module.split(".")
    return len(steps) == len(names) and all(map(fnmatchcase, names, steps))
