"""Memory: what the collector and the allocator are told once the cluster has been read.

* Python's collector stops the world to look at everything that is alive: with 10,000 pods, for long. What has come to stay is
  taken out of its sight.
* The C library gives freed memory back to the system, which hands it out again zeroed, page by page. Columns live for one decision:
  at 100,000 nodes more than half of a decision went into pages that the one before had just given back.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Final

_YOUNG_OBJECTS: Final = 50_000
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
"""Names of glibc's ``malloc.h``."""
_KEPT_BYTES: Final = 64 << 20
"""Freed memory that is kept at most: the columns of one decision over 100,000 nodes take 30 MB."""
_OWN_MAPPING_BYTES: Final = 32 << 20
"""Pieces larger than this go back to the system when freed, the largest value that glibc takes."""


def settle() -> None:
    """Take what is there now for permanent, and keep enough freed memory for the next decision."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG_OBJECTS, 20, 100)
    _keep_freed_memory()


def _keep_freed_memory() -> None:
    """Elsewhere than with glibc there is nothing to tell, and nothing lost but time."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)
        mallopt(_M_MMAP_THRESHOLD, _OWN_MAPPING_BYTES)
