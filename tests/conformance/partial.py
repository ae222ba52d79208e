"""The comparison while plugins are being built: it narrows to what is left when those are taken out of the record.

Their own verdicts, scores and names are left out, and what depends on them is passed over. The record of which nodes were feasible is
taken as given for the scores, so that scores are always comparable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.explain.answers import Answer, answer, scores
from scheduler.explain.objects import InputError
from scheduler.explain.profiles import Workshop
from scheduler.explain.scenarios import build_scenario
from scheduler.plugins import PLANNED
from tests.conformance.verdict import Verdict

_OFF_BY_DEFAULT = frozenset({"GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount"})
BEING_BUILT = PLANNED - _OFF_BY_DEFAULT
"""Plugins that are enabled by default and do not exist yet."""

_POST_FILTERS = frozenset({"DynamicResources", "DefaultPreemption"})


def compare_partially(vector: Mapping[str, Any], workshop: Workshop) -> Verdict:
    """Compare one vector."""
    expected = vector["expected"]
    verdict = Verdict(expected["name"])
    try:
        world = build_scenario(vector["scenario"], workshop)
    except InputError as error:
        verdict.check("error", "error" in expected, True if "error" in expected else str(error))
        return verdict
    actual = answer(world)
    if "error" in expected or "skipped" in expected:
        verdict.check("attempt", _without(expected, "name"), actual)
    elif "preEnqueue" in expected:
        if expected["preEnqueue"]["plugin"] in BEING_BUILT:
            verdict.passed_over.append("preEnqueue")
        else:
            verdict.check("preEnqueue", expected["preEnqueue"], actual.get("preEnqueue"))
    else:
        rated = scores(world, expected["feasible"]) if expected.get("feasible") else {}
        _compare_attempt(verdict, expected, actual, rated)
    return verdict


def _compare_attempt(verdict: Verdict, expected: Answer, actual: Answer, rated: Answer) -> None:
    if "preFilter" not in expected or "preFilter" not in actual:
        verdict.check("attempt", _without(expected, "name"), actual)
        return
    if expected["preFilter"].get("plugin") in BEING_BUILT:
        verdict.passed_over += ["preFilter", "filter", "fitError", "unschedulablePlugins", "preemption"]
        return
    _compare_pre_filter(verdict, expected["preFilter"], actual["preFilter"])
    decided_here = _compare_filter(verdict, expected, actual)
    _compare_feasible(verdict, expected, actual, decided_here)
    _compare_scores(verdict, expected, rated)
    _compare_errors(verdict, expected, actual, decided_here)


def _compare_pre_filter(verdict: Verdict, expected: Answer, actual: Answer) -> None:
    verdict.check("preFilter", _without(expected, "skippedFilter"), _without(actual, "skippedFilter"))
    existing = [name for name in expected["skippedFilter"] if name not in BEING_BUILT]
    verdict.check("skippedFilter", existing, actual["skippedFilter"])


def _compare_filter(verdict: Verdict, expected: Answer, actual: Answer) -> bool:
    """Whether plugins that exist decided about every node."""
    verdict.check("filter (nodes)", sorted(expected["filter"]), sorted(actual["filter"]))
    decided_here = True
    for node, status in expected["filter"].items():
        if status.get("plugin") in BEING_BUILT:
            decided_here = False
            verdict.passed_over.append(f"filter[{node}]")
            continue
        verdict.check(f"filter[{node}]", status, actual["filter"].get(node))
        alone = expected.get("pluginFilter", {}).get(node)
        if alone is not None:
            ours = actual.get("pluginFilter", {}).get(node, {})
            verdict.check(f"pluginFilter[{node}]", _without(alone, *BEING_BUILT), ours)
    return decided_here


def _compare_feasible(verdict: Verdict, expected: Answer, actual: Answer, decided_here: bool) -> None:
    theirs, ours = expected.get("feasible", []), actual.get("feasible", [])
    if decided_here:
        verdict.check("feasible", theirs, ours)
        name = "nominatedNodeOnly"
        verdict.check(name, expected.get(name, False), actual.get(name, False))
    elif not expected.get("nominatedNodeOnly"):
        verdict.check("feasible (a subset)", [], sorted(set(theirs) - set(ours)))


def _compare_scores(verdict: Verdict, expected: Answer, rated: Answer) -> None:
    existing = [name for name in expected.get("skippedScore", ()) if name not in BEING_BUILT]
    verdict.check("skippedScore", existing, rated.get("skippedScore", []))
    for node, row in expected.get("rawScores", {}).items():
        verdict.check(f"rawScores[{node}]", _without(row, *BEING_BUILT), rated["rawScores"].get(node))
    totals: dict[str, int] = {}
    for node, row in expected.get("scores", {}).items():
        ours = rated["scores"][node]
        others = sum(score for plugin, score in row.items() if plugin in BEING_BUILT)
        totals[node] = ours["total"] + others
        verdict.check(f"scores[{node}]", _without(row, *BEING_BUILT), {**ours, "total": row["total"]})
        verdict.check(f"scores[{node}].total", row["total"], totals[node])
    if "bestNodes" in expected:
        best = sorted(node for node, total in totals.items() if total == max(totals.values()))
        verdict.check("bestNodes", expected["bestNodes"], best)


def _compare_errors(verdict: Verdict, expected: Answer, actual: Answer, decided_here: bool) -> None:
    if any(f'"{plugin}"' in expected.get("scheduleError", "") for plugin in BEING_BUILT):
        verdict.passed_over.append("scheduleError")
    else:
        verdict.check("scheduleError", expected.get("scheduleError"), actual.get("scheduleError"))
    if "fitError" not in expected:
        return
    if not decided_here:
        verdict.passed_over += ["fitError", "unschedulablePlugins", "preemption"]
        return
    for name in ("unschedulablePlugins", "pendingPlugins"):
        verdict.check(name, expected.get(name, []), actual.get(name, []))
    skipped = set(expected["preFilter"]["skippedFilter"])
    if BEING_BUILT & _POST_FILTERS or not skipped >= BEING_BUILT:
        verdict.passed_over.append("preemption")
        preemption = expected.get("preemption", {}).get("message", "")
        ours = actual.get("preemption", {}).get("message", "")
        text = actual["fitError"].removesuffix(f" {ours}")
        verdict.check("fitError", expected["fitError"].removesuffix(f" {preemption}"), text)
    else:
        verdict.check("fitError", expected["fitError"], actual["fitError"])
        verdict.check("preemption", expected.get("preemption"), actual.get("preemption"))


def _without(mapping: Mapping[str, Any], *keys: str) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if key not in keys}
