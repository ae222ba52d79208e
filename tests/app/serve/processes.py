"""``wharfinger serve`` as a child process: started, asked, told, ended."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

ROOT = Path(__file__).parents[3]


class Served:
    """A running ``wharfinger serve``."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("serving on http://127.0.0.1:"), (
            process.stderr.read() if process.stderr else line
        )
        self.url = line.split()[-1]
        self._connection = HTTPConnection(urlsplit(self.url).netloc, timeout=20)

    def ask(self, path: str, body: Any = None) -> tuple[int, Any]:
        self._connection.request(
            "GET" if body is None else "POST",
            path,
            body if isinstance(body, bytes) else json.dumps(body),
            {"Content-Type": "application/json"},
        )
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read())

    def told(self, part: str) -> str:
        """The next line on stderr that has the words."""
        assert self.process.stderr is not None
        return next(line for line in self.process.stderr if part in line)

    def disconnect(self) -> None:
        self._connection.close()

    def close(self) -> int:
        self.disconnect()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(20)


def command(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "scheduler", "serve", *map(str, words)]


def environment(*paths: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT, *paths)))}


@contextmanager
def served(*words: str | Path, path: Path = ROOT) -> Iterator[Served]:
    process = subprocess.Popen(
        command(*words), env=environment(path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        try:
            running = Served(process)
            yield running
            running.disconnect()
        finally:
            process.kill()
