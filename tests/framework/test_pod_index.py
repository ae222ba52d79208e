"""An index of pods says the same as counting them, whatever came and went since it was made."""

from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import PodInfo
from tests.builders import make_node, make_pod


def labels_of(pod: PodInfo) -> Iterable[tuple[str, str]]:
    return pod.pod.metadata.labels.items()


def table(nodes: int) -> NodeTable:
    made = NodeTable()
    for number in range(nodes):
        made.set_node(make_node(f"n{number}").obj())
    return made


def counted(nodes: NodeTable, key: tuple[str, str]) -> list[int]:
    return [sum(key in labels_of(pod) for pod in nodes.pods(row)) for row in range(len(nodes))]


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(("add", "remove", "relabel", "drop")), st.integers(0, 7), st.integers(0, 3)),
    max_size=30,
)


class Story:
    """Adds, removes, relabels pods and drops nodes."""

    def __init__(self) -> None:
        self.nodes = table(4)
        self.placed: dict[int, tuple[str, PodInfo]] = {}

    def take(self, step: Step) -> None:
        action, pod, value = step
        if action == "drop" and len(self.nodes) > 1:
            name = self.nodes.names[value % len(self.nodes)]
            self.nodes.remove_node(name)
            self.placed = {key: at for key, at in self.placed.items() if at[0] != name}
        elif action == "add" and pod not in self.placed:
            name = self.nodes.names[value % len(self.nodes)]
            self.placed[pod] = name, self._made(pod, value)
            self.nodes.add_pod(self._row(name), self.placed[pod][1])
        elif action == "remove" and pod in self.placed:
            name, info = self.placed.pop(pod)
            self.nodes.remove_pod(self._row(name), info)
        elif action == "relabel" and pod in self.placed:
            name = self.placed[pod][0]
            self.placed[pod] = name, self._made(pod, value)
            self.nodes.replace_pod(self._row(name), self.placed[pod][1])

    def _row(self, name: str) -> int:
        row = self.nodes.row_of(name)
        assert row is not None
        return row

    def _made(self, pod: int, value: int) -> PodInfo:
        return make_pod(f"p{pod}").label("app", str(value)).label("tier", "x").info()


@given(before=STEPS, after=STEPS)
def test_the_index_counts_what_is_there(before: list[Step], after: list[Step]) -> None:
    story = Story()
    for step in before:
        story.take(step)
    index = story.nodes.pods_by(labels_of)
    for step in after:
        story.take(step)
    keys = [("app", str(value)) for value in range(4)] + [("tier", "x")]
    for key in keys:
        assert index.counts([key], len(story.nodes)).tolist() == counted(story.nodes, key)
    assert set(index.keys()) == {key for key in keys if any(counted(story.nodes, key))}


def test_a_selection_reads_the_index_of_the_whole_and_does_not_change_it() -> None:
    nodes = table(3)
    nodes.add_pod(1, make_pod("a").label("app", "x").info())
    taken = nodes.take(nodes.rows_of(["n2"]))
    taken.add_pod(0, make_pod("b").label("app", "x").info())
    assert taken.whole is nodes
    assert taken.take(taken.rows_of(["n2"])).whole is nodes
    assert taken.pods_by(labels_of) is nodes.pods_by(labels_of)
    assert taken.pods_by(labels_of).counts([("app", "x")], 3).tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("change", "grows"),
    [("first", True), ("second", False), ("last gone", True)],
)
def test_the_version_tells_of_new_and_vanished_keys(change: str, grows: bool) -> None:
    nodes = table(1)
    index = nodes.pods_by(labels_of)
    pods = [make_pod(name).label("app", "x").info() for name in ("a", "b")]
    if change != "first":
        nodes.add_pod(0, pods[0])
    version = index.version
    if change == "last gone":
        nodes.remove_pod(0, pods[0])
    else:
        nodes.add_pod(0, pods[1])
    assert (index.version > version) is grows


def test_what_changed_since_is_told_until_it_is_too_long_ago() -> None:
    nodes = table(1)
    index = nodes.pods_by(labels_of)
    before = index.version
    for number in range(3):
        nodes.add_pod(0, make_pod(f"p{number}").label("app", str(number)).info())
    assert list(index.changed_since(before) or ()) == [("app", "0"), ("app", "1"), ("app", "2")]
    assert list(index.changed_since(index.version - 1) or ()) == [("app", "2")]
    assert list(index.changed_since(index.version) or ()) == []
    for number in range(3, 3000):
        nodes.add_pod(0, make_pod(f"p{number}").label("app", str(number)).info())
    assert index.changed_since(before) is None
    assert index.changed_since(-1) is None


@pytest.mark.parametrize(("app", "changes"), [("x", 0), ("y", 2)], ids=["same labels", "relabelled"])
def test_a_newer_state_of_a_pod_changes_only_the_keys_that_differ(app: str, changes: int) -> None:
    nodes = table(1)
    index = nodes.pods_by(labels_of)
    nodes.add_pod(0, make_pod("a").label("app", "x").label("tier", "t").info())
    version = index.version
    nodes.replace_pod(0, make_pod("a").label("app", app).label("tier", "t").info())
    assert index.version - version == changes
    assert set(index.keys()) == {("app", app), ("tier", "t")}


def test_rows_are_told_with_their_counts_also_after_one_left_and_another_was_renumbered() -> None:
    nodes = table(4)
    index = nodes.pods_by(labels_of)
    pods = [make_pod(f"p{row}").label("app", "x").info() for row in range(4)]
    for row, pod in enumerate(pods):
        nodes.add_pod(row, pod)
    nodes.add_pod(3, make_pod("another").label("app", "x").info())
    nodes.remove_pod(1, pods[1])
    nodes.remove_node("n0")  # n3 takes its row
    rows, counts = index.rows_of(("app", "x"))
    assert dict(zip(rows.tolist(), counts.tolist(), strict=True)) == {0: 2, 2: 1}
