"""What a real kube-scheduler 1.36.2 sent, byte for byte, gets answers in the shapes that it reads."""

from __future__ import annotations

import json

import pytest

from scheduler.apis.objects import Node, convert
from tests.extender.builders import Binder, HandMadeWorld, ask, client, recorded, world

FILTERS_BY_NAME = {
    "001-cct-basic-filter": ["node-a", "node-c", "node-b"],
    "067-rich-cct-filter": ["node-a", "node-b"],
    "073-name-affinity-filter": ["node-c"],
    "074-nodename-order-filter": ["node-c", "node-a", "node-b"],
    "075-nodename-order-filter": ["node-a", "node-b", "node-c"],
    "076-nodename-order-filter": ["node-c", "node-b", "node-a"],
    "081-chain-fail-filter": ["node-a", "node-b", "node-c"],
}
FILTERS_IN_FULL = ["004-ccf-basic-filter", "070-rich-ccf-filter", "086-preempt-ccf-filter"]
PRIORITIES = {
    "002-cct-basic-prioritize": ["node-a", "node-c", "node-b"],
    "005-ccf-basic-prioritize": ["node-a", "node-b", "node-c"],
    "068-rich-cct-prioritize": ["node-a", "node-b"],
    "071-rich-ccf-prioritize": ["node-a", "node-b"],
}
BINDINGS = {
    "003-cct-basic-bind": ("default", "p1", "4809db30-0e85-480b-83cf-c8ed50edf319", "node-b"),
    "064-bind-not-managed-bind": ("default", "p2", "edbf3da8-a896-4c78-a864-089f2dac9cb0", "node-a"),
    "072-rich-ccf-bind": ("default", "rich", "df797c03-23c7-43df-be1d-bb8cad72fec5", "node-b"),
}


@pytest.fixture
def lab() -> HandMadeWorld:
    """The three nodes of the recordings."""
    items = json.loads(recorded("004-ccf-basic-filter"))["Nodes"]["items"]
    return world(*(convert(Node, item) for item in items))


@pytest.mark.parametrize(("name", "fitting"), FILTERS_BY_NAME.items(), ids=FILTERS_BY_NAME.keys())
def test_filter_by_name_keeps_the_order_sent(lab: HandMadeWorld, name: str, fitting: list[str]) -> None:
    assert ask(client(lab), "/filter", recorded(name)) == {
        "Nodes": None,
        "NodeNames": fitting,
        "FailedNodes": {},
        "FailedAndUnresolvableNodes": {},
        "Error": "",
    }


@pytest.mark.parametrize("name", FILTERS_IN_FULL)
def test_filter_in_full_repeats_the_nodes_byte_for_byte(lab: HandMadeWorld, name: str) -> None:
    body = recorded(name)
    answer = client(lab).post("/filter", data=body, content_type="application/json")
    nodes = body[body.index(b'"Nodes":') : body.rindex(b',"NodeNames":null}')]
    assert answer.data == (
        b"{" + nodes + b',"NodeNames":null,"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""}'
    )


def test_a_resource_that_no_node_has_fails_every_node(lab: HandMadeWorld) -> None:
    answer = ask(client(lab), "/filter", recorded("065-managed-ignored-filter"))
    reason = "Insufficient example.com/gpu"
    assert answer["NodeNames"] == []
    assert answer["FailedNodes"] | answer["FailedAndUnresolvableNodes"] == dict.fromkeys(
        ["node-a", "node-b", "node-c"], reason
    )


@pytest.mark.parametrize(("name", "hosts"), PRIORITIES.items(), ids=PRIORITIES.keys())
def test_prioritize_scores_every_node_sent(lab: HandMadeWorld, name: str, hosts: list[str]) -> None:
    answer = ask(client(lab), "/prioritize", recorded(name))
    assert [entry["Host"] for entry in answer] == hosts
    assert all(type(entry["Score"]) is int and 0 <= entry["Score"] <= 10 for entry in answer)


def test_prioritize_prefers_what_the_pod_prefers(lab: HandMadeWorld) -> None:
    answer = ask(client(lab), "/prioritize", recorded("068-rich-cct-prioritize"))
    scores = {entry["Host"]: entry["Score"] for entry in answer}
    assert scores["node-b"] > scores["node-a"]


@pytest.mark.parametrize(("name", "bound"), BINDINGS.items(), ids=BINDINGS.keys())
def test_bind_binds(lab: HandMadeWorld, name: str, bound: tuple[str, str, str, str]) -> None:
    binder = Binder()
    assert ask(client(lab, binder), "/bind", recorded(name)) == {"Error": ""}
    assert binder.bound == [bound]
