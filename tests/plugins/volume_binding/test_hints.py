"""Which changes bring a refused pod back."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import CSINode, convert
from scheduler.framework.events import ActionType, EventResource, QueueingHint
from scheduler.plugins.volume_binding import hints
from tests.plugins.volume_binding.world import cluster, sort_of, storage, wish, world
from tests.plugins.volumes import EPHEMERAL, csi_driver, of_claim, pod_with

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
CHANGED = ActionType.ADD | ActionType.UPDATE


def test_the_events() -> None:
    events = world(cluster()).plugin.events_to_register()
    assert {(one.event.resource, one.event.action): one.hint is not None for one in events} == {
        (EventResource.STORAGE_CLASS, CHANGED): True,
        (EventResource.PERSISTENT_VOLUME_CLAIM, CHANGED): True,
        (EventResource.PERSISTENT_VOLUME, CHANGED): False,
        (EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL): False,
        (EventResource.CSI_NODE, CHANGED): True,
        (EventResource.CSI_DRIVER, ActionType.UPDATE): True,
        (EventResource.CSI_STORAGE_CAPACITY, CHANGED): True,
    }


def migrated(plugins: str | None) -> CSINode:
    annotations = {} if plugins is None else {"storage.alpha.kubernetes.io/migrated-plugins": plugins}
    return convert(CSINode, {"metadata": {"name": "n", "annotations": annotations}})


def topologies(*zones: str) -> Any:
    terms = [{"matchLabelExpressions": [{"key": "zone", "values": list(zones)}]}] if zones else None
    return sort_of("s", "p", terms)


@pytest.mark.parametrize(
    ("hint", "old", "new", "expected"),
    [
        pytest.param("after_class_change", None, topologies(), QUEUE, id="class: new"),
        pytest.param(
            "after_class_change", topologies("a"), topologies("a", "b"), QUEUE, id="class: topologies"
        ),
        pytest.param("after_class_change", topologies("a"), topologies("a"), SKIP, id="class: the same"),
        pytest.param("after_csi_node_change", None, migrated(None), QUEUE, id="CSINode: new"),
        pytest.param("after_csi_node_change", migrated(None), migrated("a"), QUEUE, id="CSINode: took over"),
        pytest.param(
            "after_csi_node_change", migrated("a"), migrated("a,b"), QUEUE, id="CSINode: another one"
        ),
        pytest.param("after_csi_node_change", migrated("a"), migrated("a"), SKIP, id="CSINode: the same"),
        pytest.param("after_csi_node_change", migrated(None), migrated(""), SKIP, id="CSINode: empty"),
        pytest.param("after_capacity_change", None, storage("s", "a", "1"), QUEUE, id="capacity: new"),
        pytest.param(
            "after_capacity_change", storage("s", "a", None), storage("s", "a", "1"), QUEUE, id="known now"
        ),
        pytest.param(
            "after_capacity_change", storage("s", "a", "1Gi"), storage("s", "a", "2Gi"), QUEUE, id="more"
        ),
        pytest.param(
            "after_capacity_change", storage("s", "a", "1Gi"), storage("s", "a", "1024Mi"), SKIP, id="as much"
        ),
        pytest.param(
            "after_capacity_change", storage("s", "a", "2Gi"), storage("s", "a", "1Gi"), SKIP, id="less"
        ),
        pytest.param(
            "after_capacity_change", storage("s", "a", "2Gi"), storage("s", "a", None), SKIP, id="unknown now"
        ),
        pytest.param(
            "after_capacity_change",
            storage("s", "a", "9Gi", largest="1Gi"),
            storage("s", "a", "9Gi"),
            QUEUE,
            id="no largest volume any more",
        ),
        pytest.param(
            "after_capacity_change",
            storage("s", "a", "1Gi", largest="2Gi"),
            storage("s", "a", "9Gi", largest="2Gi"),
            SKIP,
            id="more, but not for one volume",
        ),
    ],
)
def test_changes(hint: str, old: Any, new: Any, expected: QueueingHint) -> None:
    assert getattr(hints, hint)(pod_with(of_claim("c")).obj(), old, new) is expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        pytest.param(wish("c"), QUEUE, id="the pod's"),
        pytest.param(wish("pod-v1"), QUEUE, id="the pod's ephemeral one"),
        pytest.param(wish("d"), SKIP, id="another"),
        pytest.param(wish("c", metadata={"namespace": "other"}), SKIP, id="of that name elsewhere"),
    ],
)
def test_claims(claim: Any, expected: QueueingHint) -> None:
    assert hints.after_claim_change(pod_with(of_claim("c"), EPHEMERAL).obj(), None, claim) is expected


@pytest.mark.parametrize(
    ("driver", "before", "after", "expected"),
    [
        pytest.param("d", True, False, QUEUE, id="tells no more"),
        pytest.param("d", True, None, QUEUE, id="says nothing any more"),
        pytest.param("d", True, True, SKIP, id="still tells"),
        pytest.param("d", False, False, SKIP, id="never told"),
        pytest.param("d", None, None, SKIP, id="never said"),
        pytest.param("other", True, False, SKIP, id="another driver"),
    ],
)
def test_drivers(driver: str, before: bool | None, after: bool | None, expected: QueueingHint) -> None:
    pod = pod_with(of_claim("c"), {"csi": {"driver": "d"}}).obj()
    old, new = (csi_driver(driver, storageCapacity=tells) for tells in (before, after))
    assert hints.after_csi_driver_change(pod, old, new) is expected
