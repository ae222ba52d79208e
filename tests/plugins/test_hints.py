"""Queueing hints: which changes are worth another attempt for a pod that a plugin refused."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config import args
from scheduler.apis.objects import NodeAffinity, convert
from scheduler.framework.events import ActionType, ClusterEvent, EventResource, QueueingHint
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.plugins.harness import make_plugin

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
NODE, POD = EventResource.NODE, EventResource.POD
ADDED = args.NodeAffinityArgs(
    convert(
        NodeAffinity,
        {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]
            }
        },
    )
)

Change = tuple[PodBuilder | NodeBuilder | None, PodBuilder | NodeBuilder | None]


def hint(plugin: Any, resource: EventResource, pod: PodBuilder, change: Change) -> QueueingHint:
    """What the plugin's hint for that kind of object says."""
    event = next(e for e in plugin.events_to_register() if e.event.resource is resource)
    assert event.hint is not None
    old, new = (None if side is None else side.obj() for side in change)
    answer: QueueingHint = event.hint(pod.obj(), old, new)
    return answer


@pytest.mark.parametrize(
    ("name", "plugin_args", "events"),
    [
        ("SchedulingGates", None, {(POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)}),
        ("NodeName", None, {(NODE, ActionType.ADD)}),
        (
            "NodeUnschedulable",
            None,
            {(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT), (POD, ActionType.UPDATE_POD_TOLERATION)},
        ),
        (
            "TaintToleration",
            None,
            {(NODE, ActionType.ADD | ActionType.UPDATE_NODE_TAINT), (POD, ActionType.UPDATE_POD_TOLERATION)},
        ),
        ("NodeAffinity", args.NodeAffinityArgs(), {(NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)}),
        ("NodePorts", None, {(POD, ActionType.DELETE), (NODE, ActionType.ADD)}),
        (
            "NodeResourcesFit",
            args.NodeResourcesFitArgs(),
            {
                (POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN),
                (NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE),
            },
        ),
    ],
)
def test_events(name: str, plugin_args: Any, events: set[tuple[EventResource, ActionType]]) -> None:
    registered = make_plugin(name, plugin_args).events_to_register()
    assert {(each.event.resource, each.event.action) for each in registered} == events
    assert all(isinstance(each.event, ClusterEvent) for each in registered)


@pytest.mark.parametrize("name", ["SchedulingGates", "TaintToleration"])
@pytest.mark.parametrize(
    ("changed", "expected"),
    [pytest.param("me", QUEUE, id="the pod itself"), pytest.param("other", SKIP, id="another pod")],
)
def test_only_the_pods_own_update_counts(name: str, changed: str, expected: QueueingHint) -> None:
    assert hint(make_plugin(name), POD, make_pod("me"), (make_pod(changed), make_pod(changed))) is expected


def _tolerant(name: str, key: str) -> PodBuilder:
    return make_pod(name).toleration(key, operator="Exists")


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        pytest.param(_tolerant("me", "node.kubernetes.io/unschedulable"), QUEUE, id="tolerates the cordon"),
        pytest.param(_tolerant("me", "other"), SKIP, id="tolerates something else"),
        pytest.param(_tolerant("you", "node.kubernetes.io/unschedulable"), SKIP, id="another pod"),
    ],
)
def test_a_toleration_may_open_cordoned_nodes(changed: PodBuilder, expected: QueueingHint) -> None:
    assert hint(make_plugin("NodeUnschedulable"), POD, make_pod("me"), (make_pod("me"), changed)) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((None, make_node()), QUEUE, id="new"),
        pytest.param((None, make_node().unschedulable()), SKIP, id="new and cordoned"),
        pytest.param((make_node().unschedulable(), make_node()), QUEUE, id="uncordoned"),
        pytest.param((make_node(), make_node()), SKIP, id="was open before"),
        pytest.param((make_node(), make_node().unschedulable()), SKIP, id="cordoned"),
    ],
)
def test_an_opened_node(change: Change, expected: QueueingHint) -> None:
    assert hint(make_plugin("NodeUnschedulable"), NODE, make_pod(), change) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((None, make_node()), QUEUE, id="new"),
        pytest.param((None, make_node().taint("k")), SKIP, id="new and tainted"),
        pytest.param(
            (None, make_node().taint("k", effect="PreferNoSchedule")), QUEUE, id="new, a soft taint"
        ),
        pytest.param((make_node().taint("k"), make_node()), QUEUE, id="taint removed"),
        pytest.param((make_node().taint("ok"), make_node().taint("ok")), SKIP, id="tolerated before"),
        pytest.param((make_node().taint("k"), make_node().taint("ok")), QUEUE, id="tolerated now"),
    ],
)
def test_a_node_that_repels_no_longer(change: Change, expected: QueueingHint) -> None:
    assert hint(make_plugin("TaintToleration"), NODE, _tolerant("me", "ok"), change) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((None, make_node().label("disk", "ssd")), QUEUE, id="new and matching"),
        pytest.param((None, make_node()), SKIP, id="new, not matching"),
        pytest.param((make_node(), make_node().label("disk", "ssd")), QUEUE, id="matches now"),
        pytest.param((make_node().label("disk", "ssd"),) * 2, SKIP, id="matched before"),
    ],
)
def test_a_node_that_matches_now(change: Change, expected: QueueingHint) -> None:
    plugin = make_plugin("NodeAffinity", args.NodeAffinityArgs())
    assert hint(plugin, NODE, make_pod().node_selector({"disk": "ssd"}), change) is expected


def test_a_node_outside_the_added_affinity_never_helps() -> None:
    plugin = make_plugin("NodeAffinity", ADDED)
    assert hint(plugin, NODE, make_pod(), (None, make_node())) is SKIP
    assert hint(plugin, NODE, make_pod(), (None, make_node().label("pool", "a"))) is QUEUE


def test_affinity_that_cannot_be_parsed_is_tried_again() -> None:
    plugin = make_plugin("NodeAffinity", args.NodeAffinityArgs())
    pod = make_pod().node_affinity({"matchExpressions": [{"key": "a", "operator": "Odd"}]})
    assert hint(plugin, NODE, pod, (None, make_node())) is QUEUE


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(make_pod("q").node("n").host_port(80), QUEUE, id="held the port"),
        pytest.param(make_pod("q").nominated("n").host_port(80), QUEUE, id="was to hold the port"),
        pytest.param(make_pod("q").host_port(80), SKIP, id="was on no node"),
        pytest.param(make_pod("q").node("n").host_port(81), SKIP, id="held another port"),
        pytest.param(make_pod("q").node("n").host_port(80, "UDP"), SKIP, id="of another protocol"),
        pytest.param(make_pod("q").node("n"), SKIP, id="held none"),
    ],
)
def test_a_freed_port(gone: PodBuilder, expected: QueueingHint) -> None:
    assert hint(make_plugin("NodePorts"), POD, make_pod().host_port(80), (gone, None)) is expected


def _sized(name: str, cpu: str, node: str = "n") -> PodBuilder:
    return make_pod(name).req(cpu=cpu, memory="1Gi").node(node)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((_sized("q", "1"), None), QUEUE, id="gone from its node"),
        pytest.param((make_pod("q").nominated("n"), None), QUEUE, id="gone, nominated"),
        pytest.param((_sized("q", "1", node=""), None), SKIP, id="gone, was on no node"),
        pytest.param((_sized("q", "2"), _sized("q", "1")), QUEUE, id="asks for less"),
        pytest.param((_sized("q", "1"), _sized("q", "1")), SKIP, id="asks for the same"),
        pytest.param(
            (_sized("q", "2", node=""), _sized("q", "1", node="")), SKIP, id="asks for less, on no node"
        ),
        pytest.param((_sized("me", "2", node=""), _sized("me", "1", node="")), QUEUE, id="the pod itself"),
        pytest.param(
            (make_pod("q").node("n").req(memory="2Gi"), make_pod("q").node("n").req(memory="1Gi")),
            SKIP,
            id="less of something else",
        ),
    ],
)
def test_freed_resources(change: Change, expected: QueueingHint) -> None:
    plugin = make_plugin("NodeResourcesFit", args.NodeResourcesFitArgs())
    assert hint(plugin, POD, make_pod("me").req(cpu="1"), change) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((None, make_node().capacity(cpu="2")), QUEUE, id="new and large enough"),
        pytest.param((None, make_node().capacity(cpu="1")), SKIP, id="new and too small"),
        pytest.param((None, make_node().capacity(cpu="2", pods="0")), SKIP, id="new and for no pods"),
        pytest.param((make_node().capacity(cpu="2"), make_node().capacity(cpu="4")), QUEUE, id="more"),
        pytest.param((make_node().capacity(cpu="4"), make_node().capacity(cpu="3")), SKIP, id="less"),
        pytest.param(
            (make_node().capacity(cpu="4"), make_node().capacity(cpu="4", memory="1")),
            SKIP,
            id="more of something else",
        ),
        pytest.param(
            (make_node().capacity(cpu="4"), make_node().capacity(cpu="4", pods="200")),
            QUEUE,
            id="room for more pods",
        ),
    ],
)
def test_a_node_with_more_to_give(change: Change, expected: QueueingHint) -> None:
    plugin = make_plugin("NodeResourcesFit", args.NodeResourcesFitArgs())
    assert hint(plugin, NODE, make_pod().req(cpu="2"), change) is expected
