"""The dry run of many rows at once against that of one row at a time, and against a cluster made anew for every question."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.explain.world import World
from scheduler.framework.algorithm import Rotation, find_feasible
from scheduler.framework.cycle import Cycle
from scheduler.framework.filtering import Hypothesis
from scheduler.framework.node_table import NodeTable
from scheduler.framework.outcome import FilterOutcome
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import PluginError
from scheduler.framework.status import Status
from scheduler.plugins.default_preemption.dry_run import DryRun, Verdicts
from scheduler.plugins.default_preemption.pick import Candidate
from scheduler.plugins.default_preemption.victims import Budgets, most_important_first
from tests.builders import make_pod
from tests.plugins.default_preemption.harness import Document, budget, node, preemptor, victim, world

NODES = ("n0", "n1", "n2")
_pick = st.sampled_from
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
KINDS = pytest.mark.parametrize("counted", [False, True], ids=["plain", "counted over nodes"])
RUNNING = st.lists(
    st.tuples(
        _pick(NODES),
        st.integers(-1, 4),
        _pick(("0", "1", "2")),
        _pick(("", "10:00:00", "11:00:00")),
        _pick(("a", "b")),
        st.booleans(),
    ),
    max_size=12,
)
BUDGETS = st.lists(st.tuples(st.integers(0, 2), _pick(("a", "b"))), max_size=2)
RIVALS = st.lists(st.tuples(_pick(NODES), st.integers(2, 4)), max_size=2)


def _term(app: str, key: str) -> Document:
    return {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": key}


TERMS = st.builds(_term, _pick(("a", "b")), _pick((HOST, ZONE)))
SPREADS = st.builds(
    lambda term, skew: {**term, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule"},
    TERMS,
    st.integers(1, 2),
)


def _affinity(**sides: list[Document]) -> Document:
    return {side: {"requiredDuringSchedulingIgnoredDuringExecution": terms} for side, terms in sides.items()}


@st.composite
def worlds(draw: st.DrawFn, *, counted: bool) -> World:
    """Three nodes with pods and budgets, and a pod that wants to be on one; perhaps pods are counted over nodes for it."""
    pod = preemptor(3, draw(_pick(("1", "3", "4")))).host_port(draw(_pick((0, 80)))).label("app", "a")
    if counted:
        near, apart = draw(st.lists(TERMS, max_size=1)), draw(st.lists(TERMS, max_size=2))
        pod.spec(affinity=_affinity(podAffinity=near, podAntiAffinity=apart))
        pod.spec(topologySpreadConstraints=draw(st.lists(SPREADS, max_size=2)))
    objects: list[Any] = [node(name).label(ZONE, zone) for name, zone in zip(NODES, "aab", strict=True)]
    taken: set[str] = set()  # no two pods of a node have the same port
    for number, (where, priority, cpu, start, app, port) in enumerate(draw(RUNNING)):
        running = victim(f"v{number}", where, priority, cpu, start).label("app", app)
        if counted and draw(st.booleans()):
            running.spec(affinity=_affinity(podAntiAffinity=[draw(TERMS)]))
        objects.append(running.host_port(80) if port and where not in taken else running)
        taken |= {where} if port else set()
    for number, (allowed, app) in enumerate(draw(BUDGETS)):
        objects.append(budget(f"b{number}", allowed, {"matchLabels": {"app": app}}))
    for number, (where, priority) in enumerate(draw(RIVALS)):
        rival = make_pod(f"r{number}").priority(priority).req(cpu="1").nominated(where)
        objects.append(rival.label("app", draw(_pick(("a", "b")))))
    return world(pod, objects)


def budgets_of(made: World) -> Budgets:
    (plugin,) = (one for one in made.framework.plugins_at("postFilter") if one.name == "DefaultPreemption")
    found: Budgets = plugin._budgets
    return found


def dry_run(made: World) -> tuple[DryRun, np.ndarray[Any, np.dtype[np.intp]]]:
    """A dry run of the attempt, and the rows that have victims."""
    cycle, nodes = Cycle(made.pod), made.cluster.nodes
    made.framework.pre_filter(cycle, nodes)
    run = DryRun(cycle, nodes, Hypothesis(made.framework, made.nominator), budgets_of(made))
    rows = np.arange(len(nodes))
    return run, rows[run.with_victims(rows)]


def statuses(made: World, verdicts: Verdicts) -> dict[str, Candidate | Status]:
    names = made.cluster.nodes.names
    found: dict[str, Candidate | Status] = {one.node: one for one in verdicts.candidates.values()}
    for one in verdicts.failures:
        for place, row in enumerate(one.rows.tolist()):
            found[names[row]] = one.rejections.status(place, one.plugin)
    return found


@KINDS
@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_rows_together_get_what_each_gets_alone(counted: bool, data: st.DataObject) -> None:
    made = data.draw(worlds(counted=counted))
    run, rows = dry_run(made)
    alone: dict[str, Candidate | Status] = {}
    for row in rows:
        alone |= statuses(made, run.judge(np.array([row])))
    assert statuses(made, run.judge(rows)) == alone
    assert len(alone) == len(rows)


@KINDS
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_candidates_are_those_of_a_cluster_made_anew(counted: bool, data: st.DataObject) -> None:
    made = data.draw(worlds(counted=counted))
    run, rows = dry_run(made)
    verdicts = run.judge(rows)
    for row in rows.tolist():
        assert verdicts.candidates.get(row) == _anew(made, row)


@KINDS
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_victims_are_less_important_and_their_going_makes_room(counted: bool, data: st.DataObject) -> None:
    made = data.draw(worlds(counted=counted))
    run, rows = dry_run(made)
    for row, candidate in run.judge(rows).candidates.items():
        assert all(pod.priority < made.pod.priority for pod in candidate.victims)
        assert _fits_without(made, row, list(candidate.victims))


def test_rows_are_asked_about_one_by_one_for_a_plugin_that_mixes_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made = world(preemptor(), [node("a"), node("b"), victim("v", "a"), victim("w", "b")])
    run, rows = dry_run(made)
    judged, asked = run._what_if.filter, []

    def noted(cycle: Cycle, nodes: Any) -> FilterOutcome:
        asked.append(len(nodes))
        return judged(cycle, nodes)

    monkeypatch.setattr(Hypothesis, "filter", lambda _, cycle, nodes: noted(cycle, nodes))
    assert len(run.judge(rows).candidates) == 2
    assert asked == [2, 2]
    monkeypatch.setattr(Hypothesis, "counts_pods", lambda *_: True)
    assert len(run.judge(rows).candidates) == 2
    assert asked == [2, 2, 1, 1, 1, 1]


def test_a_dry_run_leaves_the_cluster_alone() -> None:
    made = world(preemptor(), [node("n"), victim("v", "n")])
    run, rows = dry_run(made)
    assert run.judge(rows).candidates
    assert made.cluster.verify() == []


def test_a_filter_that_fails_spoils_only_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    made = world(preemptor(), [node("good"), node("bad"), victim("a", "good"), victim("b", "bad")])
    run, rows = dry_run(made)
    judged = run._what_if.filter

    def fails(cycle: Cycle, nodes: Any) -> FilterOutcome:
        if "bad" in nodes.names:
            raise PluginError("broken")
        return judged(cycle, nodes)

    monkeypatch.setattr(Hypothesis, "filter", lambda _, cycle, nodes: fails(cycle, nodes))
    found = statuses(made, run.judge(rows))
    assert isinstance(found["good"], Candidate)
    assert isinstance(found["bad"], Status)
    assert (found["bad"].code.label, found["bad"].reasons) == ("Error", ("broken",))


def _anew(made: World, row: int) -> Candidate | None:
    """Upstream's steps, each answered by a cluster in which the pods are not."""
    removed = [pod for pod in made.cluster.nodes.pods(row) if pod.priority < made.pod.priority]
    if not _fits_without(made, row, removed):
        return None
    protected, others = budgets_of(made).split(most_important_first(removed))
    victims: list[PodInfo] = []
    violations = 0
    left = [*protected, *others]
    for pod in [*protected, *others]:
        left.remove(pod)
        if not _fits_without(made, row, [*victims, *left]):
            victims.append(pod)
            violations += pod in protected
    if protected and others:
        victims = most_important_first(victims)
    return Candidate(made.cluster.nodes.names[row], tuple(victims), violations) if victims else None


def _fits_without(made: World, row: int, pods: list[PodInfo]) -> bool:
    """Whether the pod fits on the row of a cluster without these pods."""
    nodes = NodeTable.copy_of(made.cluster.nodes)
    for pod in pods:
        nodes.remove_pod(row, pod)
    outcome = find_feasible(made.framework, Cycle(made.pod), nodes, made.nominator, Rotation())
    return outcome.status_of(nodes.names[row]).ok
