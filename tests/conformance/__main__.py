"""``python -m tests.conformance FILE…``: hold recorded answers of kube-scheduler against ours, whatever file they are in.

A line per difference and one per file; exit code 1 when there is any. Without files: those in ``data/``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.harness import DATA, held_out, judge, make_workshop, vectors


def main(arguments: Sequence[str]) -> int:
    """Compare and print."""
    different = 0
    workshop = make_workshop()
    for file in map(Path, arguments or sorted(map(str, DATA.glob("*.jsonl.gz")))):
        recorded = list(vectors(file))
        verdicts = [judge(vector, workshop) for vector in recorded if not held_out(vector)]
        for verdict in verdicts:
            print(*verdict.differences, sep="\n", end="\n" if verdict.differences else "")
        unequal = sum(bool(verdict.differences) for verdict in verdicts)
        compared = sum(len(verdict.compared) for verdict in verdicts)
        print(
            f"{file.name}: {len(verdicts) - unequal} of {len(verdicts)} equal, {compared} fields compared, "
            f"{len(recorded) - len(verdicts)} scenarios held out"
        )
        different += unequal
    return 1 if different else 0


sys.exit(main(sys.argv[1:]))
