"""Pods whose PreBind waits for something: they hold up nobody, and nothing keeps them from giving up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import Handle
from scheduler.framework.status import SKIP, Status
from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk
from tests.scheduling.harness import DEADLINE

MakeDesk = Callable[..., Desk]
WAITING = 40
"""More pods than there are threads for quick bindings."""


class Patience:
    """Makes pods named ``slow-…`` wait until they are let go, called back, or the scheduler retires."""

    name = "Patience"
    began = threading.Semaphore(0)
    may_go = threading.Event()

    def __init__(self, args: Any, handle: Handle) -> None:
        self._live = handle.live
        type(self).began, type(self).may_go = threading.Semaphore(0), threading.Event()

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status | None:
        return None if cycle.pod.metadata.name.startswith("slow") else SKIP

    def pre_bind(self, cycle: Cycle, node: str) -> Status | None:
        self.began.release()
        while not self.may_go.is_set():
            if self._live.called_back(cycle.pod.metadata.uid) or not self._live.pause(0.01):
                return Status.failure(RuntimeError("gave up"))
        return None


def pod(name: str) -> PodBuilder:
    return make_pod(name).spec(schedulerName="default-scheduler")


def wait_for(began: int) -> None:
    """Wait until so many pods are in PreBind."""
    for _ in range(began):
        assert Patience.began.acquire(timeout=DEADLINE)


def test_pods_that_wait_hold_up_nobody(desk: MakeDesk) -> None:
    made = desk(Patience)
    made.put(make_node("n"), *(pod(f"slow-{number}") for number in range(WAITING)))
    made.step(WAITING)
    wait_for(WAITING)
    made.put(pod("quick"))
    made.run_until(lambda: made.ledger.bound)
    assert made.ledger.bound == [("quick", "n")]
    Patience.may_go.set()
    made.run_until(lambda: len(made.ledger.bound) == WAITING + 1)


def test_when_the_scheduler_retires_nobody_waits_on(desk: MakeDesk) -> None:
    made = desk(Patience)
    made.put(make_node("n"), pod("slow"))
    made.step()
    wait_for(1)
    made.scheduler.retire()
    assert made.ledger.bound == []


def test_plugins_see_pods_and_nodes_as_they_are_now(desk: MakeDesk) -> None:
    made = desk(Patience)
    live = made.scheduler._live
    made.put(make_node("n"), pod("p"))
    assert (live.pod("default", "p") is not None, live.node("n") is not None) == (True, True)
    made.remove("p", "n")
    assert (live.pod("default", "p"), live.node("n")) == (None, None)


def test_a_pod_that_is_preempted_meanwhile_is_called_back(desk: MakeDesk) -> None:
    made = desk(Patience)
    made.put(make_node("n"), pod("slow"))
    made.step()
    wait_for(1)
    uid = pod("slow").obj().metadata.uid
    assert made.scheduler._live.called_back.__self__.cancel(uid, "preempted by somebody")  # type: ignore[attr-defined]
    made.run_until(lambda: not made.cluster.is_assumed(uid))
    assert made.ledger.bound == []
