"""FileWatch: notices that a file is another than before, however that came about.

The path is looked at, not the file: an editor that writes a new file and renames it, and Kubernetes, which mounts a ConfigMap as a link to a
link to a directory that it exchanges (``config.yaml -> ..data/config.yaml``, ``..data -> ..2026_01_02_03``), never touch the file that was read.
``stat`` follows links, so one call a second tells all of them apart; a library that waits for the kernel's events would have to watch every
directory on the way, and sees none at all on some network file systems.

::

    same as before ──another mark──> unsettled ──the same mark twice, other content──> changed
                                        │ └── the same mark twice, same content ─────> same as before
                                        └──another mark (somebody is still writing)──> unsettled
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

Mark = tuple[int, int, int, int]
"""Device, inode, nanoseconds of the last change, size."""


class FileWatch:
    """Compares a file with what it was when it was last looked at; ``changed`` is called about once a second.

    Attributes:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen = self._mark()
        self._content = self._digest()
        self._unsettled: Mark | None = None

    def changed(self) -> bool:
        """Whether the file is there, is no longer being written, and has another content than when this last said so."""
        mark = self._mark()
        if mark is None or mark == self._seen:
            self._unsettled = None
            return False
        if mark != self._unsettled:
            self._unsettled = mark
            return False
        content = self._digest()
        if content is None or self._mark() != mark:
            return False
        self._seen, self._unsettled = mark, None
        was, self._content = self._content, content
        return content != was

    def _mark(self) -> Mark | None:
        try:
            found = os.stat(self.path)  # noqa: PTH116  # of the path as given: links are followed anew each time
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_mtime_ns, found.st_size

    def _digest(self) -> bytes | None:
        """What identifies the content; None when it cannot be read."""
        try:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").digest()
        except OSError:
            return None
