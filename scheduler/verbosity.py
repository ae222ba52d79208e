"""klog's verbosity as levels of Python's logging, between INFO and DEBUG and below.

For what is said again and again: of every pod, of every health check that fails. A cluster that places hundreds of pods a second does
not want a line for each unless somebody asks for it (``-v=2``), as in kube-scheduler. DEBUG is klog's V(4).
"""

import logging
from typing import Final

V1: Final = 18
V2: Final = 15
V3: Final = 12

_LEVELS: Final = {0: logging.INFO, 1: V1, 2: V2, 3: V3, 4: logging.DEBUG} | {v: 14 - v for v in range(5, 11)}
"""Python's level by verbosity."""


def verbosity_of(level: int) -> int:
    """The ``-v`` from which records of a Python level are written."""
    return next((v for v, least in _LEVELS.items() if level >= least), max(_LEVELS))


def level_of(verbosity: int) -> int:
    """The lowest Python level that is written at a ``-v``."""
    return _LEVELS[min(max(verbosity, 0), max(_LEVELS))]
