"""Events that arrive in the middle of something: whatever the order, no pod is lost, counted twice or left behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import Wait
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk

MakeDesk = Callable[..., Desk]


class Hold:
    """A Permit plugin that holds every pod for a minute."""

    name = "Hold"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def permit(self, cycle: Cycle, node: str) -> Wait:
        return Wait(60)


def node(name: str, cpu: str = "1") -> Any:
    return make_node(name).capacity(cpu=cpu)


def pod(name: str, uid: str = "", **metadata: Any) -> PodBuilder:
    made = make_pod(name).req(cpu="1").spec(schedulerName="default-scheduler").metadata(**metadata)
    return made.metadata(uid=uid) if uid else made


def counted(desk: Desk) -> dict[str, list[str]]:
    """The pods on each node, as the next decision sees them."""
    nodes = desk.cluster.nodes
    return {name: [one.pod.metadata.uid for one in nodes.pods(row)] for row, name in enumerate(nodes.names)}


def test_a_pod_recreated_between_two_lists_is_another_pod(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("n"), pod("p", "old").node("n"))
    made.step()
    made.pods.replace({"default/p": pod("p", "new", resourceVersion="99").obj()}, initial=False)
    made.run_until(lambda: made.ledger.bound)
    assert made.ledger.bound == [("p", "n")]
    assert counted(made) == {"n": ["new"]}


@pytest.mark.parametrize("fails", [False, True], ids=["old binding succeeds", "old binding fails"])
def test_a_pod_recreated_while_it_is_bound_gets_a_node_of_its_own(desk: MakeDesk, *, fails: bool) -> None:
    made = desk()
    made.put(node("n"))
    made.ledger.refuse = fails
    with made.binding_held():
        made.put(pod("p", "old"))
        made.step()
        made.remove("p")
        made.step()
        assert counted(made) == {"n": []}
        made.put(pod("p", "new"))
        made.step(2)
    made.run_until(lambda: made.metric("goroutines", operation="binding") == 0 and made.step() is None)
    made.ledger.refuse = False

    def bound_after_a_while() -> bool:
        made.pass_time(20)  # a failure that is told of only now backs off from now
        return ("p", "n") in made.ledger.bound

    made.run_until(bound_after_a_while)
    assert counted(made) == {"n": ["new"]}


def test_a_pod_bound_elsewhere_while_it_is_bound_here_counts_there(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("n"), pod("p", "u"))
    made.ledger.refuse = True
    with made.binding_held():
        made.step()
        made.put(node("m"), pod("p", "u").node("m"))
        made.step()
        assert counted(made) == {"n": [], "m": ["u"]}
    made.run_until(
        lambda: made.metric("schedule_attempts_total", result="error", profile="default-scheduler")
    )
    assert counted(made) == {"n": [], "m": ["u"]}
    assert list(made.queue.pending()) == []


def test_a_pod_bound_elsewhere_while_permit_holds_it_counts_there(desk: MakeDesk) -> None:
    made = desk(Hold)
    made.put(node("n"), pod("p", "u"))
    made.step()
    made.put(node("m"), pod("p", "u").node("m"))
    made.step()
    assert counted(made) == {"n": [], "m": ["u"]}
    made.pass_time(61)
    assert (len(made.waiting), list(made.queue.pending())) == (0, [])


@pytest.mark.parametrize("plugins", [[], [Hold]], ids=["being bound", "held by Permit"])
def test_a_pod_deleted_on_its_way_gives_its_room_to_the_next(desk: MakeDesk, plugins: list[type]) -> None:
    made = desk(*plugins)
    made.put(node("n"))
    with made.binding_held():
        made.put(pod("first", "1"))
        made.step()
        made.put(pod("second", "2"))
        made.step()
        assert counted(made) == {"n": ["1"]}
        made.remove("first")
        made.run_until(lambda: counted(made) == {"n": ["2"]})


def test_a_pod_that_changes_while_it_ends_is_taken_back_once(desk: MakeDesk, caplog: Any) -> None:
    made = desk()
    made.put(node("n"))
    made.ledger.refuse = True
    with made.binding_held():
        made.put(pod("p", "u"))
        made.step()
        made.put(pod("p", "u", deletionTimestamp="2026-01-01T00:00:00Z"))
        made.step()
        made.put(pod("p", "u", deletionTimestamp="2026-01-01T00:00:00Z", labels={"a": "b"}))
        made.scheduler._apply_arrivals()
        assert len(made.queue) == 1
    made.run_until(
        lambda: made.metric("schedule_attempts_total", result="error", profile="default-scheduler")
    )
    assert "could not be applied" not in caplog.text
    assert not made.queue.is_in_flight("u")


def test_a_node_that_goes_and_comes_back_still_has_the_pod_being_bound(desk: MakeDesk) -> None:
    made = desk()
    made.put(node("n"))
    with made.binding_held():
        made.put(pod("p", "u"))
        made.step()
        made.remove("n")
        made.step()
        assert counted(made) == {}
        made.put(node("n"), pod("q", "v"))
        made.step(2)
        assert counted(made) == {"n": ["u"]}


def test_a_pod_bound_by_others_is_not_tried_any_more(desk: MakeDesk) -> None:
    made = desk()
    made.put(pod("p", "u"))
    made.step()
    assert len(made.queue) == 1
    made.put(node("n"), pod("p", "u").node("n"))
    made.pass_time(600)
    assert (len(made.queue), made.ledger.bound) == (0, [])


def test_a_pod_deleted_after_a_binding_nobody_saw_leaves_the_queue(desk: MakeDesk) -> None:
    made = desk()
    made.put(pod("p", "u"))
    made.step()
    made.pods.remove("default/p", pod("p", "u").node("elsewhere").obj())
    made.step()
    assert list(made.queue.pending()) == []
