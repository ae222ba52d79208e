"""Replicas: one schedules, the other takes over; a lost lease ends the process with 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.client.resources import LEASES
from scheduler.sandbox import Sandbox
from tests.builders import make_node, make_pod
from tests.scheduling.harness import Observer, Running, objects

Start = Callable[..., Running]

ELECTED = {
    "leaderElection": {
        "leaderElect": True,
        "leaseDuration": "2s",
        "renewDeadline": "1500ms",
        "retryPeriod": "200ms",
    }
}


def pod(name: str) -> Any:
    return make_pod(name).container({"cpu": "1"}, name="c", image="pause")


def holder(observer: Observer) -> str:
    leases = observer.leases()
    return str(leases[0]["spec"].get("holderIdentity", "")) if leases else ""


def test_the_second_replica_takes_over_where_the_first_stopped(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(make_node("n").capacity(cpu="10"), pod("first")))
    one = scheduler(config=ELECTED)
    observer.wait_bound("first")
    leader = holder(observer)
    two = scheduler(config=ELECTED)
    assert one.stop() == 0
    observer.wait(lambda: holder(observer) not in ("", leader))
    sandbox.load(objects(pod("second")))
    observer.wait_bound("second")
    assert [name for name, _ in observer.bindings] == ["first", "second"]
    assert two.stop() == 0
    observer.wait(lambda: holder(observer) == "", "the lease to be given back")


def test_a_replica_that_waits_keeps_its_state_current(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    sandbox.load(objects(make_node("n").capacity(cpu="10"), pod("first")))
    scheduler(config=ELECTED)
    observer.wait_bound("first")
    waiting = scheduler(config=ELECTED)
    waiting.wait_ready()
    with waiting.setup.scheduler.current() as state:
        assert [len(state.nodes), int(state.nodes.pod_count[0])] == [1, 1]
    waiting.stop()
    assert waiting.setup.scheduler.cluster.verify() == []


def test_a_replica_may_leave_the_cluster_alone_until_it_leads(
    sandbox: Sandbox, observer: Observer, scheduler: Start
) -> None:
    delayed = {**ELECTED, "delayCacheUntilActive": True}
    sandbox.load(objects(make_node("n").capacity(cpu="10"), pod("first")))
    one = scheduler(config=delayed)
    observer.wait_bound("first")
    two = scheduler(config=delayed)
    assert str(two.setup.process.unsynced()).startswith("not synced yet: nodes, pods")
    one.stop()
    two.wait_ready()
    sandbox.load(objects(pod("second")))
    observer.wait_bound("second")


def test_a_lost_lease_ends_the_process(sandbox: Sandbox, observer: Observer, scheduler: Start) -> None:
    sandbox.load(objects(make_node("n").capacity(cpu="10"), pod("first")))
    running = scheduler(config=ELECTED)
    observer.wait_bound("first")
    sandbox.faults.add(path=LEASES.collection("kube-system"), status=403)
    assert running.wait_for_end() == 1
