"""Which events an update amounts to, under upstream's labels."""

from __future__ import annotations

import pytest

from scheduler.apis.objects import Node, Pod
from scheduler.backend import changes
from scheduler.framework.events import ClusterEvent
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod


def base_pod() -> PodBuilder:
    return make_pod("p").req(cpu="2", memory="1Gi")


def base_node() -> NodeBuilder:
    return make_node("n").capacity(cpu="4", memory="8Gi").label("zone", "a")


UPDATE, LABEL, SCALE, GATES, TOLERATION = (
    "Update",
    "UpdatePodLabel",
    "UpdatePodScaleDown",
    "UpdatePodSchedulingGatesEliminated",
    "UpdatePodToleration",
)

POD_UPDATES = {
    "nothing": (base_pod(), base_pod(), [UPDATE]),
    "status only": (base_pod(), base_pod().nominated("n"), [UPDATE]),
    "label": (base_pod(), base_pod().label("a", "b"), [LABEL]),
    "scaled down": (base_pod(), make_pod("p").req(cpu="1", memory="1Gi"), [SCALE]),
    "request gone": (base_pod(), make_pod("p").req(cpu="2"), [SCALE]),
    "scaled up": (base_pod(), make_pod("p").req(cpu="3", memory="1Gi"), [UPDATE]),
    "same amounts in other words": (base_pod(), make_pod("p").req(cpu="2000m", memory="1024Mi"), [UPDATE]),
    "last gate removed": (base_pod().gates("a"), base_pod(), [GATES]),
    "one of two gates removed": (base_pod().gates("a", "b"), base_pod().gates("a"), [UPDATE]),
    "toleration": (base_pod(), base_pod().toleration("a"), [TOLERATION]),
    "several": (
        base_pod().gates("a"),
        base_pod().label("a", "b").toleration("a"),
        [LABEL, GATES, TOLERATION],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), POD_UPDATES.values(), ids=POD_UPDATES)
@pytest.mark.parametrize(("node", "prefix"), [("", "UnschedulablePod"), ("n", "AssignedPod")])
def test_pod_updates(old: PodBuilder, new: PodBuilder, expected: list[str], node: str, prefix: str) -> None:
    before: Pod = old.spec(nodeName=node).obj()
    after: Pod = new.spec(nodeName=node).obj()
    labels = [event.label for event in changes.pod_changes(before, after)]
    assert labels == [prefix + label for label in expected]


NODE_UPDATES = {
    "nothing": (base_node(), base_node(), []),
    "cordoned": (base_node(), base_node().unschedulable(), []),
    "uncordoned": (base_node().unschedulable(), base_node(), ["NodeUpdateNodeTaint"]),
    "allocatable": (base_node(), base_node().capacity(cpu="8"), ["NodeUpdateNodeAllocatable"]),
    "allocatable in other words": (base_node(), base_node().capacity(cpu="4000m"), []),
    "unreadable allocatable": (base_node(), base_node().capacity(cpu="?"), ["NodeUpdateNodeAllocatable"]),
    "label": (base_node(), base_node().label("zone", "b"), ["NodeUpdateNodeLabel"]),
    "taint": (base_node(), base_node().taint("a"), ["NodeUpdateNodeTaint"]),
    "image": (base_node(), base_node().image("busybox", size=1), []),
    "annotation": (base_node(), base_node().metadata(annotations={"a": "b"}), ["NodeUpdateNodeAnnotation"]),
    "declared feature": (
        base_node(),
        base_node().status(declaredFeatures=["A"]),
        ["NodeUpdateNodeDeclaredFeature"],
    ),
    "condition": (
        base_node().status(conditions=[{"type": "Ready", "status": "False"}]),
        base_node().status(conditions=[{"type": "Ready", "status": "True"}]),
        ["NodeUpdateNodeCondition"],
    ),
    "heartbeat": (
        base_node().status(conditions=[{"type": "Ready", "status": "True", "lastHeartbeatTime": "a"}]),
        base_node().status(conditions=[{"type": "Ready", "status": "True", "lastHeartbeatTime": "b"}]),
        [],
    ),
    "several": (
        base_node().unschedulable(),
        base_node().taint("a").label("zone", "b"),
        ["NodeUpdateNodeTaint", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"],
    ),
}


@pytest.mark.parametrize(("old", "new", "expected"), NODE_UPDATES.values(), ids=NODE_UPDATES)
def test_node_updates(old: NodeBuilder, new: NodeBuilder, expected: list[str]) -> None:
    before: Node = old.obj()
    after: Node = new.obj()
    assert [event.label for event in changes.node_changes(before, after)] == expected


CPU = {"requests": {"cpu": "1"}}
READY = [{"type": "Ready", "status": "True"}]
RESIZING = [{"type": "PodResizeInProgress", "status": "True"}]

DEMANDS = {
    "nothing": (base_pod(), True),
    "node": (base_pod().node("n"), True),
    "label": (base_pod().label("a", "b"), True),
    "phase": (base_pod().status(phase="Running"), True),
    "condition": (base_pod().status(conditions=READY), True),
    "resize": (base_pod().status(conditions=RESIZING), False),
    "container": (base_pod().req(cpu="1"), False),
    "host port": (base_pod().host_port(80), False),
    "init container": (base_pod().init_req(cpu="1"), False),
    "overhead": (base_pod().spec(overhead={"cpu": "1"}), False),
    "pod level": (base_pod().spec(resources=CPU), False),
    "allocated": (base_pod().status(allocatedResources={"cpu": "1"}), False),
    "actual": (base_pod().status(resources=CPU), False),
    "actual in a container": (
        base_pod().status(containerStatuses=[{"name": "c0", "resources": CPU}]),
        False,
    ),
    "actual in an init container": (
        base_pod().status(initContainerStatuses=[{"name": "i0", "resources": CPU}]),
        False,
    ),
}


@pytest.mark.parametrize(("new", "same"), DEMANDS.values(), ids=DEMANDS)
def test_which_changes_leave_the_demand_alone(new: PodBuilder, same: bool) -> None:
    assert changes.same_demand(base_pod().obj(), new.obj()) == same


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (changes.ASSIGNED_POD_ADD, "AssignedPodAdd"),
        (changes.ASSIGNED_POD_UPDATE, "AssignedPodUpdate"),
        (changes.ASSIGNED_POD_DELETE, "AssignedPodDelete"),
        (changes.UNSCHEDULED_POD_ADD, "UnschedulablePodAdd"),
        (changes.UNSCHEDULED_POD_UPDATE, "UnschedulablePodUpdate"),
        (changes.UNSCHEDULED_POD_DELETE, "UnschedulablePodDelete"),
        (changes.NODE_ADD, "NodeAdd"),
        (changes.NODE_DELETE, "NodeDelete"),
        (changes.UNSCHEDULABLE_TIMEOUT, "UnschedulableTimeout"),
        (changes.FORCE_ACTIVATE, "ForceActivate"),
    ],
)
def test_labels_are_the_metrics(event: ClusterEvent, label: str) -> None:
    assert event.label == label
