"""How long a newcomer waits: from the start of what ``make run ARGS=--once`` starts to the first pod that is bound."""

import re
import statistics
import subprocess
import sys
import tempfile

Result = tuple[str, float, str]

ROUNDS = 3
_SAID = re.compile(r"first pod bound after ([0-9.]+) s")


def run() -> list[Result]:
    """The median in seconds, as the command itself says it."""
    return [
        (f"demo: first pod bound, median of {ROUNDS}", statistics.median(_once() for _ in range(ROUNDS)), "s")
    ]


def _once() -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "scheduler", "demo", "--once", "--directory", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = _SAID.search(done.stdout)
    if found is None:
        raise RuntimeError("the demo did not say when the first pod was bound")
    return float(found[1])
