"""Lists: selectors, pages, versions."""

from __future__ import annotations

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import NODES, PODS, Rest, labelled, node, pod


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("app=web", ["a", "b"]),
        ("app!=web", ["c", "d"]),
        ("app in (web,db)", ["a", "b", "c"]),
        ("app notin (web)", ["c", "d"]),
        ("tier", ["b"]),
        ("!app", ["d"]),
        ("app=web,tier=1", ["b"]),
    ],
)
def test_label_selectors(sandbox: Sandbox, rest: Rest, selector: str, names: list[str]) -> None:
    sandbox.load(
        [labelled("a", app="web"), labelled("b", app="web", tier="1"), labelled("c", app="db"), pod("d")]
    )
    assert rest.get(PODS, labelSelector=selector).names == names


@pytest.mark.parametrize(
    ("selector", "names"),
    [
        ("spec.nodeName=n1", ["a"]),
        ("spec.nodeName=", ["b", "c"]),
        ("spec.nodeName!=n1", ["b", "c"]),
        ("metadata.name=b", ["b"]),
        ("spec.schedulerName=other", ["c"]),
        ("status.phase=Pending,spec.restartPolicy=Never", ["b"]),
    ],
)
def test_field_selectors_of_pods(sandbox: Sandbox, rest: Rest, selector: str, names: list[str]) -> None:
    sandbox.load([pod("a", nodeName="n1"), pod("b", restartPolicy="Never"), pod("c", schedulerName="other")])
    assert rest.get("/api/v1/pods", fieldSelector=selector).names == names


def test_field_selectors_of_nodes_and_events(sandbox: Sandbox, rest: Rest) -> None:
    cordoned = node("n2") | {"spec": {"unschedulable": True}}
    about = {"kind": "Pod", "name": "a", "namespace": "default"}
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"name": "e"},
        "involvedObject": about,
        "reason": "Scheduled",
    }
    sandbox.load([node(), cordoned, event])
    assert rest.get(NODES, fieldSelector="spec.unschedulable=true").names == ["n2"]
    assert rest.get(NODES, fieldSelector="spec.unschedulable=false").names == ["n1"]
    assert rest.get("/api/v1/events", fieldSelector="involvedObject.name=a,reason=Scheduled").names == ["e"]
    events = "/apis/events.k8s.io/v1/events"
    assert rest.get(events, fieldSelector="regarding.name=b").names == []


@pytest.mark.parametrize(
    "query",
    [
        {"fieldSelector": "spec.foo=1"},
        {"labelSelector": "a=b=c"},
        {"resourceVersion": "x"},
        {"limit": "x"},
        {"continue_": "x"},
    ],
)
def test_bad_queries(rest: Rest, query: dict[str, str]) -> None:
    assert rest.get(PODS, **query).status == 400


def test_pages_show_one_moment(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node(f"n{number}") for number in range(5)])
    first = rest.get(NODES, limit=2).body
    assert first["metadata"]["remainingItemCount"] == 3
    sandbox.load([node("n31")])
    rest.delete(f"{NODES}/n3")
    names, token = [item["metadata"]["name"] for item in first["items"]], first["metadata"]["continue"]
    while token:
        page = rest.get(NODES, limit=2, continue_=token)
        names += page.names
        assert page.body["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]
        token = page.body["metadata"].get("continue")
    assert names == ["n0", "n1", "n2", "n3", "n4"]


def test_a_token_expires_with_the_history(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node(f"n{number}") for number in range(3)])
    token = rest.get(NODES, limit=1).body["metadata"]["continue"]
    sandbox.load([node("n9")])
    sandbox.compact()
    reply = rest.get(NODES, limit=1, continue_=token)
    assert (reply.status, reply.body["reason"]) == (410, "Expired")


def test_an_exact_version_is_a_look_back(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([node("n1")])
    version = rest.get(NODES).body["metadata"]["resourceVersion"]
    rest.patch(f"{NODES}/n1", {"spec": {"unschedulable": True}})
    sandbox.load([node("n2")])
    old = rest.get(NODES, resourceVersion=version, resourceVersionMatch="Exact")
    assert old.names == ["n1"]
    assert old.body["items"][0]["spec"] == {}
    assert rest.get(NODES, resourceVersion=version, resourceVersionMatch="NotOlderThan").names == ["n1", "n2"]
    sandbox.compact()
    assert rest.get(NODES, resourceVersion=version, resourceVersionMatch="Exact").status == 410


def test_the_future_is_not_served(rest: Rest) -> None:
    reply = rest.get(PODS, resourceVersion="999999")
    assert (reply.status, reply.body["reason"]) == (504, "Timeout")
    assert reply.body["details"]["causes"][0]["reason"] == "ResourceVersionTooLarge"
    assert reply.headers["Retry-After"] == "1"


def test_list_items_carry_no_kind(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    body = rest.get(PODS).body
    assert (body["kind"], body["apiVersion"]) == ("PodList", "v1")
    assert list(body["items"][0])[:1] == ["metadata"]


def test_metadata_only(sandbox: Sandbox, rest: Rest) -> None:
    sandbox.load([pod()])
    accept = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
    body = rest.get(PODS, accept=accept).body
    assert body["kind"] == "PartialObjectMetadataList"
    assert set(body["items"][0]) == {"kind", "apiVersion", "metadata"}
