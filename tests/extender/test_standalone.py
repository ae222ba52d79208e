"""An application over given nodes and pods: the same verbs, without a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from extender import GivenError, GivenWorld, create_app
from tests.builders import make_node, make_pod
from tests.extender.builders import Binder, ask, by_name, framework

NODE = make_node("node-a").capacity(cpu="4").doc()
PENDING = make_pod("p").req(cpu="1").metadata(uid="u")
BIND = {"PodName": "p", "PodNamespace": "default", "PodUID": "u", "Node": "node-a"}


def test_documents_and_objects_are_both_taken() -> None:
    for node, pod in (
        (NODE, make_pod().req(cpu="4").node("node-a").doc()),
        (make_node("node-a").capacity(cpu="4").obj(), make_pod().req(cpu="4").node("node-a").obj()),
    ):
        client = create_app(framework(), [node], [pod]).test_client()
        assert ask(client, "/filter", by_name(PENDING.doc(), "node-a"))["FailedNodes"] == {
            "node-a": "Insufficient cpu"
        }


def test_several_profiles_and_the_first_of_them_by_default() -> None:
    profiles = [framework("bare", ("PrioritySort", "DefaultBinder")), framework("full")]
    client = create_app(profiles, [NODE]).test_client()
    big = by_name(make_pod().req(cpu="5").spec(schedulerName="full").doc(), "node-a")
    assert ask(client, "/profiles/bare/filter", big)["NodeNames"] == ["node-a"]
    assert ask(client, "/filter", big)["NodeNames"] == []
    other = by_name(make_pod().req(cpu="5").spec(schedulerName="other").doc(), "node-a")
    assert ask(client, "/filter", other)["NodeNames"] == ["node-a"]


def test_a_nominated_pod_keeps_its_room() -> None:
    first = make_pod("first").req(cpu="4").priority(9).nominated("node-a").doc()
    client = create_app(framework(), [NODE], [first]).test_client()
    assert ask(client, "/filter", by_name(PENDING.doc(), "node-a"))["NodeNames"] == []


def test_a_pod_without_a_uid_gets_one() -> None:
    pods: list[Any] = [make_pod(name).req(cpu="2").node("node-a").metadata(uid="").doc() for name in "ab"]
    client = create_app(framework(), [NODE], pods).test_client()
    assert ask(client, "/filter", by_name(PENDING.doc(), "node-a"))["NodeNames"] == []


def test_binding_says_why_it_cannot() -> None:
    client = create_app(framework(), [NODE], [PENDING.obj()]).test_client()
    assert ask(client, "/bind", BIND) == {
        "Error": "there is no cluster behind this webhook, only the nodes and pods that it was given"
    }


def test_a_binder_of_ones_own_binds() -> None:
    binder = Binder()
    client = create_app(framework(), [NODE], [PENDING.obj()], binder=binder).test_client()
    assert ask(client, "/bind", BIND) == {"Error": ""}
    assert binder.bound == [("default", "p", "u", "node-a")]


@pytest.mark.parametrize(
    ("nodes", "pods", "told"),
    [
        pytest.param(
            [make_node("n").capacity(cpu="x").doc()], [], "Node 'n': quantities must match", id="amount"
        ),
        pytest.param([{"spec": 1}], [], "Node without a name: Expected `object`, got `int`", id="no node"),
        pytest.param(
            [], [{"metadata": []}], "Pod without a name: Expected `object`, got `array`", id="no pod"
        ),
        pytest.param(
            [],
            [make_pod("p", "ns").req(cpu="x").node("n").doc()],
            "Pod 'p': quantities must match",
            id="amount of a pod",
        ),
    ],
)
def test_what_cannot_be_used_is_named(nodes: Any, pods: Any, told: str) -> None:
    with pytest.raises(GivenError) as caught:
        GivenWorld([framework()], nodes, pods)
    assert str(caught.value).startswith(told)
