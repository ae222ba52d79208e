"""The points after the choice: Reserve, Permit, PreBind, Bind, PostBind."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import Wait
from scheduler.framework.status import SKIP, Code, Status
from tests.builders import make_pod
from tests.framework.harness import framework

cycle = Cycle(make_pod("p").info())


class Act:
    """A plugin whose every acting point notes that it was asked, and answers what it was told to."""

    def __init__(self, name: str, log: list[str], **answers: Any) -> None:
        self.name = name
        self._log = log
        self._answers = answers

    def _answer(self, point: str) -> Any:
        self._log.append(f"{self.name}.{point}")
        answer = self._answers.get(point)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def reserve(self, cycle: Cycle, node: str) -> Any:
        return self._answer("reserve")

    def unreserve(self, cycle: Cycle, node: str) -> None:
        self._answer("unreserve")

    def permit(self, cycle: Cycle, node: str) -> Any:
        return self._answer("permit")

    def pre_bind(self, cycle: Cycle, node: str) -> Any:
        return self._answer("pre_bind")

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Any:
        return self._answer("pre_flight")

    def bind(self, cycle: Cycle, node: str) -> Any:
        return self._answer("bind")

    def post_bind(self, cycle: Cycle, node: str) -> None:
        self._answer("post_bind")


def test_reserve_stops_at_the_first_refusal_and_unreserve_undoes_all_in_reverse() -> None:
    log: list[str] = []
    fwk = framework(Act("A", log, reserve=Status.unschedulable("taken")), Act("B", log))
    status = fwk.reserve(cycle, "n")
    assert (status.code, status.plugin, status.reasons) == (Code.UNSCHEDULABLE, "A", ("taken",))
    fwk.unreserve(cycle, "n")
    assert log == ["A.reserve", "B.unreserve", "A.unreserve"]


def test_an_unreserve_that_raises_does_not_stop_the_others() -> None:
    log: list[str] = []
    framework(Act("A", log), Act("B", log, unreserve=RuntimeError("oops"))).unreserve(cycle, "n")
    assert log == ["B.unreserve", "A.unreserve"]


@pytest.mark.parametrize(
    ("answers", "code", "waits"),
    [
        pytest.param([None, None], Code.SUCCESS, {}, id="all allow"),
        pytest.param([Wait(5), Wait(3600)], Code.WAIT, {"P0": 5, "P1": 900}, id="both wait, capped"),
        pytest.param(
            [Wait(5), Status.unschedulable("no")], Code.UNSCHEDULABLE, {}, id="a refusal beats waiting"
        ),
        pytest.param([Status(Code.ERROR, ("io",)), None], Code.ERROR, {}, id="an error ends it"),
    ],
)
def test_permit_collects_who_wants_to_wait(answers: list[Any], code: Code, waits: dict[str, float]) -> None:
    fwk = framework(*(Act(f"P{place}", [], permit=answer) for place, answer in enumerate(answers)))
    status, held = fwk.permit(cycle, "n")
    assert (status.code, held) == (code, waits)


def test_bind_asks_until_one_does_not_skip() -> None:
    log: list[str] = []
    status = framework(Act("A", log, bind=SKIP), Act("B", log), Act("C", log)).bind(cycle, "n")
    assert status.ok
    assert log == ["A.bind", "B.bind"]


def test_nobody_binding_is_an_error() -> None:
    status = framework(Act("A", [], bind=SKIP)).bind(cycle, "n")
    assert (status.code, status.message) == (Code.ERROR, 'no bind plugin took the pod: "A"')


def test_a_failure_names_point_and_plugin() -> None:
    status = framework(Act("A", [], pre_bind=RuntimeError("disk gone"))).pre_bind(cycle, "n")
    assert (status.code, status.plugin) == (Code.ERROR, "A")
    assert status.message == 'running PreBind plugin "A": disk gone'


@pytest.mark.parametrize(
    ("flights", "code"),
    [
        pytest.param([SKIP, SKIP], Code.SKIP, id="nobody has work"),
        pytest.param([SKIP, None], Code.SUCCESS, id="one has"),
        pytest.param([Status(Code.ERROR, ("io",)), None], Code.ERROR, id="error"),
    ],
)
def test_the_pre_flight_says_whether_pre_bind_has_work(flights: list[Any], code: Code) -> None:
    plugins = [Act(f"P{place}", [], pre_flight=answer) for place, answer in enumerate(flights)]
    assert framework(*plugins).pre_bind_pre_flight(cycle, "n").code is code


def test_post_bind_reaches_everybody() -> None:
    log: list[str] = []
    framework(Act("A", log, post_bind=RuntimeError("oops")), Act("B", log)).post_bind(cycle, "n")
    assert log == ["A.post_bind", "B.post_bind"]


def test_pre_bind_calls_those_alone_that_have_work() -> None:
    log: list[str] = []
    one = Cycle(make_pod("p").info())
    fwk = framework(Act("Idle", log, pre_flight=SKIP), Act("Busy", log))
    assert fwk.pre_bind_pre_flight(one, "n").ok
    assert fwk.pre_bind(one, "n").ok
    assert log == ["Idle.pre_flight", "Busy.pre_flight", "Busy.pre_bind"]


def test_a_refusal_in_the_pre_flight_comes_too_late_and_is_an_error() -> None:
    status = framework(Act("A", [], pre_flight=Status.unschedulable("no"))).pre_bind_pre_flight(cycle, "n")
    assert (status.code, status.plugin) == (Code.ERROR, "A")
    assert 'PreBindPreFlight A returned "Unschedulable", which is unsupported' in status.message
