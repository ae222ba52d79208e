"""While an extender thinks the lock is free; and a decision that was overtaken is made again, without asking twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import DEADLINE, Desk
from tests.scheduling.extenders.servers import Answer, ExtenderServer, answer

MakeDesk = Callable[..., Desk]


def pod(name: str = "p") -> PodBuilder:
    return make_pod(name).req(cpu="1").spec(schedulerName="default-scheduler")


class Thinking:
    """A scheduler whose filtering extender thinks until it is let go. It passes ``passes`` of what it is asked about."""

    def __init__(
        self, desk: MakeDesk, extender: ExtenderServer, *passes: str, verb: str = "filterVerb"
    ) -> None:
        self.may_answer = threading.Event()
        self.extender = extender
        given = answer({"NodeNames": passes} if verb == "filterVerb" else [{"Host": passes[0], "Score": 10}])
        extender.answers["/verb"] = [Answer(given.body, hold=self.may_answer)]
        entry = {"urlPrefix": extender.url, verb: "verb", "nodeCacheCapable": True}
        self.desk = desk({**entry, "weight": 1} if verb == "prioritizeVerb" else entry)

    @contextmanager
    def during(self) -> Iterator[None]:
        """The block runs while the extender thinks; then the attempt ends."""
        turn = threading.Thread(target=self.desk.step)
        turn.start()
        self.extender.wait_for(1)
        yield
        self.may_answer.set()
        turn.join(DEADLINE)
        assert not turn.is_alive()


def bound_to(desk: Desk, name: str = "p") -> str:
    desk.run_until(lambda: name in dict(desk.ledger.bound))
    return dict(desk.ledger.bound)[name]


def test_others_see_the_state_and_events_that_came_meanwhile(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    made = Thinking(extended, extender, "n1")
    made.desk.put(make_node("n1").capacity(cpu="4"), pod())
    with made.during():
        made.desk.put(make_node("n2").capacity(cpu="4"))
        with made.desk.scheduler.current() as state:
            assert sorted(state.nodes.names) == ["n1", "n2"]
    assert bound_to(made.desk) == "n1"
    assert len(extender.asked) == 1


def test_a_node_that_went_meanwhile_is_not_taken(extended: MakeDesk, extender: ExtenderServer) -> None:
    made = Thinking(extended, extender, "n1", "n2")
    made.desk.put(make_node("n1").capacity(cpu="4"), make_node("n2").capacity(cpu="4"), pod())
    with made.during():
        made.desk.remove("n1")
        with made.desk.scheduler.current():
            pass
    assert bound_to(made.desk) == "n2"
    assert len(extender.asked) == 1


def test_room_that_was_taken_meanwhile_is_not_taken_again(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    made = Thinking(extended, extender, "n1", "n2", verb="prioritizeVerb")
    made.desk.put(make_node("n1").capacity(cpu="1"), make_node("n2").capacity(cpu="1"), pod())
    with made.during():
        made.desk.put(pod("other").node("n1"))
        with made.desk.scheduler.current():
            pass
    assert bound_to(made.desk) == "n2"
    assert len(extender.asked) == 1


def test_a_node_that_came_meanwhile_waits_for_the_next_attempt(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    made = Thinking(extended, extender)
    made.desk.put(make_node("n1").capacity(cpu="4"), pod())
    with made.during():
        made.desk.put(make_node("n2").capacity(cpu="4"))
        with made.desk.scheduler.current():
            pass
    extender.answers["/verb"] = lambda asked: answer({"NodeNames": asked["NodeNames"]})
    made.desk.pass_time(30)
    assert bound_to(made.desk) in ("n1", "n2")
    assert sorted(extender.asked[-1].document["NodeNames"]) == ["n1", "n2"]


def test_a_pod_that_somebody_else_bound_meanwhile_is_left_alone(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    made = Thinking(extended, extender, "n1")
    made.desk.put(make_node("n1").capacity(cpu="4"), pod())
    with made.during():
        made.desk.put(pod().node("n1"))
        with made.desk.scheduler.current():
            pass
    assert made.desk.ledger.bound == []
    assert made.desk.queue.in_flight_counts().get("PodPopped", 0) == 0


def test_a_scheduler_that_retires_does_not_act_on_the_answer(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    made = Thinking(extended, extender, "n1")
    made.desk.put(make_node("n1").capacity(cpu="4"), pod())
    retiring = threading.Thread(target=made.desk.scheduler.retire)
    with made.during():
        retiring.start()
        while made.desk.scheduler._leading:  # until it has begun to retire
            retiring.join(0.001)
        assert retiring.is_alive()
    retiring.join(DEADLINE)
    assert made.desk.ledger.bound == []
    assert made.desk.cluster.counts()["assumed_pods"] == 0
