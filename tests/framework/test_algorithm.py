"""The algorithm: who gets the pod, who refuses it first, and what it says when nobody takes it."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from scheduler.framework.algorithm import Rotation, find_feasible
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import FilterError
from scheduler.framework.interface import PostFilterResult, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FitError, NoNodesAvailableError
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code, Status
from tests.builders import make_pod
from tests.framework.harness import Nominations, Prefer, Refuse, decision, framework, refuse, table

pod = make_pod("p")


class Only:
    """A PreFilter that narrows the nodes."""

    def __init__(self, name: str, *nodes: str) -> None:
        self.name = name
        self._nodes = frozenset(nodes)

    def pre_filter(self, cycle: Cycle, nodes: object) -> PreFilterResult:
        return PreFilterResult(self._nodes)


class Answer:
    """A PreFilter that answers a status, and a filter that must then not be asked unless it passed."""

    def __init__(self, name: str, status: Status | None, *, asked: list[str] | None = None) -> None:
        self.name = name
        self._status = status
        self._asked = asked if asked is not None else []

    def pre_filter(self, cycle: Cycle, nodes: object) -> Status | None:
        self._asked.append(self.name)
        return self._status

    def filter(self, cycle: Cycle, nodes: object) -> None:
        self._asked.append(f"{self.name}.filter")


def test_the_highest_weighted_total_wins() -> None:
    fwk = framework(Prefer("A", n1=60, n2=50), Prefer("B", n2=10), A=1, B=2)
    made = decision(fwk, table("n1", "n2"), pod)
    assert made.node == "n2"
    assert made.scores is not None
    assert made.chosen == {"A": 50, "B": 20}
    assert made.scores.total.tolist() == [60, 70]


def test_equal_totals_are_drawn_among() -> None:
    nodes = table("n1", "n2", "n3")
    drawn = {decision(framework(Prefer("A", n1=5, n3=5)), nodes, pod, seed=seed).node for seed in range(20)}
    assert drawn == {"n1", "n3"}


def test_a_single_feasible_node_is_not_scored() -> None:
    made = decision(framework(refuse("F", "n1"), Prefer("A", n1=100)), table("n1", "n2"), pod)
    assert (made.node, made.scores, made.feasible) == ("n2", None, 1)


def test_without_score_plugins_one_feasible_node_suffices() -> None:
    made = decision(framework(refuse("F", "n1")), table("n1", "n2", "n3"), pod)
    assert made.node == "n2"


def test_the_first_plugin_that_refuses_a_row_owns_it() -> None:
    fwk = framework(refuse("First", "n1"), refuse("Second", "n1", "n2"))
    outcome = find_feasible(fwk, Cycle(pod.info()), table("n1", "n2"), Nominations(), Rotation())
    assert [outcome.status_of(name).plugin for name in ("n1", "n2")] == ["First", "Second"]
    assert outcome.unschedulable_plugins == {"First", "Second"}


def test_the_message_counts_each_reason_and_sorts_them() -> None:
    both = Status.unschedulable("too small", "too far")
    fwk = framework(refuse("A", "n1", "n2", status=both), refuse("B", "n3"))
    made = decision(fwk, table("n1", "n2", "n3"), pod)
    assert made.status.code is Code.UNSCHEDULABLE
    assert made.status.message == "0/3 nodes are available: 1 B says no, 2 too far, 2 too small."
    assert isinstance(made.status.error, FitError)


def test_no_nodes_is_an_answer_of_its_own() -> None:
    made = decision(framework(), table(), pod)
    assert made.status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    assert made.status.message == "no nodes available to schedule pods"
    assert isinstance(made.status.error, NoNodesAvailableError)


def test_a_pre_filter_narrows_the_nodes() -> None:
    made = decision(framework(Only("A", "n2"), refuse("F", "n2")), table("n1", "n2", "n3"), pod)
    assert made.status.message == (
        "0/3 nodes are available: 1 F says no, 2 node(s) didn't satisfy plugin(s) [A]."
    )
    assert made.outcome is not None
    assert made.outcome.status_of("n1").code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        pytest.param([Only("A")], "node(s) didn't satisfy plugin A", id="one leaves none"),
        pytest.param(
            [Only("B", "n1"), Only("A", "n2")],
            "node(s) didn't satisfy plugin(s) [A B] simultaneously",
            id="two exclude each other",
        ),
        pytest.param(
            [Answer("A", Status.unresolvable("no way"))], "no way", id="a plugin refuses the pod itself"
        ),
    ],
)
def test_a_pre_filter_may_refuse_the_pod_altogether(plugins: list[object], message: str) -> None:
    made = decision(framework(*plugins), table("n1", "n2"), pod)
    assert made.status.message == f"0/2 nodes are available: {message}."


def test_an_unresolvable_pre_filter_ends_the_run_and_an_unschedulable_one_does_not() -> None:
    asked: list[str] = []
    first = Answer("A", Status.unschedulable("a"), asked=asked)
    second = Answer("B", Status.unresolvable("b"), asked=asked)
    third = Answer("C", None, asked=asked)
    made = decision(framework(first, second, third), table("n1"), pod)
    assert asked == ["A", "B"]
    assert made.status.message == "0/1 nodes are available: b."


def test_skip_in_pre_filter_skips_the_filter() -> None:
    asked: list[str] = []
    decision(
        framework(Answer("A", Status.skip(), asked=asked), Answer("B", None, asked=asked)), table("n1"), pod
    )
    assert asked == ["A", "B", "B.filter"]


def test_the_pod_s_own_nominated_node_is_taken_when_it_fits() -> None:
    fwk = framework(refuse("F", "n3"), Prefer("A", n1=100))
    assert decision(fwk, table("n1", "n2", "n3"), make_pod("p").nominated("n2")).node == "n2"
    assert decision(fwk, table("n1", "n2", "n3"), make_pod("p").nominated("n3")).node == "n1"
    assert decision(fwk, table("n1", "n2", "n3"), make_pod("p").nominated("gone")).node == "n1"


@pytest.mark.parametrize(
    ("priority", "fits"),
    [
        pytest.param(10, False, id="higher"),
        pytest.param(5, False, id="equal"),
        pytest.param(1, True, id="lower"),
    ],
)
def test_nominated_pods_count_for_pods_that_do_not_outrank_them(*, priority: int, fits: bool) -> None:
    full = Refuse("Full", lambda node: Status.unschedulable("full") if node.pods else None)
    waiting = Nominations(n1=(make_pod("other").priority(priority).info(),))
    nodes = table("n1")
    made = decision(framework(full), nodes, make_pod("p").priority(5), waiting)
    assert bool(made.node) is fits
    assert nodes.pods(0) == ()


class Lonely:
    """Counts pods over all nodes: there may be at most ``limit`` of them."""

    name = "Lonely"

    def __init__(self, limit: int) -> None:
        self._limit = limit

    def pre_filter(self, cycle: Cycle, nodes: object) -> None:
        cycle.state["Lonely"] = 0

    def add_pod(self, cycle: Cycle, *_: object) -> None:
        cycle.state["Lonely"] += 1

    def remove_pod(self, cycle: Cycle, *_: object) -> None:
        cycle.state["Lonely"] -= 1

    def filter_node(self, cycle: Cycle, node: object) -> Status | None:
        return Status.unschedulable("crowded") if cycle.state["Lonely"] > self._limit else None


@pytest.mark.parametrize("plugins", [[], [Lonely(1)]], ids=["rows apart", "a plugin that counts over rows"])
def test_nominated_pods_count_on_their_own_node_alone(plugins: list[object]) -> None:
    names = {"n1": "one", "n3": "three"}
    full = Refuse(
        "Full", lambda node: Status.unschedulable(f"full of {len(node.pods)}") if node.pods else None
    )
    waiting = {node: (make_pod(name).metadata(uid=name).info(),) for node, name in names.items()}
    waiting["n3"] += (make_pod("more").metadata(uid="more").info(),)
    fwk = framework(full, *plugins, Prefer("P"))
    nodes = table("n1", "n2", "n3", "n4")
    outcome = find_feasible(fwk, Cycle(pod.info()), nodes, Nominations(**waiting), Rotation())
    assert outcome.alive.tolist() == [False, True, False, True]
    assert outcome.status_of("n1").message == "full of 1"
    assert outcome.status_of("n3").message == "full of 2"


def test_a_pod_is_not_its_own_rival() -> None:
    full = Refuse("Full", lambda node: Status.unschedulable("full") if node.pods else None)
    made = decision(framework(full), table("n1"), pod, Nominations(n1=(pod.info(),)))
    assert made.node == "n1"


class Victims:
    """A PostFilter that answers."""

    def __init__(self, name: str, result: PostFilterResult) -> None:
        self.name = name
        self._result = result

    def post_filter(self, cycle: Cycle, nodes: object, outcome: object, what_if: object) -> PostFilterResult:
        return self._result


def test_post_filters_are_asked_until_one_succeeds() -> None:
    nothing = Victims("A", PostFilterResult(Status.unschedulable("nothing to evict")))
    room = Victims("B", PostFilterResult(Status(), "n1"))
    made = decision(framework(refuse("F", "n1"), nothing, room), table("n1"), pod)
    assert (made.nominated, made.status.message) == ("n1", "0/1 nodes are available: 1 F says no.")
    made = decision(framework(refuse("F", "n1"), nothing), table("n1"), pod)
    assert made.nominated is None
    assert made.status.message == "0/1 nodes are available: 1 F says no. nothing to evict"


def test_a_plugin_that_raises_fails_the_pod_and_names_itself() -> None:
    broken = Refuse("Broken", lambda node: 1 // 0)  # type: ignore[arg-type,return-value]
    made = decision(framework(broken), table("n1"), pod)
    assert made.status.code is Code.ERROR
    assert "Broken" in made.status.message
    assert "division" in made.status.message


def test_a_filter_s_error_for_one_node_fails_the_attempt() -> None:
    fwk = framework(refuse("F", "n2", status=Status(Code.ERROR, ("disk on fire",))))
    made = decision(fwk, table("n1", "n2"), pod)
    assert made.status.message == 'running "F" filter plugin: disk on fire'


def test_a_score_out_of_range_is_an_error() -> None:
    made = decision(framework(Prefer("A", n1=101)), table("n1", "n2"), pod)
    assert made.status.code is Code.ERROR
    assert (
        'plugin "A" returns an invalid score 101, it should in the range of [0, 100]' in made.status.message
    )


def test_a_percentage_stops_the_search_and_the_next_one_goes_on_there() -> None:
    nodes = table(*(f"n{i}" for i in range(400)))
    fwk = framework(Prefer("A"), percentage=25)
    rotation = Rotation()
    first = find_feasible(fwk, Cycle(pod.info()), nodes, Nominations(), rotation)
    second = find_feasible(fwk, Cycle(pod.info()), nodes, Nominations(), rotation)
    assert np.flatnonzero(first.alive).tolist() == list(range(100))
    assert np.flatnonzero(second.alive).tolist() == list(range(100, 200))


def test_the_draw_is_repeatable() -> None:
    nodes = table(*(f"n{i}" for i in range(50)))
    seed = Random(3).randrange(1000)
    picks = {decision(framework(Prefer("A")), nodes, pod, seed=seed).node for _ in range(3)}
    assert len(picks) == 1


class Ill:
    """A filter that fails on some nodes."""

    name = "Ill"

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        ill = np.array([name == "n1" for name in nodes.names])
        return Rejections.where(ill, Reason("no idea", Code.ERROR))


def test_a_filter_that_fails_leaves_the_verdict_on_all_nodes() -> None:
    fwk = framework(Only("P", "n1", "n2"), Ill())
    with pytest.raises(FilterError, match=r'^running "Ill" filter plugin: no idea$') as raised:
        find_feasible(fwk, Cycle(pod.info()), table("n1", "n2", "n3"), Nominations(), Rotation())
    assert raised.value.plugin == "Ill"
    statuses = {name: raised.value.outcome.status_of(name).code for name in ("n1", "n2", "n3")}
    assert statuses == {"n1": Code.ERROR, "n2": Code.SUCCESS, "n3": Code.UNSCHEDULABLE_AND_UNRESOLVABLE}


def test_who_narrowed_the_nodes_to_none_is_waited_for() -> None:
    made = decision(framework(Only("B", "n1"), Only("A", "n2")), table("n1", "n2"), pod)
    assert made.outcome is not None
    assert made.outcome.unschedulable_plugins == {"A", "B"}


def test_an_attempt_over_few_nodes_does_not_set_the_search_back() -> None:
    nodes = table(*(f"n{i}" for i in range(400)))
    rotation = Rotation()
    rotation.start = 300
    fwk = framework(Only("A", *(f"n{i}" for i in range(150))), Prefer("P"), percentage=50)
    find_feasible(fwk, Cycle(pod.info()), nodes, Nominations(), rotation)
    assert rotation.start == 0


def test_an_error_on_the_nominated_node_is_told_and_the_others_are_tried(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fwk = framework(refuse("F", "n2", status=Status(Code.ERROR, ("disk on fire",))))
    made = decision(fwk, table("n1", "n2"), make_pod("p").nominated("n2"))
    assert made.status.code is Code.ERROR
    assert "on its nominated node n2" in caplog.text
