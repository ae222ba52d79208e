"""What files hold, as of now: read again when one of them changes, without a restart.

Nothing watches: whoever needs the value asks, and a look at the files' stamps tells whether it is still true. A stamp is that of the file
behind all symbolic links, so the swap of ``..data`` by which a kubelet replaces Secrets and ConfigMaps counts as a change.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Generic, TypeVar

from scheduler.serving.pem import CertificateError

logger = logging.getLogger(__name__)

T = TypeVar("T")


class Followed(Generic[T]):
    """The value that ``load`` makes of some files. Thread-safe.

    Files that are no good while they are being replaced (the key is new, the certificate not yet) leave the last good value in use, and the
    log says so: once per change.
    """

    def __init__(self, what: str, paths: Sequence[Path], load: Callable[[], T]) -> None:
        """Raises CertificateError when the files are no good now. ``what`` is for the log."""
        self._what = what
        self._paths = tuple(paths)
        self._load = load
        self._lock = threading.Lock()
        self._stamps = self._look()
        self._value = load()

    def current(self) -> T:
        """The value; the very same object until the files change."""
        with self._lock:
            stamps = self._look()
            if stamps != self._stamps:
                self._stamps = stamps
                try:
                    self._value = self._load()
                    logger.info("Loaded a new %s files=%s", self._what, [*map(str, self._paths)])
                except CertificateError as error:
                    logger.warning("the last good %s stays in use: %s", self._what, error)
            return self._value

    def _look(self) -> tuple[object, ...]:
        return tuple(map(_stamp, self._paths))


def _stamp(path: Path) -> object:
    try:
        stat = path.stat()
    except OSError:
        return None
    return (stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_size)
