"""The memory of attempts: the last one of each pod, no more than the limit, none of a pod that is gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from scheduler.framework.outcome import Decision
from scheduler.framework.status import SUCCESS
from scheduler.scheduling.decisions import Decisions
from tests.builders import make_node, make_pod
from tests.scheduling.desk import Desk


def attempt(name: str, node: str = "n") -> Any:
    queued = SimpleNamespace(pod=make_pod(name).metadata(uid=name).obj(), attempts=1)
    return SimpleNamespace(queued=queued, decision=Decision(SUCCESS, node, evaluated=2, feasible=1))


def test_the_pod_tried_longest_ago_is_forgotten_first() -> None:
    decisions = Decisions(limit=2)
    for name in ("a", "b", "a", "c"):
        decisions.keep(attempt(name), "scheduled")
    assert [record.name for record in decisions.all()] == ["a", "c"]


def test_only_a_scheduled_pod_has_a_node() -> None:
    decisions = Decisions()
    decisions.keep(attempt("a"), "unschedulable", "the binding failed")
    (record,) = decisions.all()
    assert (record.node, record.message) == ("", "the binding failed")
    assert record.as_json()["evaluated"] == 2


def test_forgetting_what_is_not_known_is_harmless() -> None:
    decisions = Decisions()
    decisions.keep(attempt("a"), "scheduled")
    decisions.forget("a")
    decisions.forget("a")
    assert decisions.all() == []


def test_a_scheduled_pod_s_record_has_the_score_per_plugin_and_goes_with_the_pod() -> None:
    desk = Desk()
    desk.put(make_node("n").capacity(cpu="4"), make_node("m").capacity(cpu="4"))
    desk.put(make_pod("p").req(cpu="1").spec(schedulerName="default-scheduler"))
    desk.run_until(desk.scheduler.decisions.all)
    (record,) = desk.scheduler.decisions.all()
    assert (record.result, record.feasible, record.total) == ("scheduled", 2, sum(record.scores.values()))
    assert record.scores["NodeResourcesFit"] > 0
    desk.remove("p")
    desk.step()
    assert desk.scheduler.decisions.all() == []
    desk.close()


def test_churn_leaves_nothing_behind() -> None:
    desk = Desk()
    desk.put(make_node("n").capacity(cpu="4"))
    for number in range(200):
        name = f"p{number}"
        cpu = "1" if number % 2 else "64"
        desk.put(make_pod(name).req(cpu=cpu).spec(schedulerName="default-scheduler"))
        desk.step(2)
        desk.remove(name)
        desk.step()
    desk.close()
    counts = desk.cluster.counts()
    assert (counts["pods"], len(desk.queue), len(desk.queue.nominator)) == (0, 0, 0)
    assert desk.queue.in_flight_counts()["PodPopped"] == 0
    assert desk.scheduler.decisions.all() == []
