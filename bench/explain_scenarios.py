"""``wharfinger explain --scenarios`` over 1,000 recorded scenarios, the whole process: from its start to its end.

The scenarios are those of the conformance suite, evenly chosen from all of its areas; repeated where there are too few.
"""

import gzip
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from scheduler.app.cli import SUBCOMMANDS

Result = tuple[str, float, str]

VECTORS = 1_000
_DATA = Path(__file__).resolve().parent.parent / "tests" / "conformance" / "data"


def run() -> list[Result]:
    """The seconds; nothing while there is no such command."""
    if "explain" not in SUBCOMMANDS:
        return []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenarios.jsonl"
        recorded = list(_recorded())
        file.write_bytes(b"".join(recorded[at * len(recorded) // VECTORS] for at in range(VECTORS)))
        command = [sys.executable, "-m", "scheduler", "explain", "--scenarios", str(file)]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        took = time.perf_counter() - start
    return [(f"explain --scenarios, {VECTORS:,} vectors", took, "s")]


def _recorded() -> Iterator[bytes]:
    for file in sorted(_DATA.glob("*.jsonl.gz")):
        with gzip.open(file) as lines:
            yield from lines
