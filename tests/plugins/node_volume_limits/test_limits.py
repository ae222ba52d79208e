"""NodeVolumeLimits: what counts against a node's limit, and what is said when it cannot be told."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.features import Features
from scheduler.framework.cycle import Cycle
from scheduler.framework.status import SKIP, Code, Status
from tests.builders import PodBuilder, make_node
from tests.plugins.harness import Handle, make_plugin, rejections, table
from tests.plugins.volumes import (
    CONFIG_MAP,
    EPHEMERAL,
    Document,
    attachment,
    catalog_of,
    claim,
    csi_driver,
    csi_node,
    csi_volume,
    ebs,
    of_claim,
    owned_claim,
    pod_with,
    storage_class,
    volume,
)

EXCEEDED = Status.unschedulable("node(s) exceed max volume count")
ON_NODE = (claim("a", "pv-a"), csi_volume("pv-a"), claim("b", "pv-b"), csi_volume("pv-b"))


def plugin(*objects: Any, **gates: bool) -> Any:
    handle = Handle(features=Features.default().with_gates(**gates), catalog=catalog_of(*objects))
    return make_plugin("NodeVolumeLimits", handle=handle)


def judged(limits: Any, pod: PodBuilder, *running: PodBuilder) -> Status | None:
    """What the plugin says of node n with the running pods; None when the pod fits."""
    nodes = table(make_node("n"))
    for other in running:
        nodes.add_pod(0, other.info())
    return rejections(limits, pod, nodes).get("n")


@pytest.mark.parametrize(
    ("limits", "running", "fits"),
    [
        pytest.param({"d": 1}, [], True, id="room"),
        pytest.param({"d": 0}, [], False, id="no room at all"),
        pytest.param({"d": 1}, [pod_with(of_claim("b"), name="o")], False, id="full"),
        pytest.param({"d": 2}, [pod_with(of_claim("b"), name="o")], True, id="room for one more"),
        pytest.param({"d": 1}, [pod_with(of_claim("a"), name="o")], True, id="it is there already"),
        pytest.param(
            {"d": 0}, [pod_with(of_claim("a"), name="o")], True, id="nothing new on an overfull node"
        ),
        pytest.param({"d": None}, [pod_with(of_claim("b"), name="o")], True, id="driver without a limit"),
        pytest.param({"e": 0}, [], True, id="another driver is limited"),
        pytest.param({}, [], True, id="no drivers"),
        pytest.param(
            {"d": 1}, [pod_with(of_claim("gone"), name="o")], True, id="a running pod's claim is gone"
        ),
        pytest.param(
            {"d": 2},
            [pod_with(of_claim("b"), name=name) for name in "op"],
            True,
            id="a volume shared counts once",
        ),
    ],
)
def test_volumes_count_against_the_limit(
    limits: dict[str, Any], running: list[PodBuilder], fits: bool
) -> None:
    found = judged(plugin(*ON_NODE, csi_node("n", **limits)), pod_with(of_claim("a")), *running)
    assert found == (None if fits else EXCEEDED)


def test_a_node_without_a_csi_node_has_no_limits() -> None:
    assert judged(plugin(*ON_NODE), pod_with(of_claim("a"))) is None


@pytest.mark.parametrize(
    ("attached", "fits"),
    [
        pytest.param(attachment("x", "n", "pv-b"), False, id="attached, used by nobody"),
        pytest.param(
            attachment("x", "n", "pv-a"), False, id="the pod's own counts twice when used by nobody"
        ),
        pytest.param(attachment("x", "m", "pv-b"), True, id="attached elsewhere"),
        pytest.param(attachment("x", "n", "gone"), True, id="volume is gone"),
        pytest.param(attachment("x", "n", None), True, id="no name of a volume"),
        pytest.param(attachment("x", "n", "pv-b", attacher=""), True, id="no attacher"),
        pytest.param(attachment("x", "n", "pv-b", attacher="e"), True, id="another attacher"),
        pytest.param(attachment("x", "n", "in-tree"), True, id="not a CSI volume"),
    ],
)
def test_attachments_count_too(attached: Any, fits: bool) -> None:
    limits = plugin(*ON_NODE, volume("in-tree", **ebs("v")), csi_node("n", d=1), attached)
    assert judged(limits, pod_with(of_claim("a"))) == (None if fits else EXCEEDED)


def test_an_attachment_of_a_running_pods_volume_counts_once() -> None:
    limits = plugin(*ON_NODE, csi_node("n", d=2), attachment("x", "n", "pv-b"))
    assert judged(limits, pod_with(of_claim("a")), pod_with(of_claim("b"), name="o")) is None


@pytest.mark.parametrize(
    ("objects", "driver"),
    [
        pytest.param((claim("c", storageClassName="s"), storage_class("s", "d")), "d", id="class"),
        pytest.param(
            (claim("c", "gone", storageClassName="s"), storage_class("s", "d")), "d", id="volume gone: class"
        ),
        pytest.param((claim("c", storageClassName="s"),), None, id="class gone"),
        pytest.param((claim("c"),), None, id="no class"),
        pytest.param((claim("c", storageClassName="s"), storage_class("s", "")), None, id="no provisioner"),
        pytest.param(
            (claim("c", storageClassName="s"), storage_class("s", "kubernetes.io/aws-ebs")),
            "ebs.csi.aws.com",
            id="class of a migrated plugin",
        ),
        pytest.param(
            (claim("c", storageClassName="s"), storage_class("s", "kubernetes.io/vsphere-volume")),
            None,
            id="class of a plugin that never counts",
        ),
        pytest.param(
            (claim("c", "pv"), volume("pv", **ebs("vol-1"))), "ebs.csi.aws.com", id="in-tree volume"
        ),
        pytest.param((claim("c", "pv"), volume("pv", **ebs("aws://z/odd"))), None, id="unreadable volume"),
        pytest.param((claim("c", "pv"), volume("pv", nfs={"path": "/"})), None, id="no such driver"),
        pytest.param((claim("c", "pv"), volume("pv", csi={"driver": "d"})), None, id="no handle"),
    ],
)
def test_the_driver_of_a_claim(objects: tuple[Any, ...], driver: str | None) -> None:
    full = csi_node("n", d=0, ebs__csi__aws__com=0, csi__vsphere__vmware__com=0)
    found = judged(plugin(*objects, full), pod_with(of_claim("c")))
    assert found == (None if driver is None else EXCEEDED)
    if driver is not None:
        roomy = csi_node("n", **{driver.replace(".", "__"): 1})
        assert judged(plugin(*objects, roomy), pod_with(of_claim("c"))) is None


def test_an_in_tree_disk_of_the_pod_itself_counts() -> None:
    limits = plugin(csi_node("n", ebs__csi__aws__com=1))
    other = pod_with(ebs("aws://z/vol-1"), name="o")
    assert judged(limits, pod_with(ebs("vol-1")), other) is None
    assert judged(limits, pod_with(ebs("vol-2")), other) == EXCEEDED


def test_unbound_claims_are_told_apart() -> None:
    limits = plugin(
        *(claim(name, storageClassName="s") for name in "cd"), storage_class("s"), csi_node("n", d=1)
    )
    assert judged(limits, pod_with(of_claim("c")), pod_with(of_claim("c"), name="o")) is None
    assert judged(limits, pod_with(of_claim("c")), pod_with(of_claim("d"), name="o")) == EXCEEDED


@pytest.mark.parametrize(
    ("volumes", "code", "reason"),
    [
        pytest.param(
            (of_claim("gone"),),
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            'looking up PVC default/gone: persistentvolumeclaim "gone" not found',
            id="missing claim",
        ),
        pytest.param((of_claim(""),), Code.ERROR, "PersistentVolumeClaim had no name", id="no name"),
        pytest.param(
            (EPHEMERAL,),
            Code.ERROR,
            "PVC default/pod-v0 was not created for pod default/pod (pod is not owner)",
            id="somebody else's claim",
        ),
        pytest.param(
            (ebs("aws://z/odd"), of_claim("gone")),
            Code.ERROR,
            "converting volume(v0) from inline to csi: failed to translate Kubernetes ID to EBS Volume ID"
            " Invalid format for AWS volume (aws://z/odd)",
            id="the first fault is told",
        ),
    ],
)
def test_volumes_that_cannot_be_told(volumes: tuple[Document, ...], code: Code, reason: str) -> None:
    found = judged(plugin(csi_node("n"), owned_claim("pod-v0", "other")), pod_with(*volumes))
    assert found is not None
    assert (found.code, found.reasons) == (code, (reason,))


def test_an_unreadable_disk_is_not_looked_at_without_a_csi_node() -> None:
    assert judged(plugin(), pod_with(ebs("aws://z/odd"))) is None


def test_a_running_pods_fault_is_its_nodes() -> None:
    limits = plugin(*ON_NODE, csi_node("n", d=9), csi_node("m", d=9), owned_claim("o-v0", "other"))
    nodes = table(make_node("n"), make_node("m"))
    nodes.add_pod(0, pod_with(EPHEMERAL, name="o").info())
    found = rejections(limits, pod_with(of_claim("a")), nodes)
    assert {name: (status.code, status.reasons) for name, status in found.items()} == {
        "n": (Code.ERROR, ("PVC default/o-v0 was not created for pod default/o (pod is not owner)",))
    }


@pytest.mark.parametrize(
    ("volumes", "answer"),
    [
        pytest.param((), SKIP, id="no volumes"),
        pytest.param((CONFIG_MAP, {"csi": {"driver": "d"}}), SKIP, id="nothing that is attached"),
        pytest.param((CONFIG_MAP, of_claim("a")), None, id="a claim"),
        pytest.param((EPHEMERAL,), None, id="an ephemeral volume"),
        pytest.param((ebs("v"),), None, id="an in-tree disk"),
        pytest.param(({"azureFile": {"shareName": "s"}},), None, id="an in-tree share"),
        pytest.param(({"iscsi": {"iqn": "q"}},), SKIP, id="a disk that no CSI driver replaced"),
    ],
)
def test_pre_filter(volumes: tuple[Document, ...], answer: Status | None) -> None:
    assert plugin().pre_filter(Cycle(pod_with(*volumes).info()), table(make_node("n"))) == answer


@pytest.mark.parametrize(
    ("driver", "node", "gate", "fits"),
    [
        pytest.param(csi_driver("d", preventPodSchedulingIfMissing=True), None, True, False, id="no CSINode"),
        pytest.param(
            csi_driver("d", preventPodSchedulingIfMissing=True),
            csi_node("n", e=1),
            True,
            False,
            id="other drivers",
        ),
        pytest.param(
            csi_driver("d", preventPodSchedulingIfMissing=True),
            csi_node("n", d=None),
            True,
            True,
            id="it is there",
        ),
        pytest.param(
            csi_driver("d", preventPodSchedulingIfMissing=False), None, True, True, id="it does not mind"
        ),
        pytest.param(csi_driver("d"), None, True, True, id="it does not say"),
        pytest.param(
            csi_driver("e", preventPodSchedulingIfMissing=True), None, True, True, id="no such driver"
        ),
        pytest.param(csi_driver("d", preventPodSchedulingIfMissing=True), None, False, True, id="gate off"),
    ],
)
def test_a_missing_driver_keeps_pods_away_where_it_asks_for_it(
    driver: Any, node: Any, gate: bool, fits: bool
) -> None:
    limits = plugin(*ON_NODE, driver, *([] if node is None else [node]), VolumeLimitScaling=gate)
    missing = Status.unschedulable("d CSI driver is not installed on the node")
    assert judged(limits, pod_with(of_claim("a"))) == (None if fits else missing)
