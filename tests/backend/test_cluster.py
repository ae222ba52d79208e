"""The cluster state: what counts on a node, through every way in which a pod comes and goes."""

from __future__ import annotations

import pytest

from scheduler.apis.objects import Pod
from scheduler.apis.quantity import QuantityError
from scheduler.backend.cluster import ClusterState
from scheduler.framework.pods import PodInfo
from tests.builders import make_node, make_pod


@pytest.fixture
def cluster() -> ClusterState:
    state = ClusterState()
    for name in ("a", "b"):
        state.add_node(make_node(name).capacity(cpu="4", memory="8Gi").obj())
    return state


def cpu(cluster: ClusterState, node: str) -> int:
    row = cluster.nodes.row_of(node)
    assert row is not None
    assert cluster.verify() == []
    return int(cluster.nodes.requested("cpu")[row])


def pod_on(node: str, cpu: str = "1", **status: object) -> Pod:
    return make_pod("p").req(cpu=cpu).node(node).status(**status).obj()


def waiting_pod() -> Pod:
    return make_pod("p").req(cpu="1").obj()


def test_an_assumed_pod_counts_at_once_and_carries_its_node(cluster: ClusterState) -> None:
    assumed = cluster.assume_pod(waiting_pod(), "a")
    assert assumed.spec.node_name == "a"
    assert cluster.is_assumed(assumed.metadata.uid)
    assert cluster.get_pod(assumed.metadata.uid) == assumed
    assert cpu(cluster, "a") == 1000


def test_an_assumed_pod_keeps_every_derived_fact(cluster: ClusterState) -> None:
    info = make_pod("p").req(cpu="1").host_port(80).info()
    cluster.assume_pod(info, "a")
    (assumed,) = cluster.pods()
    facts = [slot for slot in PodInfo.__slots__ if slot != "pod"]
    assert {fact: getattr(assumed, fact) for fact in facts} == {fact: getattr(info, fact) for fact in facts}


def test_a_forgotten_pod_leaves_nothing(cluster: ClusterState) -> None:
    uid = cluster.assume_pod(waiting_pod(), "a").metadata.uid
    assert cluster.forget_pod(uid)
    assert cpu(cluster, "a") == 0
    assert cluster.get_pod(uid) is None
    assert not cluster.is_assumed(uid)


def test_forgetting_twice_or_the_unknown_does_nothing(cluster: ClusterState) -> None:
    uid = cluster.assume_pod(waiting_pod(), "a").metadata.uid
    assert [cluster.forget_pod(uid), cluster.forget_pod(uid), cluster.forget_pod("unknown")] == [
        True,
        False,
        False,
    ]


def test_a_pod_is_not_assumed_twice(cluster: ClusterState) -> None:
    cluster.assume_pod(waiting_pod(), "a")
    with pytest.raises(ValueError, match="default/p is on a node already"):
        cluster.assume_pod(waiting_pod(), "b")
    assert (cpu(cluster, "a"), cpu(cluster, "b")) == (1000, 0)


def test_a_confirmed_pod_is_no_longer_assumed_and_cannot_be_forgotten(cluster: ClusterState) -> None:
    uid = cluster.assume_pod(waiting_pod(), "a").metadata.uid
    cluster.add_pod(pod_on("a"))
    assert not cluster.is_assumed(uid)
    assert not cluster.forget_pod(uid)
    assert cpu(cluster, "a") == 1000


def test_confirmation_brings_the_newest_state_to_the_node(cluster: ClusterState) -> None:
    cluster.assume_pod(waiting_pod(), "a")
    confirmed = pod_on("a", startTime="2026-01-01T00:00:00Z")
    cluster.add_pod(confirmed)
    row = cluster.nodes.row_of("a")
    assert row is not None
    assert [info.pod for info in cluster.nodes.pods(row)] == [confirmed]


def test_a_pod_confirmed_elsewhere_moves(cluster: ClusterState) -> None:
    cluster.assume_pod(waiting_pod(), "a")
    cluster.add_pod(pod_on("b"))
    assert (cpu(cluster, "a"), cpu(cluster, "b")) == (0, 1000)
    assert cluster.counts() == {"nodes": 2, "pods": 1, "assumed_pods": 0}


def test_an_update_recounts(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a", "1"))
    cluster.update_pod(pod_on("a", "1"), pod_on("a", "250m"))
    assert cpu(cluster, "a") == 250


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_a_pod_that_has_ended_holds_nothing(cluster: ClusterState, phase: str) -> None:
    cluster.add_pod(pod_on("a"))
    cluster.update_pod(pod_on("a"), pod_on("a", phase=phase))
    assert cpu(cluster, "a") == 0
    cluster.add_pod(pod_on("a", phase=phase))
    assert cluster.counts()["pods"] == 0


def test_a_deleted_pod_is_known_by_its_uid_alone(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a"))
    assert cluster.delete_pod(waiting_pod())
    assert cpu(cluster, "a") == 0
    assert not cluster.delete_pod(waiting_pod())


def test_deleting_an_assumed_pod_frees_its_node(cluster: ClusterState) -> None:
    uid = cluster.assume_pod(waiting_pod(), "a").metadata.uid
    assert cluster.delete_pod(pod_on("a"))
    assert cpu(cluster, "a") == 0
    assert not cluster.is_assumed(uid)


def test_missed_events_are_made_good(cluster: ClusterState) -> None:
    cluster.update_pod(pod_on("a"), pod_on("a", "2"))
    assert cpu(cluster, "a") == 2000
    cluster.add_pod(pod_on("a", "3"))
    assert cpu(cluster, "a") == 3000


def test_a_pod_recreated_under_its_name_replaces_the_old_one(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a"))
    reborn = make_pod("p").metadata(uid="another").req(cpu="2").node("b").obj()
    cluster.update_pod(pod_on("a"), reborn)
    assert (cpu(cluster, "a"), cpu(cluster, "b")) == (0, 2000)


def test_pods_wait_for_a_node_that_is_not_known_yet(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("later"))
    assert cluster.counts() == {"nodes": 3, "pods": 1, "assumed_pods": 0}
    assert cluster.verify() == []
    cluster.add_node(make_node("later").obj())
    assert cpu(cluster, "later") == 1000


def test_pods_of_a_deleted_node_come_back_with_it(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a"))
    assert cluster.delete_node(make_node("a").obj())
    assert not cluster.delete_node(make_node("a").obj())
    cluster.update_pod(pod_on("a"), pod_on("a", "2"))
    cluster.add_node(make_node("a").obj())
    assert cpu(cluster, "a") == 2000


def test_pods_of_a_deleted_node_go_one_by_one(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a"))
    cluster.delete_node(make_node("a").obj())
    assert cluster.counts()["nodes"] == 2
    cluster.delete_pod(pod_on("a"))
    assert cluster.counts() == {"nodes": 1, "pods": 0, "assumed_pods": 0}


def test_an_assumption_survives_the_node_and_can_still_be_forgotten(cluster: ClusterState) -> None:
    uid = cluster.assume_pod(waiting_pod(), "a").metadata.uid
    cluster.delete_node(make_node("a").obj())
    assert cluster.is_assumed(uid)
    assert cluster.forget_pod(uid)
    assert cluster.verify() == []


def test_a_node_update_keeps_its_pods(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a"))
    old, new = make_node("a").obj(), make_node("a").capacity(cpu="16").obj()
    cluster.update_node(old, new)
    row = cluster.nodes.row_of("a")
    assert cpu(cluster, "a") == 1000
    assert cluster.nodes.allocatable("cpu")[row] == 16000


@pytest.mark.parametrize("known", [False, True], ids=["unknown pod", "known pod"])
def test_an_unreadable_request_changes_nothing(cluster: ClusterState, known: bool) -> None:
    if known:
        cluster.add_pod(pod_on("a"))
    with pytest.raises(QuantityError):
        cluster.add_pod(pod_on("b", "lots"))
    assert (cpu(cluster, "a"), cpu(cluster, "b")) == (1000 if known else 0, 0)


def test_an_unreadable_node_changes_nothing(cluster: ClusterState) -> None:
    with pytest.raises(QuantityError):
        cluster.add_node(make_node("a").capacity(cpu="lots").obj())
    row = cluster.nodes.row_of("a")
    assert cluster.nodes.allocatable("cpu")[row] == 4000


def test_only_pods_with_a_node_are_added(cluster: ClusterState) -> None:
    with pytest.raises(ValueError, match="default/p is not assigned to a node"):
        cluster.add_pod(waiting_pod())


def test_sums_beyond_64_bits_wrap_around_and_come_back(cluster: ClusterState) -> None:
    row = cluster.nodes.row_of("a")
    for name in ("p", "q"):
        cluster.add_pod(make_pod(name).req(memory="7Ei").node("a").obj())
    assert cluster.nodes.requested("memory")[row] == 14 * 2**60 - 2**64
    assert cluster.verify() == []
    cluster.delete_pod(make_pod("p").obj())
    assert cluster.nodes.requested("memory")[row] == 7 * 2**60


def test_what_no_node_has_any_more_is_forgotten(cluster: ClusterState) -> None:
    for number in range(3000):
        cluster.add_node(make_node("a").label("build", str(number)).taint("build", str(number)).obj())
    assert len(cluster.nodes.label_values("build")) < 1500
    assert len(cluster.nodes.taint_sets) < 1500
    row = cluster.nodes.row_of("a")
    assert row is not None
    assert cluster.nodes.label_values("build")[int(cluster.nodes.label_ids("build")[row])] == "2999"


def test_verify_names_what_is_wrong(cluster: ClusterState) -> None:
    cluster.add_pod(pod_on("a"))
    cluster.nodes.requested("cpu")[cluster.nodes.row_of("a")] += 7
    assert cluster.verify() == ["node a: requested cpu is 1007, not 1000"]
