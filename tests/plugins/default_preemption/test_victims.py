"""Who is more important, whom a budget protects, and which candidate hurts least."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import PodDisruptionBudget, convert
from scheduler.framework.catalog import Collection
from scheduler.framework.pods import PodInfo
from scheduler.plugins.default_preemption.pick import Candidate, equally_good
from scheduler.plugins.default_preemption.victims import Budgets, most_important_first
from tests.plugins.default_preemption.harness import budget, victim

APP = {"matchLabels": {"app": "db"}}


def names(pods: list[PodInfo]) -> list[str]:
    return [pod.pod.metadata.name for pod in pods]


@pytest.mark.parametrize(
    ("pods", "order"),
    [
        pytest.param([("a", 1, ""), ("b", 2, "")], "ba", id="priority"),
        pytest.param([("a", 1, "10:00:01"), ("b", 1, "10:00:00")], "ba", id="the older"),
        pytest.param([("a", 1, ""), ("b", 1, "10:00:00")], "ba", id="those that have started"),
        pytest.param([("a", 1, "10:00:00"), ("b", 1, "10:00:00")], "ab", id="equals keep their order"),
        pytest.param([("a", 1, ""), ("b", 1, ""), ("c", 1, "")], "cba", id="of those not started the last"),
        pytest.param([("a", 1, "soon"), ("b", 1, "10:00:00")], "ba", id="a time that cannot be read is none"),
    ],
)
def test_importance(pods: list[tuple[str, int, str]], order: str) -> None:
    made = [victim(name, "n", priority, start=start).info() for name, priority, start in pods]
    assert "".join(names(most_important_first(made))) == order


@pytest.mark.parametrize(
    ("start", "order"),
    [
        pytest.param("10:00:00", "abcdefghijklm", id="in order, found so at once"),
        pytest.param("", "lkjihafedcbmg", id="each more important than the other"),
    ],
)
def test_many_equals_come_as_upstream_sorts_them(start: str, order: str) -> None:
    made = [victim(name, "n", start=start).info() for name in "abcdefghijklm"]
    assert "".join(names(most_important_first(made))) == order


def test_times_are_compared_across_zones() -> None:
    early = victim("early", "n").status(startTime="2026-01-01T10:00:00+02:00").info()
    late = victim("late", "n").status(startTime="2026-01-01T09:00:00Z").info()
    assert names(most_important_first([late, early])) == ["early", "late"]


@pytest.mark.parametrize(
    ("budgets", "violating"),
    [
        pytest.param([], "", id="none"),
        pytest.param([budget("b", 1, APP)], "bc", id="the first is within the budget"),
        pytest.param([budget("b", 3, APP)], "", id="all are"),
        pytest.param([budget("b", -1, APP)], "abc", id="overdrawn already"),
        pytest.param([budget("b", 0, None)], "", id="no selector covers nothing"),
        pytest.param([budget("b", 0, {})], "", id="an empty one neither"),
        pytest.param([budget("b", 0, {"matchLabels": {"app": "web"}})], "", id="others"),
        pytest.param(
            [budget("b", 0, {"matchExpressions": [{"key": "app", "operator": "Odd"}]})], "", id="unreadable"
        ),
        pytest.param(
            [budget("b", 0, {"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]})],
            "abc",
            id="a pod without labels is covered by none",
        ),
        pytest.param(
            [budget("b", 0, APP, disruptedPods={"b": "2026-01-01T00:00:00Z"})], "ac", id="counted already"
        ),
        pytest.param([budget("one", 2, APP), budget("two", 1, APP)], "bc", id="the tighter of two"),
        pytest.param(
            [{**budget("b", 0, APP), "metadata": {"name": "b", "namespace": "other"}}], "", id="elsewhere"
        ),
    ],
)
def test_budgets(budgets: list[dict[str, Any]], violating: str) -> None:
    kept: Collection[PodDisruptionBudget] = Collection()
    for document in budgets:
        kept.put(convert(PodDisruptionBudget, document))
    pods = [victim(name, "n").label("app", "db").info() for name in "abc"] + [victim("d", "n").info()]
    found, others = Budgets(kept).split(pods)
    assert "".join(names(found)) == violating
    assert names(others) == [name for name in "abcd" if name not in violating]


def test_budgets_are_read_again_when_they_change() -> None:
    kept: Collection[PodDisruptionBudget] = Collection()
    budgets, pod = Budgets(kept), victim("a", "n").label("app", "db").info()
    assert budgets.split([pod]) == ([], [pod])
    kept.put(convert(PodDisruptionBudget, budget("b", 0, APP)))
    assert budgets.split([pod]) == ([pod], [])


Victims = list[tuple[int, str]]
"""Priority and start."""


def candidate(name: str, victims: Victims, violations: int = 0) -> Candidate:
    made = [victim("v", name, priority, start=start).info() for priority, start in victims]
    return Candidate(name, tuple(most_important_first(made)), violations)


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        pytest.param(([(9, "")], 0), ([(1, "")], 1), id="fewer violations"),
        pytest.param(([(3, ""), (3, "")], 0), ([(4, "")], 0), id="a lower highest priority"),
        pytest.param(([(3, ""), (1, "")], 0), ([(3, ""), (2, "")], 0), id="a smaller sum"),
        pytest.param(([(-5, "")], 0), ([(-5, ""), (-9, "")], 0), id="fewer of negative priority"),
        pytest.param(
            ([(3, "10:00:01"), (1, "09:00:00")], 0),
            ([(3, "10:00:00"), (1, "11:00:00")], 0),
            id="a later start",
        ),
        pytest.param(([(3, "")], 0), ([(3, "10:00:00")], 0), id="not started is latest"),
    ],
)
def test_the_pick(better: tuple[Victims, int], worse: tuple[Victims, int]) -> None:
    good, bad = candidate("good", *better), candidate("bad", *worse)
    assert equally_good([bad, good]) == [good]


def test_equals_are_all_selected() -> None:
    pair = [candidate("a", [(1, "10:00:00")]), candidate("b", [(1, "10:00:00")])]
    assert equally_good(pair) == pair
    assert equally_good([]) == []
