"""What a pod's claims say before any node is looked at."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.status import SKIP, Code, Status
from tests.plugins.volume_binding.world import cluster, disk, held, sort_of, wish, world
from tests.plugins.volumes import CONFIG_MAP, EPHEMERAL, Document, of_claim, pod_with, storage_class

OWNED: Document = {
    "ownerReferences": [{"kind": "Pod", "name": "pod", "uid": "default/pod", "controller": True}]
}
IMMEDIATE = "pod has unbound immediate PersistentVolumeClaims"


@pytest.mark.parametrize(
    ("objects", "volume", "reason"),
    [
        pytest.param([], of_claim("c"), 'persistentvolumeclaim "c" not found', id="no claim"),
        pytest.param([], of_claim(""), 'persistentvolumeclaim "" not found', id="a claim without a name"),
        pytest.param(
            [],
            EPHEMERAL,
            'waiting for ephemeral volume controller to create the persistentvolumeclaim "pod-v0"',
            id="no claim for an ephemeral volume yet",
        ),
        pytest.param(
            [wish("c", phase="Lost", volumeName="gone")],
            of_claim("c"),
            'persistentvolumeclaim "c" bound to non-existent persistentvolume "gone"',
            id="lost",
        ),
        pytest.param(
            [held("c", "pv", metadata={"deletionTimestamp": "2026-01-01T00:00:00Z"})],
            of_claim("c"),
            'persistentvolumeclaim "c" is being deleted',
            id="being deleted",
        ),
        pytest.param(
            [wish("pod-v0")],
            EPHEMERAL,
            "PVC default/pod-v0 was not created for pod default/pod (pod is not owner)",
            id="an ephemeral volume's name taken by another claim",
        ),
        pytest.param([wish("c", of_class=None)], of_claim("c"), IMMEDIATE, id="no class"),
        pytest.param(
            [wish("c", of_class="none")], of_claim("c"), IMMEDIATE, id="a class that does not exist"
        ),
        pytest.param(
            [wish("c", of_class="now"), storage_class("now", mode="Immediate")],
            of_claim("c"),
            IMMEDIATE,
            id="a class that does not wait",
        ),
        pytest.param(
            [wish("c", volumeName="pv"), sort_of("local")],
            of_claim("c"),
            IMMEDIATE,
            id="a volume named by its user, not bound for good yet",
        ),
        pytest.param(
            [wish("c", annotations={"pv.kubernetes.io/bind-completed": "yes"}, of_class=None)],
            of_claim("c"),
            IMMEDIATE,
            id="marked as bound without a volume",
        ),
    ],
)
def test_nobody_can_help(objects: list[Any], volume: Document, reason: str) -> None:
    _, status = world(cluster("a"), *objects).start(pod_with(volume, CONFIG_MAP))
    assert status == Status.unresolvable(reason)


@pytest.mark.parametrize(
    "volumes", [pytest.param((), id="no volumes"), pytest.param((CONFIG_MAP,), id="no claims")]
)
def test_pods_without_claims_are_skipped(volumes: tuple[Document, ...]) -> None:
    made = world(cluster("a"))
    cycle, status = made.start(pod_with(*volumes))
    assert status == SKIP
    assert made.plugin.reserve(cycle, "n0") is None
    assert made.plugin.pre_bind_pre_flight(cycle, "n0") == SKIP
    assert made.plugin.pre_bind(cycle, "n0") is None


def test_a_class_that_does_not_say_when_to_bind_is_an_error() -> None:
    made = world(cluster("a"), wish("c"), storage_class("local", mode=None))
    _, status = made.start(pod_with(of_claim("c")))
    assert (status.code, status.reasons) == (
        Code.ERROR,
        ('VolumeBindingMode not set for StorageClass "local"',),
    )


def test_the_first_fault_in_the_order_of_the_volumes_is_told() -> None:
    made = world(cluster("a"), wish("b", phase="Lost"))
    _, status = made.start(pod_with(of_claim("a"), of_claim("b")))
    assert status.reasons == ('persistentvolumeclaim "a" not found',)


def test_the_claim_of_an_ephemeral_volume_that_the_pod_owns_counts() -> None:
    made = world(cluster("a"), wish("pod-v0", metadata=OWNED), sort_of("local"), disk("pv"))
    assert made.verdicts(pod_with(EPHEMERAL).metadata(uid="default/pod")) == {}


def test_the_annotation_of_old_names_the_class() -> None:
    annotated = wish("c", of_class="none", annotations={"volume.beta.kubernetes.io/storage-class": "local"})
    old = disk(
        "pv", of_class="", metadata={"annotations": {"volume.beta.kubernetes.io/storage-class": "local"}}
    )
    assert world(cluster("a"), annotated, sort_of("local"), old).choice(pod_with(of_claim("c")), "n0") == {
        "c": "pv"
    }


def test_no_point_works_without_pre_filter() -> None:
    plugin = world(cluster("a")).plugin
    cycle = Cycle(pod_with(of_claim("c")).info())
    statuses = [
        plugin.reserve(cycle, "n0"),
        plugin.pre_bind_pre_flight(cycle, "n0"),
        plugin.pre_bind(cycle, "n0"),
    ]
    found = plugin.filter(cycle, cluster("a"))
    assert found is not None
    assert [(one.code, one.reasons) for one in [*statuses, found.status(0)] if one] == [
        (Code.ERROR, ("not found",))
    ] * 4
    plugin.unreserve(cycle, "n0")
