"""VolumeRestrictions: disks on one node, and claims for one pod only."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, EventResource, QueueingHint
from scheduler.framework.node_table import NodeTable
from scheduler.framework.status import SKIP, Code, Status
from tests.builders import PodBuilder, make_node
from tests.plugins.harness import Handle, make_plugin, rejections, table
from tests.plugins.volumes import (
    CONFIG_MAP,
    EPHEMERAL,
    Document,
    catalog_of,
    claim,
    ebs,
    gce,
    iscsi,
    of_claim,
    pod_with,
    rbd,
)

DISK = Status.unschedulable("node(s) had no available disk")
CLAIM = Status.unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
EXCLUSIVE = catalog_of(claim("mine", modes=("ReadWriteOncePod",)), claim("ours", modes=("ReadWriteOnce",)))


def plugin(catalog: Catalog | None = None) -> Any:
    return make_plugin("VolumeRestrictions", handle=Handle(catalog=catalog or Catalog()))


def two_nodes(*pods: PodBuilder) -> NodeTable:
    """Nodes a and b; the pods run on a."""
    nodes = table(make_node("a"), make_node("b"))
    for pod in pods:
        nodes.add_pod(0, pod.info())
    return nodes


@pytest.mark.parametrize(
    ("wanted", "running", "conflict"),
    [
        pytest.param(gce("d"), gce("d"), True, id="GCE: same disk"),
        pytest.param(gce("d"), gce("e"), False, id="GCE: other disk"),
        pytest.param(gce("d", read_only=True), gce("d"), True, id="GCE: one of two reads"),
        pytest.param(gce("d"), gce("d", read_only=True), True, id="GCE: the other of two reads"),
        pytest.param(gce("d", read_only=True), gce("d", read_only=True), False, id="GCE: both read"),
        pytest.param(ebs("v"), ebs("v"), True, id="EBS: same volume"),
        pytest.param(ebs("v"), ebs("w"), False, id="EBS: other volume"),
        pytest.param(
            {"awsElasticBlockStore": {"volumeID": "v", "readOnly": True}},
            {"awsElasticBlockStore": {"volumeID": "v", "readOnly": True}},
            True,
            id="EBS: reading together is no excuse",
        ),
        pytest.param(iscsi("q", lun=1), iscsi("q", lun=2), True, id="iSCSI: same IQN, other LUN"),
        pytest.param(iscsi("q"), iscsi("r"), False, id="iSCSI: other IQN"),
        pytest.param(iscsi("q", read_only=True), iscsi("q", read_only=True), False, id="iSCSI: both read"),
        pytest.param(rbd("ab"), rbd("bc"), True, id="RBD: a monitor in common"),
        pytest.param(rbd("ab"), rbd("cd"), False, id="RBD: no monitor in common"),
        pytest.param(rbd(""), rbd(""), False, id="RBD: no monitors at all"),
        pytest.param(rbd("ab"), rbd("ab", pool="q"), False, id="RBD: other pool"),
        pytest.param(rbd("ab"), rbd("ab", image="j"), False, id="RBD: other image"),
        pytest.param(rbd("a", read_only=True), rbd("a", read_only=True), False, id="RBD: both read"),
        pytest.param(gce("d"), ebs("d"), False, id="names of different kinds"),
    ],
)
def test_disks_on_a_node(wanted: Document, running: Document, conflict: bool) -> None:
    nodes = two_nodes(pod_with(CONFIG_MAP, running, name="other", namespace="elsewhere"))
    assert rejections(plugin(), pod_with(CONFIG_MAP, wanted), nodes) == ({"a": DISK} if conflict else {})


def test_a_what_if_is_judged_by_its_own_pods() -> None:
    nodes = two_nodes(pod_with(gce("d"), name="other"))
    cycle, restrictions = Cycle(pod_with(gce("d")).info()), plugin()
    assert restrictions.pre_filter(cycle, nodes) is None
    swapped = nodes.take(np.array([1, 0]))
    swapped.remove_pod(1, nodes.pods(0)[0])
    assert restrictions.filter(cycle, swapped) is None
    swapped.add_pod(0, pod_with(gce("d"), name="guest").info())
    found = restrictions.filter(cycle, swapped)
    assert [found.status(row).code for row in range(2)] == [Code.UNSCHEDULABLE, Code.SUCCESS]


@pytest.mark.parametrize(
    ("wanted", "running", "refused"),
    [
        pytest.param("mine", pod_with(of_claim("mine"), name="o"), True, id="in use"),
        pytest.param("mine", pod_with(of_claim("ours"), name="o"), False, id="another in use"),
        pytest.param("ours", pod_with(of_claim("ours"), name="o"), False, id="for many pods"),
        pytest.param("mine", pod_with(of_claim("mine"), name="o", namespace="x"), False, id="namesake"),
    ],
)
def test_a_claim_for_one_pod_closes_every_node(wanted: str, running: PodBuilder, refused: bool) -> None:
    found = rejections(plugin(EXCLUSIVE), pod_with(of_claim(wanted)), two_nodes(running))
    assert found == ({"a": CLAIM, "b": CLAIM} if refused else {})


def test_the_disk_is_told_where_both_are_taken() -> None:
    nodes = two_nodes(pod_with(of_claim("mine"), gce("d"), name="other"))
    assert rejections(plugin(EXCLUSIVE), pod_with(of_claim("mine"), gce("d")), nodes) == {
        "a": DISK,
        "b": CLAIM,
    }


@pytest.mark.parametrize(
    ("volumes", "answer"),
    [
        pytest.param((CONFIG_MAP,), SKIP, id="nothing to restrict"),
        pytest.param((of_claim("mine"), EPHEMERAL), SKIP, id="claim not in use"),
        pytest.param((rbd(""),), None, id="a disk, though one that meets no other"),
        pytest.param(
            (of_claim("gone"),),
            Status.unresolvable('persistentvolumeclaim "gone" not found'),
            id="missing claim",
        ),
        pytest.param(
            (gce("d"), of_claim("")),
            Status.unresolvable('persistentvolumeclaim "" not found'),
            id="claim without a name",
        ),
    ],
)
def test_pre_filter(volumes: tuple[Document, ...], answer: Status | None) -> None:
    assert plugin(EXCLUSIVE).pre_filter(Cycle(pod_with(*volumes).info()), two_nodes()) == answer


def test_evicting_the_user_frees_the_claim_in_the_what_if_only() -> None:
    user = pod_with(of_claim("mine"), name="user")
    nodes = two_nodes(user)
    restrictions, cycle = plugin(EXCLUSIVE), Cycle(pod_with(of_claim("mine")).info())
    assert restrictions.pre_filter(cycle, nodes) is None
    hypothesis, there = cycle.clone(), nodes.take(np.array([0]))
    restrictions.remove_pod(hypothesis, there.remove_pod(0, user.info()), there, 0)
    assert restrictions.filter(hypothesis, there) is None
    restrictions.add_pod(hypothesis, pod_with(of_claim("mine"), name="guest").info(), there, 0)
    assert restrictions.filter(hypothesis, there) is not None
    assert restrictions.filter(cycle, nodes).rejected.all()


def test_in_a_what_if_a_claim_whose_user_went_from_another_row_is_in_use() -> None:
    claims = ("mine", "yours")
    users = [pod_with(of_claim(name), name=f"user-of-{name}") for name in claims]
    nodes = two_nodes(users[0])
    nodes.add_pod(1, users[1].info())
    restrictions = plugin(catalog_of(*(claim(name, modes=("ReadWriteOncePod",)) for name in claims)))
    cycle = Cycle(pod_with(*map(of_claim, claims)).info())
    assert restrictions.pre_filter(cycle, nodes) is None
    there = nodes.take(np.array([0, 1]))
    for row, user in enumerate(users):
        restrictions.remove_pod(cycle, there.remove_pod(row, user.info()), there, row)
    assert restrictions.filter(cycle, there).rejected.all()
    restrictions.remove_pod(cycle, users[1].info(), there, 0)
    assert restrictions.filter(cycle, there).rejected.tolist() == [False, True]


def hint(resource: EventResource) -> Any:
    return next(e.hint for e in plugin().events_to_register() if e.event.resource is resource)


def test_events() -> None:
    registered = {(e.event.resource, e.event.action) for e in plugin().events_to_register()}
    assert registered == {
        (EventResource.POD, ActionType.DELETE),
        (EventResource.NODE, ActionType.ADD),
        (EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD),
    }


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        pytest.param(pod_with(gce("d")), QueueingHint.QUEUE, id="it had the disk"),
        pytest.param(pod_with(of_claim("c")), QueueingHint.QUEUE, id="it had the claim"),
        pytest.param(pod_with(gce("e"), of_claim("x")), QueueingHint.SKIP, id="it had others"),
        pytest.param(pod_with(gce("d"), namespace="x"), QueueingHint.SKIP, id="another namespace"),
        pytest.param(pod_with(), QueueingHint.SKIP, id="it had nothing"),
    ],
)
def test_a_pod_went_away(gone: PodBuilder, expected: QueueingHint) -> None:
    pod = pod_with(gce("d"), of_claim("c"))
    assert hint(EventResource.POD)(pod.obj(), gone.obj(), None) is expected


@pytest.mark.parametrize(("name", "expected"), [("c", QueueingHint.QUEUE), ("other", QueueingHint.SKIP)])
def test_a_claim_was_made(name: str, expected: QueueingHint) -> None:
    judge = hint(EventResource.PERSISTENT_VOLUME_CLAIM)
    assert judge(pod_with(of_claim("c")).obj(), None, claim(name)) is expected
    assert judge(pod_with(of_claim("c"), namespace="x").obj(), None, claim(name)) is QueueingHint.SKIP
