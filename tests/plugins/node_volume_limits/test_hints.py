"""Which changes bring a pod back that NodeVolumeLimits refused."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import ActionType, EventResource, QueueingHint
from tests.builders import PodBuilder
from tests.plugins.harness import make_plugin
from tests.plugins.volumes import (
    CONFIG_MAP,
    EPHEMERAL,
    Document,
    attachment,
    claim,
    csi_node,
    ebs,
    of_claim,
    pod_with,
)

ADD, UPDATE, DELETE = ActionType.ADD, ActionType.UPDATE, ActionType.DELETE


def helps(resource: EventResource, action: ActionType, pod: PodBuilder, old: Any, new: Any) -> bool:
    events = make_plugin("NodeVolumeLimits").events_to_register()
    hint = next(e.hint for e in events if (e.event.resource, e.event.action) == (resource, action))
    answer: QueueingHint = hint(pod.obj(), old, new)
    return answer is QueueingHint.QUEUE


def test_events() -> None:
    registered = make_plugin("NodeVolumeLimits").events_to_register()
    assert {(e.event.resource, e.event.action, e.hint is None) for e in registered} == {
        (EventResource.CSI_NODE, ADD, True),
        (EventResource.CSI_NODE, UPDATE, False),
        (EventResource.POD, DELETE, False),
        (EventResource.PERSISTENT_VOLUME_CLAIM, ADD, False),
        (EventResource.VOLUME_ATTACHMENT, DELETE, False),
    }


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param({"d": 1}, {"d": 2}, True, id="more"),
        pytest.param({"d": 2}, {"d": 2}, False, id="as many"),
        pytest.param({"d": 2}, {"d": 1}, False, id="fewer"),
        pytest.param({}, {"d": 1}, True, id="a new driver"),
        pytest.param({}, {"d": None}, False, id="a new driver without a limit"),
        pytest.param({"d": None}, {"d": 1}, True, id="no limit counts as none"),
        pytest.param({"d": 1}, {"d": None}, False, id="the limit is gone"),
    ],
)
def test_a_csi_node_changed(old: dict[str, Any], new: dict[str, Any], expected: bool) -> None:
    before, after = csi_node("n", **old), csi_node("n", **new)
    assert helps(EventResource.CSI_NODE, UPDATE, pod_with(of_claim("c")), before, after) is expected


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(pod_with(of_claim("x")).node("n"), True, id="with a claim"),
        pytest.param(
            pod_with(CONFIG_MAP, EPHEMERAL).nominated("n"), True, id="with an ephemeral volume, promised"
        ),
        pytest.param(pod_with(ebs("v")).node("n"), True, id="with an in-tree disk"),
        pytest.param(pod_with(of_claim("x")), False, id="without a node"),
        pytest.param(pod_with(CONFIG_MAP).node("n"), False, id="without anything attached"),
        pytest.param(pod_with().node("n"), False, id="without volumes"),
    ],
)
def test_a_pod_went_away(gone: PodBuilder, expected: bool) -> None:
    assert helps(EventResource.POD, DELETE, pod_with(of_claim("c")), gone.obj(), None) is expected


@pytest.mark.parametrize(
    ("name", "namespace", "expected"),
    [
        pytest.param("c", "default", True, id="named"),
        pytest.param("pod-v1", "default", True, id="ephemeral"),
        pytest.param("other", "default", False, id="another"),
        pytest.param("c", "x", False, id="of another namespace"),
    ],
)
def test_a_claim_was_made(name: str, namespace: str, expected: bool) -> None:
    pod = pod_with(of_claim("c"), EPHEMERAL, namespace=namespace)
    assert helps(EventResource.PERSISTENT_VOLUME_CLAIM, ADD, pod, None, claim(name)) is expected


@pytest.mark.parametrize(
    ("volume", "expected"),
    [
        pytest.param(of_claim("c"), True, id="a claim"),
        pytest.param(ebs("v"), True, id="a disk of the driver"),
        pytest.param(ebs("aws://z/odd"), True, id="a disk that cannot be read"),
        pytest.param({"cinder": {"volumeID": "v"}}, False, id="a disk of another driver"),
        pytest.param(EPHEMERAL, False, id="an ephemeral volume"),
        pytest.param(CONFIG_MAP, False, id="nothing attached"),
    ],
)
def test_a_volume_was_detached(volume: Document, expected: bool) -> None:
    detached = attachment("x", "n", "pv", attacher="ebs.csi.aws.com")
    assert helps(EventResource.VOLUME_ATTACHMENT, DELETE, pod_with(volume), detached, None) is expected
