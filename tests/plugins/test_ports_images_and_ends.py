"""NodePorts, ImageLocality, and the plugins at both ends of an attempt: gates, queue order and binding."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.pods import ALL_ADDRESSES, PodInfo
from scheduler.framework.status import Code, Status
from tests.builders import PodBuilder, make_node, make_pod
from tests.plugins.harness import Binder, Handle, make_plugin, rejections, scores, table

MB = 1024 * 1024
TAKEN = Status.unschedulable("node(s) didn't have free ports for the requested pod ports")


@pytest.mark.parametrize(
    ("taken", "wanted", "free"),
    [
        pytest.param((80, "TCP", ""), (81, "TCP", ""), True, id="another number"),
        pytest.param((80, "TCP", ""), (80, "TCP", ""), False, id="the same"),
        pytest.param((80, "TCP", ""), (80, "UDP", ""), True, id="another protocol"),
        pytest.param((80, "", ""), (80, "TCP", ""), False, id="TCP is the default"),
        pytest.param((80, "TCP", "10.0.0.1"), (80, "TCP", "10.0.0.2"), True, id="another address"),
        pytest.param((80, "TCP", "10.0.0.1"), (80, "TCP", "10.0.0.1"), False, id="the same address"),
        pytest.param(
            (80, "TCP", ALL_ADDRESSES), (80, "TCP", "10.0.0.1"), False, id="all addresses are taken"
        ),
        pytest.param((80, "TCP", "10.0.0.1"), (80, "TCP", ""), False, id="all addresses are wanted"),
    ],
)
def test_ports_collide(taken: tuple[int, str, str], wanted: tuple[int, str, str], free: bool) -> None:
    nodes = table(make_node("used"), make_node("empty"))
    nodes.add_pod(0, make_pod("q").host_port(*taken).info())
    found = rejections(make_plugin("NodePorts"), make_pod().host_port(*wanted), nodes)
    assert found == ({} if free else {"used": TAKEN})


def test_pods_without_host_ports_are_skipped() -> None:
    answer = make_plugin("NodePorts").pre_filter(Cycle(make_pod().req().info()), table(make_node()))
    assert answer == Status.skip()


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod().image("app:v1"), 48, id="half of the nodes have it"),
        pytest.param(make_pod().image("app"), 0, id="no tag means latest"),
        pytest.param(make_pod().image("base"), 100, id="latest, on every node"),
        pytest.param(make_pod().image("registry:5000/tool"), 12, id="a port is no tag"),
        pytest.param(make_pod().image("none:v1"), 0, id="on no node"),
        pytest.param(make_pod().image("small:v1"), 0, id="below the threshold"),
        pytest.param(make_pod().image("app:v1", "app:v1"), 49, id="twice, over two containers"),
        pytest.param(make_pod().image("app:v1", "none:v1"), 24, id="shared with a container without"),
        pytest.param(
            make_pod().image("none:v1").spec(volumes=[{"name": "v", "image": {"reference": "app:v1"}}]),
            48,
            id="a volume",
        ),
        pytest.param(make_pod(), 0, id="no containers"),
    ],
)
def test_images_on_the_node(pod: PodBuilder, expected: int) -> None:
    nodes = table(
        make_node("a")
        .image("app:v1", size=1000 * MB)
        .image("registry:5000/tool:latest", size=300 * MB)
        .image("base:latest", size=2000 * MB)
        .image("small:v1", size=22 * MB),
        make_node("b").image("base:latest", size=2000 * MB),
    )
    found = scores(make_plugin("ImageLocality"), pod, nodes)
    assert found is not None
    assert found["a"] == expected


def test_init_containers_count_as_containers() -> None:
    nodes = table(make_node().image("app:v1", size=1000 * MB))
    pod = make_pod().image("none:v1").spec(initContainers=[{"name": "i", "image": "app:v1"}])
    assert scores(make_plugin("ImageLocality"), pod, nodes) == {"node": 49}


def test_gated_pods_stay_out_of_the_queue() -> None:
    plugin = make_plugin("SchedulingGates")
    assert plugin.pre_enqueue(make_pod().obj()) is None
    expected = Status.unresolvable("waiting for scheduling gates: [a b/c]")
    assert plugin.pre_enqueue(make_pod().gates("a", "b/c").obj()) == expected


@dataclass
class Queued:
    """A waiting pod."""

    pod_info: PodInfo
    timestamp: float


def test_the_most_important_pod_comes_first_then_the_oldest() -> None:
    key = make_plugin("PrioritySort").sort_key
    waiting = [
        Queued(make_pod("late").info(), 3),
        Queued(make_pod("early").info(), 1),
        Queued(make_pod("important").priority(5).info(), 2),
        Queued(make_pod("modest").priority(-1).info(), 0),
    ]
    order = [queued.pod_info.pod.metadata.name for queued in sorted(waiting, key=key)]
    assert order == ["important", "early", "late", "modest"]


def test_the_binder_binds_through_the_port() -> None:
    handle = Handle()
    assert make_plugin("DefaultBinder", handle=handle).bind(Cycle(make_pod("p", "ns").info()), "n") is None
    assert handle.port.bound == [("ns", "p", "Pod/ns/p", "n")]


def test_a_failed_binding_is_an_error_with_its_cause() -> None:
    failure = ConnectionError("the server is away")
    plugin = make_plugin("DefaultBinder", handle=Handle(port=Binder(failure)))
    status = plugin.bind(Cycle(make_pod().info()), "n")
    assert (status.code, status.message, status.error) == (Code.ERROR, "the server is away", failure)
