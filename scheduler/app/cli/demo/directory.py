"""The demo's directory: kubeconfig, logs and certificates lie at fixed names in it, so it belongs to one demo at a time."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scheduler.app.cli.demo.errors import DemoError


@contextmanager
def reserved(directory: Path) -> Iterator[None]:
    """Make the directory and keep other demos out; the system lets go of it with the process. Raises DemoError."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / "lock").open("w")
    except OSError as error:
        raise DemoError(f"{directory} cannot be used: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise DemoError(
                f"another demo is using {directory}; give this one a directory of its own: --directory DIR"
            ) from None
        yield
