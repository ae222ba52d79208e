"""Binding: the moment a pod gets its node, and everything that refuses it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import PODS, Rest, binding, node, pod


def test_a_binding_sets_node_and_condition(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    rest.patch(f"{PODS}/a/status", {"status": {"nominatedNodeName": "n9"}})
    reply = rest.post(f"{PODS}/a/binding", binding("a", "n1"))
    assert (reply.status, reply.body["status"]) == (201, "Success")
    bound = rest.get(f"{PODS}/a").body
    assert bound["spec"]["nodeName"] == "n1"
    assert "nominatedNodeName" not in bound["status"]
    condition = bound["status"]["conditions"][0]
    assert (condition["type"], condition["status"]) == ("PodScheduled", "True")


def test_the_old_collection_binds_too(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    assert rest.post("/api/v1/namespaces/default/bindings", binding("a", "n1")).status == 201
    assert rest.get(f"{PODS}/a").body["spec"]["nodeName"] == "n1"


def test_labels_and_annotations_come_along(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    rest.post(f"{PODS}/a/binding", binding("a", "n1", annotations={"x": "1"}, labels={"zone": "z"}))
    meta = rest.get(f"{PODS}/a").body["metadata"]
    assert (meta["annotations"], meta["labels"]) == ({"x": "1"}, {"zone": "z"})


def test_a_bound_pod_is_refused(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    rest.post(f"{PODS}/a/binding", binding("a", "n1"))
    reply = rest.post(f"{PODS}/a/binding", binding("a", "n2"))
    assert (reply.status, reply.body["reason"]) == (409, "Conflict")
    assert reply.body["message"] == (
        'Operation cannot be fulfilled on pods/binding "a": pod a is already assigned to node "n1"'
    )


def test_a_gated_pod_is_refused(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod(schedulingGates=[{"name": "example.org/wait"}])])
    reply = rest.post(f"{PODS}/a/binding", binding("a", "n1"))
    assert (reply.status, "non-empty .spec.schedulingGates" in reply.body["message"]) == (409, True)


def test_a_dying_pod_is_refused(sandbox: Sandbox, rest: Rest) -> None:
    made = pod()
    made["metadata"]["finalizers"] = ["example.org/hold"]
    sandbox.load([made])
    rest.delete(f"{PODS}/a")
    reply = rest.post(f"{PODS}/a/binding", binding("a", "n1"))
    assert (reply.status, "is being deleted" in reply.body["message"]) == (409, True)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (binding("a", ""), 422),
        (binding("b", "n1"), 400),
        (binding("a", "n1", uid="other"), 409),
        (binding("a", "n1", resourceVersion="1"), 409),
        ({"target": {"kind": "Pod", "name": "x"}}, 422),
        ({"kind": "Pod"}, 400),
        ({"target": 3}, 400),
        ({"metadata": {"name": ["a"]}, "target": {"name": "n1"}}, 400),
        (b"nonsense", 400),
    ],
    ids=[
        "no target",
        "other name",
        "other uid",
        "old version",
        "no node",
        "no binding",
        "bad target",
        "bad name",
        "no json",
    ],
)
def test_bad_bindings_change_nothing(sandbox: Sandbox, rest: Rest, body: Any, status: int) -> None:
    sandbox.load([pod()])
    assert rest.post(f"{PODS}/a/binding", body).status == status
    assert "nodeName" not in rest.get(f"{PODS}/a").body["spec"]


def test_a_missing_pod(rest: Rest) -> None:
    assert rest.post(f"{PODS}/a/binding", binding("a", "n1")).status == 404


def test_of_many_binders_one_wins(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node(), *(pod(f"p{number}") for number in range(20))])

    def race(target: str) -> list[int]:
        with Rest(sandbox.url) as client:
            names = [f"p{number}" for number in range(20)]
            return [client.post(f"{PODS}/{name}/binding", binding(name, target)).status for name in names]

    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(race, ["n1", "n2", "n3", "n4"]))
    assert all(sorted(column) == [201, 409, 409, 409] for column in zip(*outcomes, strict=True))


def test_the_nodes_zone_and_region_become_labels_of_the_pod(sandbox: Sandbox, rest: Rest) -> None:
    place = {"topology.kubernetes.io/zone": "z1", "topology.kubernetes.io/region": "r1"}
    sandbox.load([node("n1", labels={**place, "other": "x"}), pod("a"), pod("b", nodeName="n1")])
    rest.post(f"{PODS}/a/binding", {"target": {"kind": "Node", "name": "n1"}})
    assert [rest.get(f"{PODS}/{name}").body["metadata"]["labels"] for name in ("a", "b")] == [place, place]
