"""With ``nodeCacheCapable: false`` the caller sends its nodes, and they are judged as it sees them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.builders import NodeBuilder, make_node, make_pod
from tests.extender.builders import HandMadeWorld, ask, client, in_full, world

POD = make_pod().req(cpu="2").doc()


def roomy(version: str = "1") -> NodeBuilder:
    return make_node("node-a").capacity(cpu="4", memory="8Gi").metadata(resourceVersion=version)


@pytest.fixture
def made() -> HandMadeWorld:
    """One node with 4 CPUs, a pod on it that takes one."""
    made = world(roomy().obj())
    made.add_pods(make_pod("running").req(cpu="1").node("node-a").obj())
    return made


def judged(made: HandMadeWorld, *nodes: NodeBuilder, pod: Any = POD) -> Any:
    return ask(client(made), "/filter", in_full(pod, *(node.doc() for node in nodes)))


def fitting(answer: Any) -> list[str]:
    return [node["metadata"]["name"] for node in answer["Nodes"]["items"]]


def test_the_form_of_the_request_is_the_form_of_the_answer(made: HandMadeWorld) -> None:
    answer = judged(made, roomy())
    assert answer["NodeNames"] is None
    assert answer["Nodes"] == {"metadata": {}, "items": [roomy().doc()]}


@pytest.mark.parametrize(
    ("node", "failed", "unresolvable"),
    [
        pytest.param(roomy("2").capacity(cpu="2500m"), "Insufficient cpu", None, id="less to give"),
        pytest.param(roomy("2").unschedulable(), None, "node(s) were unschedulable", id="cordoned"),
        pytest.param(roomy("2").taint("a"), None, "node(s) had untolerated taint(s)", id="tainted"),
    ],
)
def test_a_node_that_looks_otherwise_here_is_judged_as_sent(
    made: HandMadeWorld, node: NodeBuilder, failed: str | None, unresolvable: str | None
) -> None:
    answer = judged(made, node)
    assert answer["FailedNodes"].get("node-a") == failed
    assert answer["FailedAndUnresolvableNodes"].get("node-a") == unresolvable


def test_what_was_sent_leaves_the_cluster_state_alone(made: HandMadeWorld) -> None:
    assert fitting(judged(made, roomy("2").capacity(cpu="64").label("zone", "z"))) == ["node-a"]
    assert made.cluster.nodes.objects[0] == roomy().obj()
    assert made.cluster.nodes.label_ids("zone").tolist() == [0]
    assert made.cluster.verify() == []
    assert fitting(judged(made, roomy(), pod=make_pod().req(cpu="4").doc())) == []


def test_the_version_that_is_known_is_not_decoded(made: HandMadeWorld) -> None:
    same_version_other_content = roomy().capacity(cpu="64")
    assert fitting(judged(made, same_version_other_content, pod=make_pod().req(cpu="10").doc())) == []


def test_labels_that_only_the_caller_has_seen_count(made: HandMadeWorld) -> None:
    pod = make_pod().node_selector({"disk": "ssd"}).doc()
    assert fitting(judged(made, roomy(), pod=pod)) == []
    assert fitting(judged(made, roomy("2").label("disk", "ssd"), pod=pod)) == ["node-a"]


def test_an_unknown_node_is_judged_as_sent(made: HandMadeWorld) -> None:
    new = make_node("node-new").capacity(cpu="2")
    small = make_node("node-small").capacity(cpu="1")
    answer = judged(made, small, roomy(), new)
    assert fitting(answer) == ["node-a", "node-new"]
    assert answer["FailedNodes"] | answer["FailedAndUnresolvableNodes"] == {"node-small": "Insufficient cpu"}


def test_a_cluster_that_is_unknown_altogether_is_judged_as_sent() -> None:
    assert fitting(judged(world(), roomy())) == ["node-a"]


def test_a_node_with_an_unreadable_quantity_fails_alone(made: HandMadeWorld) -> None:
    answer = judged(made, make_node("odd").capacity(cpu="four"), roomy())
    assert fitting(answer) == ["node-a"]
    assert list(answer["FailedNodes"]) == ["odd"]
    assert answer["FailedNodes"]["odd"].startswith("node cannot be read: status.allocatable.cpu: 'four': ")


def test_a_new_version_with_the_same_content_costs_no_copy(
    made: HandMadeWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("extender.scene.NodeTable.copy_of", None)
    assert fitting(judged(made, roomy("2"))) == ["node-a"]


def test_the_list_is_echoed_as_it_came(made: HandMadeWorld) -> None:
    odd = b'{ "metadata" : {"name":"node-a", "resourceVersion":"1"}, "unknown": [ 1.50, "\\u003c" ]}'
    body = b'{"Pod":{},"Nodes":{"metadata":{"resourceVersion":"7"},"items":[' + odd + b']},"NodeNames":null}'
    answer = client(made).post("/filter", data=body, content_type="application/json")
    assert b'"Nodes":{"metadata":{"resourceVersion":"7"},"items":[' + odd + b"]}" in answer.data


def test_prioritize_rates_nodes_as_sent(made: HandMadeWorld) -> None:
    nodes = [roomy("2").capacity(cpu="4"), make_node("node-new").capacity(cpu="400", memory="800Gi")]
    answer = ask(client(made), "/prioritize", in_full(POD, *(node.doc() for node in nodes)))
    assert [entry["Host"] for entry in answer] == ["node-a", "node-new"]
    assert answer[0]["Score"] < answer[1]["Score"]


def test_a_null_list_is_an_empty_one(made: HandMadeWorld) -> None:
    body = json.dumps({"Pod": POD, "Nodes": {"metadata": {}, "items": None}}).encode()
    assert ask(client(made), "/filter", body)["Nodes"] == {"metadata": {}, "items": []}


# Bodies so large that they get memory of their own

LARGE = "x" * (5 << 20)


def test_large_nodes_come_back_as_they_were_sent(made: HandMadeWorld) -> None:
    nodes = [
        roomy().doc(),
        make_node("node-b").capacity(cpu="1").metadata(annotations={"large": LARGE}).doc(),
    ]
    answer = client(made).post("/filter", data=json.dumps({"Pod": POD, "Nodes": {"items": nodes}}))
    assert answer.json["Nodes"] == {"metadata": {}, "items": nodes[:1]}
    assert list(answer.json["FailedAndUnresolvableNodes"]) == ["node-b"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        pytest.param(" " * (5 << 20), "the request body is empty", id="blank"),
        pytest.param(f'{{"Pod": "{LARGE}', "the request body is not a JSON object", id="cut off"),
    ],
)
def test_large_bodies_that_are_no_good(made: HandMadeWorld, body: str, told: str) -> None:
    answer = client(made).post("/filter", data=body)
    assert answer.status_code == 200
    assert answer.json["Error"].startswith(told)
