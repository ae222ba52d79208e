"""Random clusters full of volumes for the laws: few claims, volumes, drivers and disks, so that pods share and collide.

A cluster is made of a list of changes, each an object that is put or removed, a pod that comes or goes, or a node that does;
so a law can also look after every change. Names meet by chance: claims without volumes, volumes without claims, attachments of
anything.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from scheduler.apis.objects import (
    CSINode,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    VolumeAttachment,
    convert,
)
from scheduler.framework.catalog import Catalog
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import PodInfo
from tests.laws.volume_reference import ZONES

Document = dict[str, Any]
_pick = st.sampled_from

NODES = ("n0", "n1", "n2", "n3")
PODS = ("p0", "p1", "p2", "p3", "p4")
CLAIMS = ("c0", "c1", "c2", "p0-v", "p1-v", "pending-v")
VOLUMES = ("pv0", "pv1", "pv2")
DRIVERS = ("d0", "d1", "ebs.csi.aws.com")
CLASSES = ("fast", "ebs", "sphere", "none")


def _record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(fields)


def _maybe(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries({}, optional=fields)


_LABELS = st.dictionaries(_pick(ZONES), _pick(("a", "b", "a__b", "a__", " b ")), max_size=2)
_EBS = _record(volumeID=_pick(("vol-1", "aws://a/vol-1", "aws://a/odd")))
_GCE = _record(pdName=_pick(("disk", "other")), readOnly=st.booleans())
_SOURCES = st.one_of(
    _record(csi=_record(driver=_pick(DRIVERS), volumeHandle=_pick(("h0", "h1", "vol-1", "")))),
    _record(awsElasticBlockStore=_EBS),
    _record(gcePersistentDisk=_GCE),
    _record(vsphereVolume=_record(volumePath=_pick(("x",)))),
)
_POD_VOLUMES = st.one_of(
    _record(persistentVolumeClaim=_record(claimName=_pick(CLAIMS[:3]))),
    _record(persistentVolumeClaim=_record(claimName=_pick(CLAIMS[:3]))),
    _record(ephemeral=_record(volumeClaimTemplate=st.just({}))),
    _record(awsElasticBlockStore=_EBS),
    _record(gcePersistentDisk=_GCE),
    _record(iscsi=_record(iqn=_pick(("i", "j")), lun=_pick((0, 1)), readOnly=st.booleans())),
    _record(
        rbd=_record(
            monitors=st.lists(_pick(("m", "n", "o")), max_size=2),
            pool=_pick(("rbd",)),
            image=_pick(("x", "y")),
            readOnly=st.booleans(),
        )
    ),
    st.just({"configMap": {}}),
).map(lambda volume: {"name": "v", **volume})

Change = Callable[[NodeTable, Catalog], None]
"""What happens to a cluster."""


def _pod(name: str, volumes: list[Document]) -> PodInfo:
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    return PodInfo(convert(Pod, {"metadata": metadata, "spec": {"volumes": volumes}}))


def _put(kind: type[Any], name: str, document: Document, **metadata: Any) -> Change:
    namespace = "default" if kind is PersistentVolumeClaim else ""
    document = {"metadata": {"name": name, "namespace": namespace, **metadata}, **document}
    return lambda _, catalog: catalog.of(kind).put(convert(kind, document))


def _remove(kind: type[Any], name: str) -> Change:
    namespace = "default" if kind is PersistentVolumeClaim else ""
    gone = convert(kind, {"metadata": {"name": name, "namespace": namespace}})
    return lambda _, catalog: catalog.of(kind).remove(gone)


def _place(name: str, volumes: list[Document], node: str) -> Change:
    """The pod is on this node, and nowhere else; gone when there is no such node."""

    def change(table: NodeTable, catalog: Catalog) -> None:
        pod = _pod(name, volumes)
        for row, pods in enumerate(table.pods_by_row):
            if any(other.uid == pod.uid for other in pods):
                table.remove_pod(row, pod)
        row_there = table.row_of(node)
        if row_there is not None:
            table.add_pod(row_there, pod)

    return change


def _set_node(name: str, labels: Document | None) -> Change:
    """The node has these labels; None removes it, unless it is the last."""

    def change(table: NodeTable, catalog: Catalog) -> None:
        if labels is not None:
            table.set_node(convert(Node, {"metadata": {"name": name, "labels": labels}}))
        elif table.row_of(name) is not None and len(table) > 1:
            table.remove_node(name)

    return change


_CLAIM_CHANGES = st.builds(
    lambda name, spec, owner: _put(
        PersistentVolumeClaim, name, {"spec": spec}, ownerReferences=[{"uid": owner, "controller": True}]
    ),
    _pick(CLAIMS),
    _maybe(
        volumeName=_pick((*VOLUMES, "gone")),
        storageClassName=_pick((*CLASSES, "")),
        accessModes=_pick((["ReadWriteOncePod"], ["ReadWriteOnce"])),
    ),
    _pick(("uid-p0", "uid-p1", "uid-pending", "other")),
)
_VOLUME_CHANGES = st.builds(
    lambda name, source, labels: _put(PersistentVolume, name, {"spec": source}, labels=labels),
    _pick(VOLUMES),
    _SOURCES,
    _LABELS,
)
_CLASS_CHANGES = st.builds(
    lambda name, provisioner: _put(
        StorageClass, name, {"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer"}
    ),
    _pick(CLASSES),
    _pick(("d0", "d1", "kubernetes.io/aws-ebs", "kubernetes.io/vsphere-volume", "")),
)
_CSI_NODE_CHANGES = st.builds(
    lambda name, limits: _put(
        CSINode,
        name,
        {"spec": {"drivers": [{"name": d, "allocatable": {"count": c}} for d, c in limits.items()]}},
    ),
    _pick(NODES),
    st.dictionaries(_pick(DRIVERS), _pick((None, 0, 1, 2)), max_size=3),
)
_ATTACHMENT_CHANGES = st.builds(
    lambda name, spec: _put(VolumeAttachment, name, {"spec": spec}),
    _pick(("a0", "a1", "a2")),
    _record(
        attacher=_pick((*DRIVERS, "")),
        nodeName=_pick(NODES),
        source=_maybe(persistentVolumeName=_pick((*VOLUMES, "gone"))),
    ),
)
_REMOVALS = st.one_of(
    st.builds(_remove, st.just(PersistentVolumeClaim), _pick(CLAIMS)),
    st.builds(_remove, st.just(PersistentVolume), _pick(VOLUMES)),
    st.builds(_remove, st.just(StorageClass), _pick(CLASSES)),
    st.builds(_remove, st.just(CSINode), _pick(NODES)),
    st.builds(_remove, st.just(VolumeAttachment), _pick(("a0", "a1", "a2"))),
    st.builds(_set_node, _pick(NODES), st.none()),
)
_PLACEMENTS = st.builds(_place, _pick(PODS), st.lists(_POD_VOLUMES, max_size=2), _pick((*NODES, "nowhere")))

CHANGES = st.lists(
    st.one_of(
        _PLACEMENTS,
        _PLACEMENTS,
        _CLAIM_CHANGES,
        _VOLUME_CHANGES,
        _CLASS_CHANGES,
        _CSI_NODE_CHANGES,
        _CSI_NODE_CHANGES,
        _ATTACHMENT_CHANGES,
        _REMOVALS,
        st.builds(_set_node, _pick(NODES), _LABELS),
    ),
    min_size=4,
    max_size=20,
)
"""What happens to a cluster, one thing after the other."""

PENDING = st.builds(_pod, st.just("pending"), st.lists(_POD_VOLUMES, min_size=1, max_size=2))
"""A pod with volumes that is to be placed."""

GUESTS = st.builds(_pod, _pick(("g0", "g1")), st.lists(_POD_VOLUMES, max_size=2))
"""A pod for a what-if."""


def empty_cluster() -> tuple[NodeTable, Catalog]:
    """Two nodes; the claims, volumes and classes that most pods need."""
    table, catalog = NodeTable(), Catalog()
    for name, zone in (("n0", "a"), ("n1", "b")):
        _set_node(name, {ZONES[2]: zone})(table, catalog)
        limits = [{"name": driver, "allocatable": {"count": 1}} for driver in DRIVERS]
        _put(CSINode, name, {"spec": {"drivers": limits}})(table, catalog)
    for claim, volume in zip(CLAIMS, VOLUMES, strict=False):
        _put(PersistentVolumeClaim, claim, {"spec": {"volumeName": volume}})(table, catalog)
        csi = {"driver": "d0", "volumeHandle": volume}
        _put(PersistentVolume, volume, {"spec": {"csi": csi}})(table, catalog)
    return table, catalog
