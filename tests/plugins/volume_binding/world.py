"""A cluster with storage, a clock that stands, and the plugin in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scheduler.apis.config.args import UtilizationShapePoint, VolumeBindingArgs
from scheduler.apis.objects import (
    CSIStorageCapacity,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    convert,
)
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.live import Live
from scheduler.framework.node_table import NodeTable
from scheduler.framework.status import SUCCESS, Status
from scheduler.plugins.volume_binding import VolumeBinding
from tests.builders import PodBuilder, make_node
from tests.plugins.harness import Handle
from tests.plugins.volumes import Document, catalog_of

ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
BOUND = {"pv.kubernetes.io/bind-completed": "yes"}
SELECTED_NODE = "volume.kubernetes.io/selected-node"

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NOT_ENOUGH = "node(s) did not have enough free storage"
MISSING = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"


def cluster(*zones: str) -> NodeTable:
    """Nodes n0, n1, … in these zones; an empty one is none."""
    table = NodeTable()
    for number, zone in enumerate(zones):
        node = make_node(f"n{number}").label(HOST, f"n{number}")
        table.set_node((node.label(ZONE, zone) if zone else node).obj())
    return table


def within(key: str, *values: str) -> Document:
    """A volume's node affinity: the label has one of the values."""
    expression = {"key": key, "operator": "In", "values": list(values)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def disk(
    name: str,
    size: str = "10Gi",
    of_class: str = "local",
    *,
    reach: Document | None = None,
    metadata: Document | None = None,
    phase: str = "Available",
    **spec: Any,
) -> PersistentVolume:
    """A volume that waits for a claim, reached from everywhere unless ``reach`` says otherwise."""
    document = {
        "metadata": {"name": name, "resourceVersion": "1", **(metadata or {})},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": of_class,
            "nodeAffinity": reach,
            **spec,
        },
        "status": {"phase": phase},
    }
    return convert(PersistentVolume, document)


def wish(
    name: str,
    size: str | None = "5Gi",
    of_class: str | None = "local",
    *,
    annotations: Mapping[str, str] | None = None,
    metadata: Document | None = None,
    phase: str = "Pending",
    **spec: Any,
) -> PersistentVolumeClaim:
    """A claim in the default namespace that is not bound yet."""
    document = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "annotations": dict(annotations or {}),
            **(metadata or {}),
        },
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {} if size is None else {"storage": size}},
            "storageClassName": of_class,
            **spec,
        },
        "status": {"phase": phase},
    }
    return convert(PersistentVolumeClaim, document)


def held(name: str, volume: str, **others: Any) -> PersistentVolumeClaim:
    """A claim that is bound for good."""
    return wish(name, annotations=BOUND, phase="Bound", volumeName=volume, **others)


def sort_of(
    name: str, provisioner: str = "kubernetes.io/no-provisioner", topologies: Any = None
) -> StorageClass:
    """A class that waits for the first consumer."""
    document = {
        "metadata": {"name": name},
        "provisioner": provisioner,
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowedTopologies": topologies,
    }
    return convert(StorageClass, document)


def storage(
    name: str, zone: str | None, amount: str | None, of_class: str = "made", largest: str | None = None
) -> CSIStorageCapacity:
    """Storage in a zone; in none without one."""
    document = {
        "metadata": {"name": name, "namespace": "kube-system"},
        "storageClassName": of_class,
        "nodeTopology": None if zone is None else {"matchLabels": {ZONE: zone}},
        "capacity": amount,
        "maximumVolumeSize": largest,
    }
    return convert(CSIStorageCapacity, document)


@dataclass
class World:
    """The plugin and what it sees."""

    catalog: Catalog
    nodes: NodeTable
    features: Features = field(default_factory=Features.default)
    shape: tuple[UtilizationShapePoint, ...] | None = None
    timeout: int = 600
    live: Live = field(default_factory=Live)
    port: Any = None

    def __post_init__(self) -> None:
        self.plugin = VolumeBinding(
            VolumeBindingArgs(self.timeout, self.shape),
            Handle(features=self.features, catalog=self.catalog, live=self.live, port=self.port),  # type: ignore[arg-type]
        )

    def start(self, pod: PodBuilder) -> tuple[Cycle, Status]:
        """PreFilter."""
        cycle = Cycle(pod.info())
        answer = self.plugin.pre_filter(cycle, self.nodes)
        return cycle, answer if isinstance(answer, Status) else SUCCESS

    def verdicts(self, pod: PodBuilder) -> dict[str, Any]:
        """The reasons by node; those of PreFilter, when it refuses, for all."""
        cycle, status = self.start(pod)
        if not status.ok:
            return {"": status.reasons or status.code}
        found = self.plugin.filter(cycle, self.nodes)
        statuses = {
            name: SUCCESS if found is None else found.status(row) for row, name in enumerate(self.nodes.names)
        }
        return {name: status.reasons for name, status in statuses.items() if not status.ok}

    def reserved(self, pod: PodBuilder, node: str) -> Cycle:
        """PreFilter, Filter and Reserve on the node."""
        cycle, status = self.start(pod)
        assert status.ok, status
        self.plugin.filter(cycle, self.nodes)
        assert self.plugin.reserve(cycle, node) is None
        return cycle

    def choice(self, pod: PodBuilder, node: str) -> dict[str, str]:
        """What each claim gets on the node: a volume, or ``made`` there. Nothing stays assumed."""
        cycle = self.reserved(pod, node)
        binding = cycle.state["VolumeBinding"].binding
        self.plugin.unreserve(cycle, node)
        if binding is None:
            return {}
        found = {pair.claim.metadata.name: pair.volume.metadata.name for pair in binding.chosen.bindings}
        return found | {claim.metadata.name: "made" for claim in binding.chosen.provisions}


def world(nodes: NodeTable, *objects: Any, **settings: Any) -> World:
    """A world of these objects."""
    return World(catalog_of(*objects), nodes, **settings)


def standing(pod: Pod, *nodes: Node) -> tuple[list[float], Live]:
    """Time that passes only while somebody waits, as a list of one number; pod and nodes are there."""
    clock = [0.0]
    known = {node.metadata.name: node for node in nodes}

    def wait(seconds: float) -> bool:
        clock[0] += seconds
        return False

    return clock, Live(lambda namespace, name: pod, known.get, now=lambda: clock[0], wait=wait)
