"""VolumeZone: zones of volumes against zones of nodes, and claims that lead to no volume."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, EventResource, QueueingHint
from scheduler.framework.status import SKIP, Status
from tests.builders import make_node
from tests.plugins.harness import Handle, make_plugin, rejections, table
from tests.plugins.volumes import (
    EPHEMERAL,
    Document,
    catalog_of,
    claim,
    of_claim,
    pod_with,
    storage_class,
    volume,
)

BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
CONFLICT = Status.unresolvable("node(s) had no available volume zone")
ADD, CHANGED = ActionType.ADD, ActionType.ADD | ActionType.UPDATE


def plugin(*objects: Any) -> Any:
    return make_plugin("VolumeZone", handle=Handle(catalog=catalog_of(*objects)))


@pytest.mark.parametrize(
    ("labels", "node_labels", "passes"),
    [
        pytest.param({ZONE: "a"}, {ZONE: "a"}, True, id="same zone"),
        pytest.param({ZONE: "a"}, {ZONE: "b"}, False, id="other zone"),
        pytest.param({ZONE: "a"}, {}, True, id="a node without zones"),
        pytest.param({ZONE: "a"}, {REGION: "r"}, False, id="a node with a region only"),
        pytest.param({ZONE: "a__b"}, {ZONE: "b"}, True, id="one of several"),
        pytest.param({ZONE: " a __ b "}, {ZONE: "b"}, True, id="blanks around"),
        pytest.param({ZONE: "a__"}, {ZONE: "b"}, True, id="a list with an empty part says nothing"),
        pytest.param({BETA_ZONE: "a"}, {ZONE: "a"}, True, id="a beta label meets a present one"),
        pytest.param({BETA_ZONE: "a"}, {ZONE: "b"}, False, id="a beta label meets another zone"),
        pytest.param({BETA_ZONE: "a"}, {BETA_ZONE: "b", ZONE: "a"}, False, id="the beta label comes first"),
        pytest.param({ZONE: "a"}, {BETA_ZONE: "a"}, False, id="a present label meets no beta one"),
        pytest.param({ZONE: "a", BETA_REGION: "r"}, {ZONE: "a", REGION: "r"}, True, id="zone and region"),
        pytest.param({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False, id="other region"),
        pytest.param({ZONE: "a"}, {ZONE: ""}, False, id="an empty label is a label"),
    ],
)
def test_zones(labels: Document, node_labels: Document, passes: bool) -> None:
    zone = plugin(claim("c", "pv"), volume("pv", {**labels, ZONE + "s": "x"}))
    found = rejections(zone, pod_with(of_claim("c")), table(make_node("n").labels(node_labels)))
    assert found == ({} if passes else {"n": CONFLICT})


def test_every_volume_has_a_say() -> None:
    zone = plugin(
        claim("a", "pv-a"), claim("b", "pv-b"), volume("pv-a", {ZONE: "a__c"}), volume("pv-b", {ZONE: "b__c"})
    )
    nodes = table(*(make_node(name).label(ZONE, name) for name in "abc"))
    assert set(rejections(zone, pod_with(of_claim("a"), of_claim("b")), nodes)) == {"a", "b"}


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        pytest.param(None, 'persistentvolumeclaim "c" not found', id="missing claim"),
        pytest.param(claim("c", "gone"), 'persistentvolume "gone" not found', id="missing volume"),
        pytest.param(claim("c"), "PersistentVolumeClaim had no pv name and storageClass name", id="no class"),
        pytest.param(
            claim("c", storageClassName="gone"),
            'storageclass.storage.k8s.io "gone" not found',
            id="missing class",
        ),
        pytest.param(
            claim("c", storageClassName="odd"),
            'VolumeBindingMode not set for StorageClass "odd"',
            id="no mode",
        ),
        pytest.param(claim("c", storageClassName="now"), "PersistentVolume had no name", id="immediate"),
    ],
)
def test_claims_that_lead_nowhere(made: Any, answer: str) -> None:
    zone = plugin(
        *([] if made is None else [made]),
        storage_class("odd", mode=None),
        storage_class("now", mode="Immediate"),
    )
    refusal = zone.pre_filter(Cycle(pod_with(of_claim("c")).info()), table(make_node("n")))
    assert refusal == Status.unresolvable(answer)


@pytest.mark.parametrize(
    "volumes",
    [
        pytest.param((), id="no volumes"),
        pytest.param((of_claim("late"),), id="a claim that waits for the pod"),
        pytest.param((of_claim("plain"),), id="a volume without a zone"),
        pytest.param((EPHEMERAL,), id="an ephemeral volume"),
    ],
)
def test_nothing_to_judge(volumes: tuple[Document, ...]) -> None:
    zone = plugin(
        claim("late", storageClassName="late"), storage_class("late"), claim("plain", "pv"), volume("pv")
    )
    assert zone.pre_filter(Cycle(pod_with(*volumes).info()), table(make_node("n"))) == SKIP


def test_a_claim_without_a_name() -> None:
    refusal = plugin().pre_filter(Cycle(pod_with(of_claim("")).info()), table(make_node("n")))
    assert refusal == Status.unresolvable("PersistentVolumeClaim had no name")


def test_the_annotation_names_the_class_too() -> None:
    annotated = claim("c", storageClassName="now")
    annotated.metadata.annotations["volume.beta.kubernetes.io/storage-class"] = "late"
    zone = plugin(annotated, storage_class("late"), storage_class("now", mode="Immediate"))
    assert zone.pre_filter(Cycle(pod_with(of_claim("c")).info()), table(make_node("n"))) == SKIP


def hint(resource: EventResource) -> Any:
    return next(e.hint for e in plugin().events_to_register() if e.event.resource is resource)


def test_events() -> None:
    assert {(e.event.resource, e.event.action) for e in plugin().events_to_register()} == {
        (EventResource.STORAGE_CLASS, ADD),
        (EventResource.NODE, ADD | ActionType.UPDATE_NODE_LABEL),
        (EventResource.PERSISTENT_VOLUME_CLAIM, CHANGED),
        (EventResource.PERSISTENT_VOLUME, CHANGED),
    }


@pytest.mark.parametrize(
    ("resource", "old", "new", "helps"),
    [
        pytest.param(EventResource.STORAGE_CLASS, None, storage_class("s"), True, id="class that waits"),
        pytest.param(
            EventResource.STORAGE_CLASS, None, storage_class("s", mode="Immediate"), False, id="class"
        ),
        pytest.param(
            EventResource.STORAGE_CLASS, None, storage_class("s", mode=None), False, id="class, no mode"
        ),
        pytest.param(EventResource.PERSISTENT_VOLUME_CLAIM, None, claim("c"), True, id="claim of the pod"),
        pytest.param(EventResource.PERSISTENT_VOLUME_CLAIM, claim("d"), claim("d"), False, id="other claim"),
        pytest.param(EventResource.PERSISTENT_VOLUME, None, volume("v"), True, id="volume"),
        pytest.param(
            EventResource.PERSISTENT_VOLUME, volume("v"), volume("v"), False, id="volume, same zones"
        ),
        pytest.param(
            EventResource.PERSISTENT_VOLUME,
            volume("v", {ZONE: "a__b"}),
            volume("v", {ZONE: "b__a"}),
            False,
            id="volume, same zones in another order",
        ),
        pytest.param(
            EventResource.PERSISTENT_VOLUME,
            volume("v"),
            volume("v", {ZONE: "a"}),
            True,
            id="volume, other zones",
        ),
    ],
)
def test_hints(resource: EventResource, old: Any, new: Any, helps: bool) -> None:
    expected = QueueingHint.QUEUE if helps else QueueingHint.SKIP
    assert hint(resource)(pod_with(of_claim("c")).obj(), old, new) is expected


def test_a_claim_of_another_namespace_does_not_help() -> None:
    judge = hint(EventResource.PERSISTENT_VOLUME_CLAIM)
    assert judge(pod_with(of_claim("c"), namespace="x").obj(), None, claim("c")) is QueueingHint.SKIP
