"""Prioritize brings the plugins' totals to the eleven steps that the protocol has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.handlers import on_extender_scale
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import Scores
from scheduler.framework.status import Status
from tests.builders import make_node, make_pod
from tests.extender.builders import ask, by_name, client, framework, three_nodes, world


class Numbered:
    """Scores ``node-<n>`` with n."""

    name = "Numbered"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        return int(node.name.removeprefix("node-"))


class Failing(Numbered):
    """Scores out of range."""

    name = "Failing"

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        return 101


class Refusing(Numbered):
    """Refuses every pod before the filters."""

    name = "Refusing"

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        return Status.unresolvable("not today")


class Noting(Numbered):
    """Scores with what it noted before the filters."""

    name = "Noting"

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> None:
        cycle.state[self.name] = len(nodes)

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        return int(cycle.state[self.name]) * super().score_node(cycle, node)


MINIMUM = ("PrioritySort", "DefaultBinder")


def numbered(*numbers: int) -> tuple[str, ...]:
    return tuple(f"node-{number}" for number in numbers)


def rated(plugin: Any, *names: str, known: tuple[str, ...] | None = None) -> dict[str, int]:
    nodes = (make_node(name).obj() for name in (names if known is None else known))
    made = world(*nodes, frameworks=[framework(plugins=MINIMUM, extra={plugin.name: plugin})])
    answer = ask(client(made), "/prioritize", by_name(make_pod().doc(), *names))
    return {entry["Host"]: entry["Score"] for entry in answer}


def test_a_hundred_becomes_ten_and_fractions_are_cut_off() -> None:
    assert list(rated(Numbered, *numbered(0, 9, 10, 55, 99, 100)).values()) == [0, 0, 1, 5, 9, 10]


def test_nodes_all_alike_keep_their_score() -> None:
    assert rated(Numbered, "node-70") == {"node-70": 7}


def test_unknown_nodes_get_nothing() -> None:
    assert rated(Numbered, *numbered(50, 60), known=numbered(60)) == {"node-50": 0, "node-60": 6}
    assert rated(Numbered, *numbered(50, 60), known=()) == {"node-50": 0, "node-60": 0}


def test_a_pod_that_pre_filter_refuses_prefers_nothing() -> None:
    assert rated(Refusing, *numbered(50, 60)) == {"node-50": 0, "node-60": 0}


def test_scores_may_read_what_pre_filter_noted() -> None:
    assert rated(Noting, *numbered(0, 15, 30)) == {"node-0": 0, "node-15": 4, "node-30": 9}


def test_a_profile_without_scores_prefers_nothing() -> None:
    made = world(*three_nodes(), frameworks=[framework(plugins=MINIMUM)])
    answer = ask(client(made), "/prioritize", by_name(make_pod().doc(), "node-a"))
    assert answer == [{"Host": "node-a", "Score": 0}]


def test_a_plugin_that_fails_is_a_server_error() -> None:
    made = world(*three_nodes(), frameworks=[framework(extra={"Failing": Failing})])
    answer = client(made).post("/prioritize", json=by_name(make_pod().doc(), "node-a"))
    assert answer.status_code == 500
    assert 'plugin "Failing" returns an invalid score 101' in answer.json["Error"]


def test_the_emptier_node_is_preferred() -> None:
    made = world(*three_nodes())
    made.add_pods(make_pod("running").req(cpu="3", memory="6Gi").node("node-a").obj())
    pod = make_pod().req(cpu="500m", memory="1Gi").doc()
    scores = ask(client(made), "/prioritize", by_name(pod, "node-a", "node-b"))
    assert scores[0]["Score"] < scores[1]["Score"]


def column(*values: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    return np.array(values, np.int64)


@pytest.mark.parametrize(
    ("weighted", "expected"),
    [
        pytest.param({"a": (0, 50, 100)}, [0, 5, 10], id="one plugin"),
        pytest.param({"a": (0, 50, 100), "b": (300, 300, 300)}, [0, 5, 10], id="one says nothing"),
        pytest.param({"a": (0, 100, 100), "b": (0, 0, 300)}, [0, 2, 10], id="weights count"),
        pytest.param({"a": (80, 80, 80), "b": (240, 240, 240)}, [8, 8, 8], id="nobody says anything"),
        pytest.param({}, [0, 0, 0], id="nobody is asked"),
    ],
)
def test_the_scale(weighted: dict[str, tuple[int, ...]], expected: list[int]) -> None:
    nodes = world(*three_nodes()).cluster.nodes
    scores = Scores(
        nodes, column(0, 0, 0), weighted={plugin: column(*given) for plugin, given in weighted.items()}
    )
    assert on_extender_scale(scores, {"a": 1, "b": 3}).tolist() == expected


@given(
    st.lists(st.tuples(*[st.integers(0, 100)] * 3), min_size=2, max_size=30),
    st.tuples(*[st.integers(1, 1000)] * 3),
)
def test_the_order_of_the_totals_is_kept(rows: list[tuple[int, ...]], weights: tuple[int, ...]) -> None:
    columns = {
        f"p{place}": column(*given) * weights[place] for place, given in enumerate(zip(*rows, strict=True))
    }
    total = sum(columns.values())
    nodes = world(*(make_node(f"n{row}").obj() for row in range(len(rows)))).cluster.nodes
    scaled = on_extender_scale(
        Scores(nodes, total, weighted=columns), {f"p{place}": weight for place, weight in enumerate(weights)}
    )
    by_total = scaled[np.argsort(total, kind="stable")]
    assert (np.diff(by_total) >= 0).all()
    assert scaled.min() >= 0
    assert scaled.max() <= 10
