"""Queueing hints: which changes may lower the skew of a pod that was refused."""

from __future__ import annotations

import pytest

from scheduler.framework.events import ActionType, EventResource, QueueingHint
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.plugins.pod_topology_spread.world import (
    ZONE,
    hard,
    host,
    make_spread,
    soft,
    spread,
    web,
)

DB = {"matchLabels": {"tier": "db"}}
ZONED = spread(hard())
BOTH = spread(hard(), hard("rack", selector=DB))
HONORING = spread(hard(nodeTaintsPolicy="Honor"))
UNREADABLE = spread(hard(selector={"matchExpressions": [{"key": "a", "operator": "Near"}]}))
QUEUE, SKIP = True, False

Side = PodBuilder | NodeBuilder | None


def worth(pod: PodBuilder, resource: EventResource, old: Side, new: Side) -> bool:
    """Whether the change brings the pod back."""
    registered = make_spread().events_to_register()
    hint = next(each.hint for each in registered if each.event.resource is resource)
    answer = hint(pod.obj(), None if old is None else old.obj(), None if new is None else new.obj())
    return answer is QueueingHint.QUEUE


def on(pod: PodBuilder) -> PodBuilder:
    """The pod, on a node."""
    return pod.node("n")


def running(namespace: str = "default", **labels: str) -> PodBuilder:
    """Another pod that runs."""
    return on(make_pod("other", namespace).labels(labels))


def refused(**labels: str) -> PodBuilder:
    """The refused pod with other labels."""
    return make_pod("incoming").labels(labels)


def test_events() -> None:
    registered = {each.event.resource: each.event.action for each in make_spread().events_to_register()}
    assert registered == {
        EventResource.POD: ActionType.ADD
        | ActionType.DELETE
        | ActionType.UPDATE_POD_LABEL
        | ActionType.UPDATE_POD_TOLERATION,
        EventResource.NODE: ActionType.ADD
        | ActionType.DELETE
        | ActionType.UPDATE_NODE_LABEL
        | ActionType.UPDATE_NODE_TAINT,
    }


@pytest.mark.parametrize("gone", [False, True], ids=["came", "went"])
@pytest.mark.parametrize(
    ("pod", "other", "expected"),
    [
        pytest.param(ZONED, running(app="web"), QUEUE, id="it matches"),
        pytest.param(ZONED, running(app="db"), SKIP, id="it does not match"),
        pytest.param(ZONED, running("elsewhere", app="web"), SKIP, id="in another namespace"),
        pytest.param(ZONED, web("other"), SKIP, id="on no node"),
        pytest.param(ZONED, web("other").nominated("n"), QUEUE, id="nominated to one"),
        pytest.param(BOTH, running(tier="db"), QUEUE, id="it matches one of two"),
        pytest.param(spread(soft()), running(app="web"), SKIP, id="soft constraints refuse nothing"),
        pytest.param(UNREADABLE, running(app="web"), QUEUE, id="unreadable constraints are tried again"),
        pytest.param(UNREADABLE, running("elsewhere", app="web"), SKIP, id="though not for strangers"),
    ],
)
def test_a_pod_came_or_went(pod: PodBuilder, other: PodBuilder, gone: bool, expected: bool) -> None:
    old, new = (other, None) if gone else (None, other)
    assert worth(pod, EventResource.POD, old, new) is expected


@pytest.mark.parametrize(
    ("pod", "old", "new", "expected"),
    [
        pytest.param(ZONED, running(), running(app="web"), QUEUE, id="it matches now"),
        pytest.param(ZONED, running(app="web"), running(), QUEUE, id="it matches no longer"),
        pytest.param(ZONED, running(app="db"), running(app="mq"), SKIP, id="it matches as little as before"),
        pytest.param(ZONED, running(app="web"), running(app="web", a="b"), SKIP, id="it matches as before"),
        pytest.param(ZONED, running(app="web"), running(app="web"), SKIP, id="its labels stayed"),
        pytest.param(
            BOTH, running(app="web"), running(app="web", tier="db"), QUEUE, id="the second constraint"
        ),
        pytest.param(ZONED, running("x"), running("x", app="web"), SKIP, id="in another namespace"),
        pytest.param(ZONED, make_pod("other"), web("other"), SKIP, id="on no node"),
        pytest.param(ZONED, refused(app="web"), refused(), QUEUE, id="the pod itself matches no longer"),
        pytest.param(ZONED, refused(), refused(a="b"), SKIP, id="the pod itself, another label"),
        pytest.param(
            HONORING, refused(), refused().toleration("gpu"), QUEUE, id="it tolerates a taint that counts"
        ),
        pytest.param(ZONED, refused(), refused().toleration("gpu"), SKIP, id="taints do not count"),
        pytest.param(HONORING, running(), running().toleration("gpu"), SKIP, id="another pod tolerates"),
        pytest.param(UNREADABLE, running(), running(), QUEUE, id="unreadable constraints are tried again"),
    ],
)
def test_a_pod_changed(pod: PodBuilder, old: PodBuilder, new: PodBuilder, expected: bool) -> None:
    assert worth(pod, EventResource.POD, old, new) is expected


RACKED = host("n", "a").label("rack", "r")


@pytest.mark.parametrize("gone", [False, True], ids=["came", "went"])
@pytest.mark.parametrize(
    ("pod", "node", "expected"),
    [
        pytest.param(ZONED, host("n", "a"), QUEUE, id="with the key"),
        pytest.param(ZONED, host("n"), SKIP, id="without it"),
        pytest.param(BOTH, host("n", "a"), SKIP, id="with one of two"),
        pytest.param(BOTH, RACKED, QUEUE, id="with both"),
        pytest.param(UNREADABLE, host("n"), QUEUE, id="unreadable constraints are tried again"),
        pytest.param(spread(soft()), host("n"), QUEUE, id="without constraints every node has all keys"),
    ],
)
def test_a_node_came_or_went(pod: PodBuilder, node: NodeBuilder, gone: bool, expected: bool) -> None:
    old, new = (node, None) if gone else (None, node)
    assert worth(pod, EventResource.NODE, old, new) is expected


@pytest.mark.parametrize(
    ("pod", "old", "new", "expected"),
    [
        pytest.param(ZONED, host("n"), host("n", "a"), QUEUE, id="it got the key"),
        pytest.param(ZONED, host("n", "a"), host("n"), QUEUE, id="it lost the key"),
        pytest.param(ZONED, host("n", "a"), host("n", "b"), QUEUE, id="it moved"),
        pytest.param(ZONED, host("n", "a"), host("n", "a").label("x", "y"), SKIP, id="another label"),
        pytest.param(ZONED, host("n"), host("n").label("x", "y"), SKIP, id="another label, without the key"),
        pytest.param(BOTH, host("n", "a"), host("n", "b"), SKIP, id="it moved, but lacks the other key"),
        pytest.param(BOTH, host("n", "a"), RACKED, QUEUE, id="it got the other key"),
        pytest.param(ZONED, host("n", "a").taint("t"), host("n", "a"), QUEUE, id="a taint went"),
        pytest.param(ZONED, host("n", "a"), host("n", "a").taint("t"), QUEUE, id="a taint came"),
        pytest.param(ZONED, host("n").taint("t"), host("n"), SKIP, id="a taint went, without the key"),
        pytest.param(ZONED, host("n", ""), host("n", ""), SKIP, id="nothing changed"),
        pytest.param(
            ZONED, make_node("n").label(ZONE, ""), make_node("n"), QUEUE, id="an empty value is a value"
        ),
        pytest.param(UNREADABLE, host("n"), host("n"), QUEUE, id="unreadable constraints are tried again"),
    ],
)
def test_a_node_changed(pod: PodBuilder, old: NodeBuilder, new: NodeBuilder, expected: bool) -> None:
    assert worth(pod, EventResource.NODE, old, new) is expected
