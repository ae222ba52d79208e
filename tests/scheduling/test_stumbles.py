"""Bugs and refusals in the middle of an attempt: the pod pays for them, everything that it took is given back, all others go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import Wait
from scheduler.framework.status import Code, Status
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk

MakeDesk = Callable[..., Desk]


def pod(name: str, cpu: str = "1", profile: str = "default-scheduler") -> PodBuilder:
    return make_pod(name).req(cpu=cpu).spec(schedulerName=profile)


def node(name: str, cpu: str = "4") -> Any:
    return make_node(name).capacity(cpu=cpu)


def picky(**answers: Any) -> type:
    """A plugin that does this to pods whose name begins with "bad": answers it, or raises it."""

    def act(answer: Any) -> Callable[..., Any]:
        def method(self: Any, cycle: Any, *_: Any) -> Any:
            subject = cycle.pod if isinstance(cycle, Cycle) else cycle
            if not subject.metadata.name.startswith("bad"):
                return None
            if isinstance(answer, BaseException):
                raise answer
            return answer

        return method

    def build(self: Any, args: Any, handle: Any) -> None:
        pass

    methods = {name: act(answer) for name, answer in answers.items()}
    if "reserve" in methods:
        methods.setdefault("unreserve", lambda self, *_: None)
    return type("Picky", (), {"name": "Picky", "__init__": build, **methods})


def result(desk: Desk, outcome: str) -> float:
    return desk.metric("schedule_attempts_total", result=outcome, profile="default-scheduler")


BUGS = [RuntimeError("oops"), SystemExit(1)]


@pytest.mark.parametrize("bug", BUGS, ids=["exception", "exit"])
@pytest.mark.parametrize("method", ["pre_filter", "pre_score", "reserve", "permit", "pre_bind"])
def test_a_plugin_with_a_bug_fails_its_pod_and_no_other(
    desk: MakeDesk, method: str, bug: BaseException
) -> None:
    made = desk(picky(**{method: bug}))
    made.put(node("n"), node("m"), pod("bad"), pod("good"))
    made.run_until(lambda: result(made, "error") and made.ledger.bound)
    assert [name for name, _ in made.ledger.bound] == ["good"]
    assert made.cluster.nodes.pod_count.sum() == 1


def test_a_bug_of_our_own_fails_the_pod_and_the_loop_goes_on(
    desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = desk()
    made.put(node("n"), pod("bad"), pod("good"))
    assume = made.cluster.assume_pod

    def stumble(info: Any, name: str) -> Any:
        if info.pod.metadata.name == "bad":
            raise ZeroDivisionError("ours")
        return assume(info, name)

    monkeypatch.setattr(made.cluster, "assume_pod", stumble)
    made.run_until(lambda: made.ledger.bound == [("good", "n")])
    assert result(made, "error") == 1
    assert ("FailedScheduling", "ours") in made.ledger.events


def test_a_bug_in_a_binding_takes_the_pod_back(desk: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    made = desk()
    monkeypatch.setattr(made.scheduler.frameworks["default-scheduler"], "bind", lambda *_: 1 // 0)
    made.put(node("n"), pod("p"))
    made.run_until(lambda: result(made, "error"))
    assert made.cluster.counts()["assumed_pods"] == 0


@pytest.mark.parametrize("method", ["reserve", "permit"])
def test_a_refusal_after_the_choice_says_so_and_gives_the_room_back(desk: MakeDesk, method: str) -> None:
    made = desk(picky(**{method: Status.unschedulable("not there")}))
    made.put(node("n"), pod("bad"))
    made.run_until(lambda: made.ledger.patches)
    ((_, status),) = made.ledger.patches
    assert status["conditions"][0]["message"] == "0/1 nodes are available: 1 not there."
    assert made.cluster.nodes.pod_count.tolist() == [0]


def test_a_refused_reserve_wakes_nobody(desk: MakeDesk) -> None:
    made = desk(picky(reserve=Status.unschedulable("no")))
    made.put(node("n"), pod("huge", cpu="64"))
    made.step()
    before = made.queue.get(pod("huge").obj())
    assert before is not None
    made.put(pod("bad"))
    made.step()
    assert result(made, "unschedulable") == 2
    assert [place for place, one in made.queue.pending() if one.name == "default/huge"] == ["unschedulable"]


def test_a_pod_that_permit_lets_go_too_late_makes_room_for_those_who_wait(desk: MakeDesk) -> None:
    made = desk(picky(permit=Wait(10)))
    made.put(node("n", cpu="1"), pod("bad"), pod("good"))
    made.step(2)
    assert result(made, "unschedulable") == 1
    made.pass_time(11)
    made.run_until(lambda: made.ledger.bound == [("good", "n")])
    assert made.metric("permit_wait_duration_seconds_sum", result="Unschedulable") == 11


def test_a_held_pod_is_nominated_once(desk: MakeDesk) -> None:
    made = desk(picky(permit=Wait(10), pre_bind=None))
    made.put(node("n"), pod("bad"))
    made.step()
    (held,) = made.waiting
    held.allow("Picky")
    made.run_until(lambda: made.ledger.bound)
    assert made.ledger.patches == [("bad", {"nominatedNodeName": "n"})]


def test_a_verdict_that_is_an_error_is_one_of_the_pod(desk: MakeDesk) -> None:
    made = desk(picky(permit=Wait(10)))
    made.put(node("n"), pod("bad"))
    made.step()
    (held,) = made.waiting
    held.reject("Picky", "broken", Code.ERROR)
    made.step()
    assert ("FailedScheduling", "waiting on permit for pod: broken") in made.ledger.events


def test_each_profile_binds_its_own_pods(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("n"), pod("a"), pod("b", profile="second"), pod("c", profile="third"))
    made.run_until(lambda: len(made.ledger.bound) == 2)
    assert sorted(made.ledger.bound) == [("a", "n"), ("b", "n")]
    made.run_until(lambda: made.metric("schedule_attempts_total", result="scheduled", profile="second"))


def test_a_pod_that_keeps_failing_for_the_same_reason_is_patched_once(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("n"), pod("huge", cpu="64"))
    made.run_until(lambda: made.ledger.patches)
    (_, status) = made.ledger.patches[0]
    made.put(pod("huge", cpu="64").status(conditions=status["conditions"]))
    for number in range(5):
        made.put(node(f"n{number}", cpu="1").label("x", "y"))
        made.remove(f"n{number}")
        made.pass_time(20)
    assert result(made, "unschedulable") >= 1
    made.close()
    assert [name for name, _ in made.ledger.patches] == ["huge"]


def test_patches_that_cannot_keep_up_do_not_pile_up(desk: MakeDesk) -> None:
    made = desk()
    made.ledger.may_patch.clear()
    for number in range(20):
        made.put(pod(f"p{number}"))
    for _ in range(10):
        made.step(25)
        made.pass_time(20)
    assert made.metric("schedule_attempts_total", result="unschedulable", profile="default-scheduler") >= 100
    made.ledger.may_patch.set()
    made.run_until(lambda: len(made.ledger.patches) >= 20)
    made.close()
    assert len(made.ledger.patches) <= 24


def test_bindings_do_not_wait_for_the_statuses_of_refused_pods(desk: MakeDesk) -> None:
    made = desk()
    made.ledger.may_patch.clear()
    made.put(node("n"), *(pod(f"huge{number}", cpu="64") for number in range(50)), pod("small"))
    made.run_until(lambda: made.ledger.bound == [("small", "n")])
    assert made.ledger.patches == []
