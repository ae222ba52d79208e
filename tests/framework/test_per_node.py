"""Plugins written for one node at a time become columns, and stay what they are elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from scheduler.apis.objects import Pod
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import FilterPlugin, PreEnqueuePlugin, ScorePlugin
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.node_table import NodeTable
from scheduler.framework.per_node import columnar
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code, Status
from tests.builders import make_node, make_pod


class Picky:
    """Rejects by what it is told; scores by the length of the name."""

    name = "Picky"

    def __init__(self, verdicts: dict[str, Status]) -> None:
        self.verdicts = verdicts

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        return self.verdicts.get(node.name)

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        return len(node.name)

    def pre_enqueue(self, pod: Pod) -> Status | None:
        return Status.unschedulable("closed")


def table(*names: str) -> NodeTable:
    nodes = NodeTable()
    for name in names:
        nodes.set_node(make_node(name).obj())
    return nodes


def statuses(verdicts: dict[str, Status], nodes: NodeTable) -> list[Status]:
    found: Rejections = columnar(Picky(verdicts)).filter(Cycle(make_pod().info()), nodes)
    return [found.status(row) for row in range(len(nodes))]


def test_an_adapted_plugin_implements_the_columnar_points_and_its_own() -> None:
    plugin = columnar(Picky({}))
    assert isinstance(plugin, FilterPlugin)
    assert isinstance(plugin, ScorePlugin)
    assert isinstance(plugin, PreEnqueuePlugin)
    assert plugin.name == "Picky"
    assert plugin.pre_enqueue(make_pod().obj()) == Status.unschedulable("closed")


def test_a_columnar_plugin_is_left_alone() -> None:
    plugin = columnar(Picky({}))
    assert columnar(plugin) is plugin


def test_scores_are_gathered_by_row() -> None:
    scores = columnar(Picky({})).score(Cycle(make_pod().info()), table("a", "bbb"))
    assert scores.dtype == np.int64
    assert scores.tolist() == [1, 3]


def test_nothing_rejected_is_none() -> None:
    assert columnar(Picky({})).filter(Cycle(make_pod().info()), table("a")) is None


@pytest.mark.parametrize(
    "verdicts",
    [
        pytest.param({"a": Status.unschedulable("x")}, id="one of several"),
        pytest.param(
            {"a": Status.unschedulable("x"), "b": Status.unresolvable("x")}, id="two codes for one reason"
        ),
        pytest.param(
            {"a": Status.unschedulable("x", "y"), "b": Status.unschedulable("y", "x")}, id="two orders"
        ),
        pytest.param({"a": Status.unschedulable("x", "x")}, id="a reason twice"),
        pytest.param({"a": Status.failure(ValueError("broken"))}, id="an error"),
        pytest.param({"a": Status(Code.PENDING, ("later",))}, id="pending"),
    ],
)
def test_statuses_come_back_as_they_were_given(verdicts: dict[str, Status]) -> None:
    found = statuses(verdicts, table("a", "b", "c"))
    expected = [verdicts.get(name, Status()) for name in "abc"]
    assert [(s.code, s.reasons) for s in found] == [(s.code, s.reasons) for s in expected]


def test_a_plugin_may_give_every_node_a_reason_of_its_own() -> None:
    names = [f"n{number}" for number in range(150)]
    verdicts = {name: Status.unschedulable(f"{name} is taken") for name in names}
    assert statuses(verdicts, table(*names)) == list(verdicts.values())


def test_more_reasons_than_bits_need_wider_bits() -> None:
    reasons = [Reason(str(number)) for number in range(65)]
    with pytest.raises(ValueError, match="65 reasons"):
        Rejections(np.ones(1, np.uint64), reasons)
    masks = [(np.array([True, number == 64]), reason) for number, reason in enumerate(reasons)]
    found = Rejections.collect(masks)
    assert found is not None
    assert len(found.status(0).reasons) == 65
    assert found.status(1).reasons == ("64",)
    assert found.rejected.tolist() == [True, True]
