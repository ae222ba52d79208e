"""The sandbox as a process of its own: load manifests, serve until told to stop."""

from __future__ import annotations

import gc
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TextIO

from scheduler.apis.manifests import ManifestError, read
from scheduler.sandbox.errors import StatusError
from scheduler.sandbox.sandbox import Sandbox


def load_files(sandbox: Sandbox, paths: list[Path]) -> int:
    """Create every object of the files; returns how many. Raises `ManifestError` naming the place."""
    count = 0
    for manifest in read(paths):
        try:
            sandbox.create(manifest.obj)
        except StatusError as error:
            raise ManifestError(f"{manifest.place}: {error.message}") from None
        count += 1
    return count


def serve(
    load: list[Path],
    host: str = "127.0.0.1",
    port: int = 0,
    kubeconfig: Path | None = None,
    *,
    token: str = "",
    termination_delay: float = 0.0,
    start_delay: float | None = None,
    out: TextIO = sys.stdout,
) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit code: 0, or 1 when a manifest or the address is bad (one line on stderr).

    Prints the URL and the path of a kubeconfig; without `kubeconfig` that is a temporary file, gone at the end.
    """
    stop = threading.Event()
    try:
        with _signals(stop), tempfile.TemporaryDirectory(prefix="wharfinger-") as directory:
            sandbox = Sandbox(
                host, port, token=token, termination_delay=termination_delay, start_delay=start_delay
            )
            count = load_files(sandbox, load)
            gc.freeze()  # thousands of loaded objects need no further visits of the collector
            path = kubeconfig or Path(directory) / "kubeconfig"
            with sandbox:
                sandbox.write_kubeconfig(path)
                print(f"sandbox API server: {sandbox.url} ({count} objects loaded)", file=out)
                print(f"kubectl --kubeconfig {path} get nodes", file=out, flush=True)
                stop.wait()
    except ManifestError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        place = error.filename or f"sandbox on {host}:{port}"
        print(f"error: {place}: {error.strerror or error}", file=sys.stderr)
        return 1
    return 0


@contextmanager
def _signals(stop: threading.Event) -> Iterator[None]:
    """SIGTERM and SIGINT set the event; the old handlers return afterwards. Elsewhere than in the main thread nothing is installed."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    old = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
