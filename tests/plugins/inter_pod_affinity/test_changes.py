"""Pods that come and go: in a what-if, which leaves the cluster alone, and in the cluster, which is noticed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from tests.builders import PodBuilder
from tests.plugins.inter_pod_affinity.world import (
    AFFINITY,
    ANTI_AFFINITY,
    EXISTING,
    HOST,
    app,
    nodes,
    plugin,
    pod,
    reasons,
    term,
    where,
)

WEB = app("web")


def attempt(made: Any, waiting: PodBuilder, table: NodeTable) -> Cycle:
    """An attempt up to the filters."""
    cycle = Cycle(waiting.info())
    assert made.pre_filter(cycle, table) is None
    return cycle


def verdicts(made: Any, cycle: Cycle, table: Nodes) -> dict[str, str]:
    """Why each rejected node is rejected."""
    found = made.filter(cycle, table)
    if found is None:
        return {}
    return {name: text for row, name in enumerate(table.names) if (text := found.status(row).message)}


@pytest.mark.parametrize(
    ("waiting", "other", "before", "after"),
    [
        pytest.param(
            pod("p", near=[term(WEB)]),
            pod("w", "app=web"),
            dict.fromkeys(("a1", "a2", "b1", "x"), AFFINITY),
            dict.fromkeys(("a2", "b1", "x"), AFFINITY),
            id="company",
        ),
        pytest.param(
            pod("p", apart=[term(WEB), term(WEB, HOST)]),
            pod("w", "app=web"),
            {},
            {"a1": ANTI_AFFINITY},
            id="somebody to stay away from",
        ),
        pytest.param(
            pod("p", "app=web", apart=[term(None)]),
            pod("w", apart=[term(WEB), term(WEB, "rack")]),
            {},
            {"a1": EXISTING},
            id="somebody who stays away",
        ),
    ],
)
def test_a_what_if(
    waiting: PodBuilder, other: PodBuilder, before: dict[str, str], after: dict[str, str]
) -> None:
    made, table = plugin(), nodes()
    cycle, added = attempt(made, waiting, table), other.info()
    assert verdicts(made, cycle, table) == before
    hypothesis = cycle.clone()
    assert made.add_pod(hypothesis, added, table, table.row_of("a1")) is None
    assert verdicts(made, hypothesis, table) == after
    assert verdicts(made, cycle, table) == before
    assert made.remove_pod(hypothesis, added, table, table.row_of("a1")) is None
    assert verdicts(made, hypothesis, table) == before


def test_a_victim_frees_its_node_and_for_others_is_still_there() -> None:
    made, victim = plugin(), pod("w", "app=web")
    table = nodes(a1=victim, b1=pod("v", "app=web"))
    cycle = attempt(made, pod("p", apart=[term(WEB)]), table)
    some = table.take(table.rows_of(["b1", "a1"]))
    hypothesis = cycle.clone()
    made.remove_pod(hypothesis, victim.info(), some, 1)
    assert verdicts(made, hypothesis, some) == {"b1": ANTI_AFFINITY}
    assert verdicts(made, hypothesis, table.take(np.array([1], np.intp))) == {"a2": ANTI_AFFINITY}


def test_the_last_company_taken_away_makes_the_pod_the_first_of_its_group() -> None:
    made, victim = plugin(), pod("w", "app=web")
    table = nodes(b1=victim)
    cycle = attempt(made, pod("p", "app=web", near=[term(WEB)]), table)
    made.remove_pod(cycle, victim.info(), table, table.row_of("b1"))
    assert verdicts(made, cycle, table).keys() == {"a1", "a2", "x"}


def test_company_that_is_left_elsewhere_does_not() -> None:
    made, company = plugin(), {name: pod(name, "app=web") for name in ("a1", "b1")}
    table = nodes(**company)
    cycle = attempt(made, pod("p", "app=web", near=[term(WEB)]), table)
    assert verdicts(made, cycle, table).keys() == {"x"}
    for name, victim in company.items():
        made.remove_pod(cycle, victim.info(), table, table.row_of(name))
    assert verdicts(made, cycle, table).keys() == {"a1", "b1", "x"}


def test_a_pod_that_met_every_term_counts_once_for_each_key() -> None:
    made, other = plugin(), pod("w", "app=web", "tier=1")
    table = nodes(a2=other)
    cycle = attempt(made, pod("p", near=[term(WEB), term(where("tier", "Exists")), term({}, HOST)]), table)
    assert verdicts(made, cycle, table).keys() == {"a1", "b1", "x"}
    made.remove_pod(cycle, other.info(), table, table.row_of("a2"))
    assert verdicts(made, cycle, table).keys() == {"a1", "a2", "b1", "x"}


def _avoiding(name: str, *apps: str) -> PodBuilder:
    return pod(name, apart=[term(app(each), HOST) for each in apps])


def test_terms_of_pods_that_come_and_go_are_noticed() -> None:
    """What was matched before is kept; only what changed is matched again."""
    made, table, waiting = plugin(), nodes(), pod("p", "app=web")
    rows = {name: table.row_of(name) or 0 for name in table.names}
    running = {"a1": _avoiding("w", "web"), "a2": _avoiding("v", "db"), "b1": _avoiding("u", "web", "db")}
    answers = []
    for name, each in running.items():
        table.add_pod(rows[name], each.info())
        answers.append(set(reasons(made, waiting, table)))
    for name, each in running.items():
        table.remove_pod(rows[name], each.info())
        answers.append(set(reasons(made, waiting, table)))
    assert answers == [{"a1"}, {"a1"}, {"a1", "b1"}, {"b1"}, {"b1"}, set()]


def test_a_removed_node_takes_its_pods_along() -> None:
    made, waiting = plugin(), pod("p", "app=web", near=[term(app("db"))])
    table = nodes(a1=[_avoiding("w", "web"), pod("d", "app=db")], x=_avoiding("v", "web"))
    assert reasons(made, waiting, table) == {"a1": EXISTING, "b1": AFFINITY, "x": AFFINITY}
    table.remove_node("a1")
    assert reasons(made, waiting, table) == dict.fromkeys(("a2", "b1", "x"), AFFINITY)


def test_more_kinds_of_waiting_pods_than_are_remembered() -> None:
    made, table = plugin(), nodes(a1=_avoiding("w", "web", "web-7"))
    kinds = [pod("p", f"app=web-{number}") for number in range(300)]
    for _ in range(2):
        rejected = [number for number, kind in enumerate(kinds) if reasons(made, kind, table)]
        assert rejected == [7]


def test_more_namespace_selectors_than_are_remembered() -> None:
    made = plugin({"default": {"team": "red"}})
    picky = [term(WEB, HOST, namespaceSelector=where("team", "In", f"{n}", "red")) for n in range(300)]
    table = nodes(a1=pod("w", "app=web"))
    assert [set(reasons(made, pod(apart=[each]), table)) for each in picky] == [{"a1"}] * 300
