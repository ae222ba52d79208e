"""The summary on terminals of any width."""

import io

import pytest
from rich.console import Console

from scheduler.apis.objects import Condition, ObjectMeta, Pod, PodSchedulingGate, PodSpec, PodStatus
from scheduler.app.cli.demo import summary
from scheduler.app.cli.demo.decisions import Decision
from scheduler.app.cli.demo.ledger import Placement

SCORES = {"TaintToleration": 300, "NodeResourcesFit": 90, "ImageLocality": 0}
DECISIONS = {
    "ns/scored": Decision("ns", "scored", "scheduled", node="n1", scores=SCORES, total=390, feasible=7),
    "ns/only": Decision("ns", "only", "scheduled", node="n2", feasible=1),
}
REFUSED = Condition(
    type="PodScheduled", status="False", reason="Unschedulable", message="0/1 nodes [are] available"
)
PODS = (
    Pod(metadata=ObjectMeta(name="scored", namespace="ns"), spec=PodSpec(node_name="n1")),
    Pod(metadata=ObjectMeta(name="only", namespace="ns"), spec=PodSpec(node_name="n2")),
    Pod(metadata=ObjectMeta(name="early", namespace="ns"), spec=PodSpec(node_name="n3")),
    Pod(
        metadata=ObjectMeta(name="gated", namespace="ns"),
        spec=PodSpec(scheduling_gates=(PodSchedulingGate(name="a/b"), PodSchedulingGate(name="c/d"))),
    ),
    Pod(metadata=ObjectMeta(name="refused", namespace="ns"), status=PodStatus(conditions=(REFUSED,))),
)
PLACEMENTS = [Placement(1.0, "ns/scored", "n1"), Placement(1.5, "ns/only", "n2")]


def shown(width: int) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    summary.show(console, PODS, PLACEMENTS, DECISIONS)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def row(text: str, pod: str) -> list[str]:
    (line,) = [each for each in text.splitlines() if pod in each]
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_a_wide_terminal_gets_a_column_per_plugin() -> None:
    text = shown(150)
    assert row(text, "ns/scored") == ["ns/scored", "n1", "7", "300", "90", "390"]
    assert row(text, "ns/only") == ["ns/only", "n2", "1", "-", "-", "-"]


def test_a_narrow_terminal_gets_the_scores_in_words() -> None:
    text = shown(80)
    assert "TaintToleration 300" in text
    assert "ImageLocality" not in text
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("pod", "cells"),
    [
        pytest.param("ns/gated", ["gated", "waiting for scheduling gates: [a/b c/d]"], id="gated"),
        pytest.param("ns/refused", ["unschedulable", "0/1 nodes [are] available"], id="refused"),
    ],
)
def test_pods_that_were_not_placed_say_why(pod: str, cells: list[str]) -> None:
    assert row(shown(150), pod)[1:] == cells


def test_pods_that_had_a_node_before_are_listed_by_node() -> None:
    assert row(shown(150), "ns/early") == ["n3", "ns/early"]


def test_the_pace_counts_from_the_start_of_the_demo() -> None:
    assert summary.pace(PLACEMENTS) == "first pod bound after 1.0 s; 2 pods placed, 2 pods/s"
    assert summary.pace(PLACEMENTS[:1]) == "first pod bound after 1.0 s; 1 pod placed"
