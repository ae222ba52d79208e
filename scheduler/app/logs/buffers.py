"""Log lines that may wait: written when there are enough of them, when their time has come, and at the end.

For the info stream of ``--log-…-split-stream``: a write per line costs a system call, and blocks when who reads is slow.
"""

import logging
import threading
from typing import TextIO


class BufferedHandler(logging.Handler):
    """A stream handler that keeps lines back.

    Args:
        size: how many bytes of lines may wait.
        frequency: for how many seconds.
    """

    def __init__(self, stream: TextIO, size: int, frequency: float) -> None:
        super().__init__()
        self._stream = stream
        self._size = size
        self._frequency = frequency
        self._lines: list[str] = []
        self._waiting = 0
        self._guard = threading.RLock()
        self._ended = threading.Event()
        threading.Thread(target=self._flush_now_and_then, name="log flush", daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the line."""
        try:
            line = self.format(record) + "\n"
            with self._guard:
                self._lines.append(line)
                self._waiting += len(line.encode(errors="replace"))
                if self._waiting > self._size or self._ended.is_set():
                    self.flush()
        except Exception:
            self.handleError(record)

    def flush(self) -> None:
        """Write what waits."""
        with self._guard:
            lines, self._lines, self._waiting = self._lines, [], 0
            if lines:
                self._stream.write("".join(lines))
                self._stream.flush()

    def close(self) -> None:
        """Write what waits, and keep nothing back any more."""
        self._ended.set()
        self.flush()
        super().close()

    def _flush_now_and_then(self) -> None:
        while not self._ended.wait(self._frequency):
            self.flush()
