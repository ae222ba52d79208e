"""Schedulers that compete for a Lease on a real server."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from scheduler.client.election import ElectionTimes
from scheduler.client.leaderelection import LeaderCallbacks, LeaderElector
from scheduler.client.leases import LeaseLock
from scheduler.client.references import ObjectReference
from scheduler.client.resources import LEASES
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.client.conftest import DEADLINE, Cluster

PATIENT = ElectionTimes(lease_duration=15.0, renew_deadline=10.0, retry_period=0.02)
"""Candidates that a slow machine cannot make lose their lead."""
HASTY = ElectionTimes(lease_duration=1.0, renew_deadline=0.5, retry_period=0.02)
"""Candidates whose lease runs out soon, for tests in which it must."""
NAMESPACE, NAME = "kube-system", "kube-scheduler"
PATH = LEASES.object(NAMESPACE, NAME)


class Candidate:
    """An elector in a thread, with everything that happened to it."""

    def __init__(self, rest: Rest, identity: str, times: ElectionTimes = PATIENT, **options: Any) -> None:
        self.stop = threading.Event()
        self.leading = threading.Event()
        self.stopped = threading.Event()
        self.leaders: list[str] = []
        self.status: list[bool] = []
        self.recorded: list[str] = []
        self.slow_paths = 0
        self.order: list[str] = []
        self.finish_work = threading.Event()
        callbacks = LeaderCallbacks(
            on_started_leading=self._lead,
            on_stopped_leading=self.stopped.set,
            on_new_leader=self.leaders.append,
            on_status=self.status.append,
            on_lost=lambda: self.order.append("fenced"),
            on_slow_path=self._slow,
            record_event=self.recorded.append,
        )
        self.lock = LeaseLock(rest, NAMESPACE, NAME)
        self.elector = LeaderElector(self.lock, identity, callbacks, times=times, **options)
        self._thread = threading.Thread(target=self.elector.run, args=(self.stop,))
        self._thread.start()

    def _lead(self, lost: threading.Event) -> None:
        self.leading.set()
        while not lost.wait(0.01) and not self.finish_work.is_set():
            pass
        self.order.append("ended")

    def _slow(self) -> None:
        self.slow_paths += 1

    def end(self) -> None:
        self.stop.set()
        self._thread.join(DEADLINE)
        assert not self._thread.is_alive()


MakeCandidate = Callable[..., Candidate]


@pytest.fixture
def candidate(rest: Rest) -> Iterator[MakeCandidate]:
    made: list[Candidate] = []

    def make(identity: str, *times: ElectionTimes, **options: Any) -> Candidate:
        made.append(Candidate(rest, identity, *times, **options))
        return made[-1]

    yield make
    for each in made:
        each.end()


def lease(rest: Rest) -> dict[str, Any]:
    return msgspec.json.decode(rest.request("GET", PATH).body, type=dict[str, Any])


def test_one_of_two_leads_and_the_other_follows_when_it_goes(candidate: MakeCandidate, rest: Rest) -> None:
    first = candidate("first")
    assert first.leading.wait(DEADLINE)
    second = candidate("second")
    first.end()
    assert first.stopped.is_set()
    assert not first.elector.is_leader
    assert second.leading.wait(DEADLINE)
    spec = lease(rest)["spec"]
    assert (spec["holderIdentity"], spec["leaseTransitions"], spec["leaseDurationSeconds"]) == (
        "second",
        1,
        15,
    )
    assert first.status == [False, True, False]
    assert first.recorded == ["first became leader", "first stopped leading"]
    assert second.elector.leader == "second"
    assert second.leaders[-1] == "second"


def test_only_one_of_many_leads(candidate: MakeCandidate) -> None:
    many = [candidate(f"c{index}") for index in range(8)]
    pause = threading.Event()
    while any(each.elector.leader == "" for each in many):
        pause.wait(0.005)
    leaders = {each.elector.leader for each in many}
    assert len(leaders) == 1
    assert [each.elector.is_leader for each in many].count(True) == 1


def test_a_released_lease_is_nobodys_for_a_second(candidate: MakeCandidate, rest: Rest) -> None:
    only = candidate("only")
    assert only.leading.wait(DEADLINE)
    only.end()
    spec = lease(rest)["spec"]
    assert (spec["holderIdentity"], spec["leaseDurationSeconds"]) == ("", 1)


def test_events_can_point_at_the_very_lease(candidate: MakeCandidate, rest: Rest) -> None:
    only = candidate("only")
    assert only.leading.wait(DEADLINE)
    only.end()
    metadata = lease(rest)["metadata"]
    assert only.lock.reference() == ObjectReference(
        kind="Lease",
        namespace=NAMESPACE,
        name=NAME,
        uid=metadata["uid"],
        api_version="coordination.k8s.io/v1",
        resource_version=metadata["resourceVersion"],
    )


def test_without_release_the_lease_stays_ours_until_it_runs_out(candidate: MakeCandidate, rest: Rest) -> None:
    only = candidate("only", HASTY, release_on_cancel=False)
    assert only.leading.wait(DEADLINE)
    only.end()
    assert lease(rest)["spec"]["holderIdentity"] == "only"
    heir = candidate("heir")
    assert heir.leading.wait(DEADLINE)


@pytest.mark.parametrize("fault", [{"status": 500}, {"drop": "before"}], ids=["500", "no answer"])
def test_a_leader_that_cannot_renew_gives_up(
    candidate: MakeCandidate, sandbox: Sandbox, fault: dict[str, Any]
) -> None:
    leader = candidate("leader", HASTY)
    assert leader.leading.wait(DEADLINE)
    sandbox.faults.add(path="/leases", **fault)
    assert leader.stopped.wait(DEADLINE)
    assert leader.status == [False, True, False]


def test_a_leader_whose_lease_was_taken_gives_up(candidate: MakeCandidate, rest: Rest) -> None:
    leader = candidate("leader", HASTY)
    assert leader.leading.wait(DEADLINE)
    take_lease(rest, "thief")
    assert leader.stopped.wait(DEADLINE)
    assert leader.elector.leader == "thief"
    assert lease(rest)["spec"]["holderIdentity"] == "thief"
    assert leader.order[0] == "fenced"


def test_a_leader_that_is_asked_to_stop_is_not_fenced(candidate: MakeCandidate) -> None:
    leader = candidate("leader")
    assert leader.leading.wait(DEADLINE)
    leader.end()
    assert leader.order == ["ended"]


def test_another_seen_to_hold_the_lease_ends_it_before_the_renew_deadline(
    candidate: MakeCandidate, rest: Rest
) -> None:
    leader = candidate("leader", ElectionTimes(lease_duration=9999, renew_deadline=9998, retry_period=0.02))
    assert leader.leading.wait(DEADLINE)
    take_lease(rest, "thief")
    assert leader.stopped.wait(DEADLINE)


def test_a_coordinated_candidate_waits_until_the_lease_is_given_to_it(
    candidate: MakeCandidate, rest: Rest, cluster: Cluster
) -> None:
    waiting = candidate("me", coordinated=True)
    give_lease(cluster, "other")
    wait_for(lambda: waiting.leaders == ["other"])
    assert not waiting.leading.is_set()
    give = {"spec": {"holderIdentity": "me", "leaseTransitions": 7}}
    rest.request("PATCH", PATH, body=give, content_type="application/merge-patch+json")
    assert waiting.leading.wait(DEADLINE)
    wait_for(lambda: waiting.slow_paths > 1)
    spec = lease(rest)["spec"]
    assert (spec["holderIdentity"], spec["strategy"]) == ("me", "OldestEmulationVersion")
    assert spec["leaseTransitions"] == 7


def test_a_coordinated_leader_goes_when_its_term_is_over(
    candidate: MakeCandidate, rest: Rest, cluster: Cluster
) -> None:
    leader = candidate("me", coordinated=True)
    give_lease(cluster, "me")
    assert leader.leading.wait(DEADLINE)
    over = {"spec": {"preferredHolder": "other"}}
    wait_for(lambda: patched(rest, over))
    assert leader.stopped.wait(DEADLINE)
    assert leader.order == ["ended"]
    spec = lease(rest)["spec"]
    assert (spec["holderIdentity"], spec.get("preferredHolder")) == ("", None)


def patched(rest: Rest, patch: dict[str, Any]) -> bool:
    """Merge into the lease; whether the next look still finds it so, since the leader may write at the same time."""
    rest.request("PATCH", PATH, body=patch, content_type="application/merge-patch+json")
    return "preferredHolder" in lease(rest)["spec"] or not lease(rest)["spec"]["holderIdentity"]


def give_lease(cluster: Cluster, holder: str) -> None:
    """What the coordinator does."""
    spec = {
        "holderIdentity": holder,
        "leaseDurationSeconds": 60,
        "strategy": "OldestEmulationVersion",
        "leaseTransitions": 0,
    }
    cluster.create(LEASES.collection(NAMESPACE), {"metadata": {"name": NAME}, "spec": spec})


def wait_for(true: Callable[[], Any]) -> None:
    pause = threading.Event()
    while not true():
        pause.wait(0.005)


def test_who_holds_the_lease_is_told_apart_from_other_programs(candidate: MakeCandidate, rest: Rest) -> None:
    leader = candidate("leader")
    assert leader.leading.wait(DEADLINE)
    other = LeaseLock(rest, NAMESPACE, NAME)
    other.get(DEADLINE)
    assert other.held_by_our_kind
    take_lease(rest, "kube-scheduler")
    other.get(DEADLINE)
    assert not other.held_by_our_kind


def take_lease(rest: Rest, holder: str) -> None:
    patch = {"spec": {"holderIdentity": holder, "leaseDurationSeconds": 60}}
    rest.request("PATCH", PATH, body=patch, content_type="application/merge-patch+json")


def test_a_write_by_somebody_else_in_between_is_survived_and_kept(
    candidate: MakeCandidate, rest: Rest
) -> None:
    leader = candidate("leader")
    assert leader.leading.wait(DEADLINE)
    patch = {"metadata": {"labels": {"kept": "yes"}}}
    rest.request("PATCH", PATH, body=patch, content_type="application/merge-patch+json")
    renewed = lease(rest)["spec"]["renewTime"]
    pause = threading.Event()
    while leader.slow_paths == 0 or lease(rest)["spec"]["renewTime"] == renewed:
        assert not leader.stopped.is_set()
        pause.wait(0.005)
    assert leader.elector.is_leader
    assert lease(rest)["metadata"]["labels"] == {"kept": "yes"}


def test_a_server_that_is_down_for_less_than_the_renew_deadline(
    candidate: MakeCandidate, sandbox: Sandbox
) -> None:
    leader = candidate("leader")
    assert leader.leading.wait(DEADLINE)
    outage = sandbox.faults.add(path="/leases", status=500, times=6)
    pause = threading.Event()
    while outage.hits < 6:
        pause.wait(0.005)
    pause.wait(0.1)
    assert leader.elector.is_leader
    assert not leader.stopped.is_set()


def test_stopping_before_ever_leading(candidate: MakeCandidate, rest: Rest, cluster: Cluster) -> None:
    spec = {"holderIdentity": "other", "leaseDurationSeconds": 3600}
    cluster.create(LEASES.collection(NAMESPACE), {"metadata": {"name": NAME}, "spec": spec})
    waiting = candidate("waiting")
    pause = threading.Event()
    while waiting.leaders != ["other"]:
        pause.wait(0.005)
    waiting.end()
    assert waiting.stopped.is_set()
    assert not waiting.leading.is_set()
    assert lease(rest)["spec"]["holderIdentity"] == "other"


def test_the_lease_goes_when_the_work_ends_by_itself(candidate: MakeCandidate, rest: Rest) -> None:
    leader = candidate("leader")
    assert leader.leading.wait(DEADLINE)
    leader.finish_work.set()
    assert leader.stopped.wait(DEADLINE)
    assert lease(rest)["spec"]["holderIdentity"] == ""


def test_the_health_check_names_the_lease(rest: Rest) -> None:
    seconds = 0.0
    callbacks = LeaderCallbacks(on_started_leading=lambda lost: None, on_stopped_leading=lambda: None)
    elector = LeaderElector(
        LeaseLock(rest, NAMESPACE, NAME),
        "me",
        callbacks,
        times=HASTY,
        release_on_cancel=False,
        now=lambda: seconds,
    )
    elector.run(threading.Event())
    assert elector.is_leader
    assert elector.check() is None
    seconds = 22.0
    assert elector.check() == "failed election to renew leadership on lease kube-system/kube-scheduler"
