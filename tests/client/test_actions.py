"""Binding, patching and deleting pods, also when answers get lost."""

import pytest

from scheduler.client.actions import Actions
from scheduler.client.errors import ApiError, ConflictError, NotFoundError, ServerError, TransportError
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox
from tests.client.conftest import Cluster

BINDING = r"/binding$"


@pytest.fixture
def actions(rest: Rest, cluster: Cluster) -> Actions:
    for name in ("n1", "n2"):
        cluster.add_node(name)
    return Actions(rest, wait=lambda seconds: None)


def test_bind(actions: Actions, cluster: Cluster) -> None:
    actions.bind("default", "p", cluster.add_pod("p"), "n1")
    assert cluster.pod("p")["spec"]["nodeName"] == "n1"


@pytest.mark.parametrize("drop", ["before", "after"])
def test_a_bind_whose_answer_is_lost_succeeds_once(
    actions: Actions, cluster: Cluster, sandbox: Sandbox, drop: str
) -> None:
    uid = cluster.add_pod("p")
    sandbox.faults.add(method="POST", path=BINDING, drop=drop, times=1)  # type: ignore[arg-type]
    actions.bind("default", "p", uid, "n1")
    assert cluster.pod("p")["spec"]["nodeName"] == "n1"


def test_binding_again_to_the_same_node_is_success(actions: Actions, cluster: Cluster) -> None:
    uid = cluster.add_pod("p")
    actions.bind("default", "p", uid, "n1")
    actions.bind("default", "p", uid, "n1")


def test_a_pod_that_is_bound_elsewhere_is_a_conflict(actions: Actions, cluster: Cluster) -> None:
    uid = cluster.add_pod("p")
    actions.bind("default", "p", uid, "n1")
    with pytest.raises(ConflictError, match="pod default/p is bound to node n1"):
        actions.bind("default", "p", uid, "n2")
    assert cluster.pod("p")["spec"]["nodeName"] == "n1"


def test_a_pod_of_the_same_name_is_left_alone(actions: Actions, cluster: Cluster) -> None:
    cluster.add_pod("p")
    with pytest.raises(ConflictError):
        actions.bind("default", "p", "00000000-0000-0000-0000-000000000000", "n1")
    assert "nodeName" not in cluster.pod("p")["spec"]


def test_a_pod_that_is_gone(actions: Actions) -> None:
    with pytest.raises(NotFoundError):
        actions.bind("default", "nobody", "u", "n1")


def test_the_servers_failure_is_the_callers_matter(
    actions: Actions, cluster: Cluster, sandbox: Sandbox
) -> None:
    uid = cluster.add_pod("p")
    rule = sandbox.faults.add(method="POST", path=BINDING, status=500)
    with pytest.raises(ServerError):
        actions.bind("default", "p", uid, "n1")
    assert rule.hits == 1


def test_a_server_that_stays_silent_fails_the_bind(
    actions: Actions, cluster: Cluster, sandbox: Sandbox
) -> None:
    uid = cluster.add_pod("p")
    sandbox.faults.add(method="POST", path=BINDING, drop="before")
    with pytest.raises(TransportError):
        actions.bind("default", "p", uid, "n1")


def test_patch_pod_status_merges_conditions_by_type(actions: Actions, cluster: Cluster) -> None:
    cluster.add_pod("p")
    for reason in ("Unschedulable", "SchedulerError"):
        condition = {"type": "PodScheduled", "status": "False", "reason": reason}
        actions.patch_pod_status(
            "default", "p", {"status": {"conditions": [condition], "nominatedNodeName": "n2"}}
        )
    status = cluster.pod("p")["status"]
    assert status["nominatedNodeName"] == "n2"
    scheduled = [c["reason"] for c in status["conditions"] if c["type"] == "PodScheduled"]
    assert scheduled == ["SchedulerError"]


def test_an_empty_patch_is_not_sent(actions: Actions, sandbox: Sandbox) -> None:
    rule = sandbox.faults.add(method="PATCH", status=500)
    actions.patch_pod_status("default", "p", {})
    assert rule.hits == 0


@pytest.mark.parametrize(
    ("status", "failures", "tries"),
    [
        pytest.param(409, 3, 4, id="conflict"),
        pytest.param(500, 3, 4, id="internal error"),
        pytest.param(503, 3, 4, id="unavailable"),
    ],
)
def test_a_patch_is_tried_again(
    actions: Actions, cluster: Cluster, sandbox: Sandbox, status: int, failures: int, tries: int
) -> None:
    cluster.add_pod("p")
    sandbox.faults.add(method="PATCH", status=status, times=failures)
    sent = sandbox.faults.add(method="PATCH", delay=0.001)
    actions.patch_pod_status("default", "p", {"status": {"nominatedNodeName": "n1"}})
    assert sent.hits == tries - failures


@pytest.mark.parametrize(("status", "tries"), [(403, 1), (429, 1), (500, 4)])
def test_a_patch_is_given_up(
    actions: Actions, cluster: Cluster, sandbox: Sandbox, status: int, tries: int
) -> None:
    cluster.add_pod("p")
    rule = sandbox.faults.add(method="PATCH", status=status)
    with pytest.raises(ApiError):
        actions.patch_pod_status("default", "p", {"status": {"nominatedNodeName": "n1"}})
    assert rule.hits == tries


def test_delete_pod(actions: Actions, cluster: Cluster) -> None:
    uid = cluster.add_pod("p")
    with pytest.raises(ConflictError):
        actions.delete_pod("default", "p", "another-uid")
    actions.delete_pod("default", "p", uid)
    with pytest.raises(NotFoundError):
        cluster.pod("p")
