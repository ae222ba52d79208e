"""Matching pods are those that a look at every pod would find, whatever came and went since the last question."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.selectors import EVERYTHING, NOTHING, Selector, parse_label_selector
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import PodInfo
from scheduler.plugins.helper.pod_labels import MatchingPods
from tests.builders import make_node, make_pod
from tests.plugins.harness import table

SELECTORS = (EVERYTHING, NOTHING, *map(parse_label_selector, ("app=a", "app in (a,b)", "app!=a", "!app")))
NAMESPACES: tuple[Collection[str] | None, ...] = (None, ("default",), {"default", "other"}, ())


def by_looking(
    nodes: NodeTable, selector: Selector, namespaces: Collection[str] | None, skip_deleting: bool
) -> list[int]:
    def meant(pod: PodInfo) -> bool:
        meta = pod.pod.metadata
        return (
            selector.matches(meta.labels)
            and (namespaces is None or meta.namespace in namespaces)
            and not (skip_deleting and meta.deletion_timestamp)
        )

    return [sum(map(meant, nodes.pods(row))) for row in range(len(nodes))]


def pod(number: int, app: str, namespace: str, deleting: bool) -> PodInfo:
    made = make_pod(f"p{number}", namespace)
    made = made.label("app", app) if app else made
    return (made.metadata(deletionTimestamp="2026-01-01T00:00:00Z") if deleting else made).info()


PODS = st.builds(
    pod,
    st.integers(0, 9),
    st.sampled_from(("", "a", "b", "c")),
    st.sampled_from(("default", "other")),
    st.booleans(),
)


@given(steps=st.lists(st.tuples(PODS, st.integers(0, 2)), max_size=25))
def test_counts_are_those_of_looking_at_every_pod(steps: list[tuple[PodInfo, int]]) -> None:
    nodes = table(*(make_node(f"n{number}") for number in range(3)))
    matching, placed = MatchingPods(), dict[str, tuple[int, PodInfo]]()
    for info, row in steps:
        known = placed.pop(info.uid, None)
        if known is not None:
            nodes.remove_pod(*known)
        else:
            placed[info.uid] = row, info
            nodes.add_pod(row, info)
        for selector in SELECTORS:
            for namespaces in NAMESPACES:
                for skip in (False, True):
                    found = matching.counts(nodes, selector, namespaces, skip_deleting=skip)
                    assert found.tolist() == by_looking(nodes, selector, namespaces, skip)


def test_a_question_asked_long_ago_is_answered_anew() -> None:
    nodes, matching = table(make_node("n")), MatchingPods()
    selector = parse_label_selector("app")
    for number in range(3000):
        nodes.add_pod(0, make_pod(f"p{number}").label("app", str(number)).info())
        if number in (0, 1, 2999):
            found = matching.counts(nodes, selector, None, skip_deleting=True)
            assert found.tolist() == [number + 1]


def test_only_the_last_questions_are_remembered() -> None:
    nodes, matching = table(make_node("n")), MatchingPods()
    nodes.add_pod(0, make_pod("p").label("app", "7").info())
    for number in (*range(1000), 7):
        found = matching.counts(nodes, parse_label_selector(f"app={number}"), None, skip_deleting=False)
        assert found.tolist() == [int(number == 7)]
    assert len(matching._answers) == 256


def test_another_table_has_other_pods() -> None:
    first, second, matching = table(make_node("n")), table(make_node("n"), make_node("m")), MatchingPods()
    first.add_pod(0, make_pod("p").info())
    second.add_pod(1, make_pod("p").info())
    for nodes, expected in ((first, [1]), (second, [0, 1]), (first, [1])):
        assert matching.counts(nodes, EVERYTHING, None, skip_deleting=False).tolist() == expected


@pytest.mark.parametrize("rows", [[], [1], [1, 0]])
def test_a_selection_asks_about_the_whole_table(rows: list[int]) -> None:
    nodes = table(make_node("n"), make_node("m"))
    nodes.add_pod(0, make_pod("p").info())
    taken = nodes.take(nodes.rows_of([nodes.names[row] for row in rows]))
    assert MatchingPods().counts(taken, EVERYTHING, None, skip_deleting=False).tolist() == [1, 0]
