"""Compares answers with what kube-scheduler 1.36.2 was recorded to answer.

Every field is compared that the plugins which exist decide. Where a plugin of ``ABSENT`` had a say, the comparison narrows
to what is left: its own verdicts, scores and names are taken out of the record, and what depends on them is passed over.
The record of which nodes were feasible is taken as given for the scores, so that scores are always comparable.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.conformance.answers import Answer, answer
from tests.conformance.scenario import ABSENT

DATA = Path(__file__).parent / "data"


@dataclass
class Verdict:
    """What came of one vector.

    Attributes:
        name: the scenario's name.
        compared: the fields that were compared.
        passed_over: the fields that plugins which do not exist yet decided.
        differences: a line per difference.
    """

    name: str
    compared: list[str] = field(default_factory=list)
    passed_over: list[str] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    def check(self, name: str, expected: Any, actual: Any) -> None:
        """Compare one field."""
        self.compared.append(name)
        if expected != actual:
            self.differences.append(f"{self.name}: {name}: expected {expected!r}, got {actual!r}")


def vectors(file: Path) -> Iterator[Mapping[str, Any]]:
    """The recorded vectors in a file: one JSON object a line, ``.gz`` or plain."""
    content = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    yield from map(json.loads, content.splitlines())


def judge(vector: Mapping[str, Any]) -> Verdict:
    """Compare one vector."""
    expected = vector["expected"]
    verdict = Verdict(vector["scenario"]["name"])
    actual = answer(vector["scenario"], expected.get("feasible"))
    if "error" in expected or "error" in actual:
        verdict.check("error", "error" in expected, "error" in actual or actual)
        return verdict
    if "skipped" in expected:
        verdict.check("skipped", expected["skipped"], actual.get("skipped"))
    elif "preEnqueue" in expected:
        _compare_pre_enqueue(verdict, expected["preEnqueue"], actual)
    else:
        _compare_attempt(verdict, expected, actual)
    return verdict


def _compare_pre_enqueue(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    if expected.get("plugin") in ABSENT:
        verdict.passed_over.append("preEnqueue")
    else:
        verdict.check("preEnqueue", expected, actual.get("preEnqueue"))


def _compare_attempt(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    if "preFilter" not in expected or "preFilter" not in actual:
        verdict.check("attempt", _without(expected, "name"), actual)
        return
    if expected["preFilter"].get("plugin") in ABSENT:
        verdict.passed_over += ["preFilter", "filter", "fitError", "unschedulablePlugins"]
        return
    _compare_pre_filter(verdict, expected["preFilter"], actual["preFilter"])
    decided_here = _compare_filter(verdict, expected["filter"], actual["filter"])
    if "pluginFilter" in expected:
        _compare_plugin_filter(verdict, expected["pluginFilter"], actual.get("pluginFilter", {}))
    if "feasible" in expected:
        _compare_feasible(verdict, expected, actual, decided_here)
    _compare_scores(verdict, expected, actual)
    _compare_errors(verdict, expected, actual, decided_here)


def _compare_pre_filter(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    verdict.check("preFilter", _without(expected, "skippedFilter"), _without(actual, "skippedFilter"))
    verdict.check(
        "skippedFilter",
        [name for name in expected["skippedFilter"] if name not in ABSENT],
        actual["skippedFilter"],
    )


def _compare_filter(verdict: Verdict, expected: Answer, actual: Answer) -> bool:
    """Whether plugins that exist decided about every node."""
    verdict.check("filter (nodes)", sorted(expected), sorted(actual))
    decided_here = True
    for node, status in expected.items():
        if status.get("plugin") in ABSENT:
            decided_here = False
            verdict.passed_over.append(f"filter[{node}]")
        else:
            verdict.check(f"filter[{node}]", status, actual.get(node))
    return decided_here


def _compare_plugin_filter(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    for node, statuses in expected.items():
        existing = {plugin: status for plugin, status in statuses.items() if plugin not in ABSENT}
        verdict.check(f"pluginFilter[{node}]", existing, actual.get(node))


def _compare_feasible(verdict: Verdict, expected: Answer, actual: Answer, decided_here: bool) -> None:
    if decided_here:
        verdict.check("feasible", expected["feasible"], actual.get("feasible"))
        verdict.check(
            "nominatedNodeOnly",
            expected.get("nominatedNodeOnly", False),
            actual.get("nominatedNodeOnly", False),
        )
    elif not expected.get("nominatedNodeOnly"):
        missing = sorted(set(expected["feasible"]) - set(actual.get("feasible", [])))
        verdict.check("feasible (a subset)", [], missing)


def _compare_scores(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    if "skippedScore" in expected:
        existing = [name for name in expected["skippedScore"] if name not in ABSENT]
        verdict.check("skippedScore", existing, actual.get("skippedScore"))
    for node, scores in expected.get("rawScores", {}).items():
        verdict.check(f"rawScores[{node}]", _without(scores, *ABSENT), actual["rawScores"].get(node))
    totals: dict[str, int] = {}
    for node, scores in expected.get("scores", {}).items():
        ours = actual.get("scores", {}).get(node, {})
        verdict.check(f"scores[{node}]", _without(scores, "total", *ABSENT), _without(ours, "total"))
        others = sum(score for plugin, score in scores.items() if plugin in ABSENT)
        totals[node] = ours.get("total", 0) + others
        if "rawScores" in expected:
            verdict.check(f"scores[{node}].total", scores["total"], totals[node])
    if "bestNodes" in expected and "rawScores" in expected:
        best = sorted(node for node, total in totals.items() if total == max(totals.values()))
        verdict.check("bestNodes", expected["bestNodes"], best)
    elif "bestNodes" in expected:
        _compare_without_scores(verdict, expected, actual)


def _compare_without_scores(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    """Every score plugin is switched off: all nodes are equally good."""
    verdict.check("scores", expected["scores"], actual.get("scores"))
    verdict.check("bestNodes", expected["bestNodes"], actual.get("bestNodes"))


def _compare_errors(verdict: Verdict, expected: Answer, actual: Answer, decided_here: bool) -> None:
    if any(f'"{plugin}"' in expected.get("scheduleError", "") for plugin in ABSENT):
        verdict.passed_over.append("scheduleError")
    else:
        verdict.check("scheduleError", expected.get("scheduleError"), actual.get("scheduleError"))
    if "fitError" not in expected:
        return
    if not decided_here:
        verdict.passed_over += ["fitError", "unschedulablePlugins"]
        return
    text = expected["fitError"].removesuffix(f" {expected.get('preemption', {}).get('message', '')}")
    verdict.check("fitError", text, actual.get("fitError"))
    for name in ("unschedulablePlugins", "pendingPlugins"):
        verdict.check(name, expected.get(name, []), actual.get(name))


def _without(mapping: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in keys}
