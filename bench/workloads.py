"""The cluster of the plugins' measurements: nodes in zones, and workloads whose replicas run all over them.

A workload is what a Deployment or StatefulSet makes: many pods of one namespace and one set of labels, that nobody else has.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scheduler.apis.objects import (
    CSINode,
    Namespace,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    convert,
)
from scheduler.framework.catalog import Catalog
from scheduler.scheduling.scheduler import Scheduler

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DRIVER, STORAGE_CLASS = "disk.csi.example.com", "disk"
NAMESPACES, ZONES = 10, 5
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
VOLUMES_PER_NODE = 39

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """How large the cluster is.

    Attributes:
        pods: running pods.
        workloads: distinct sets of labels among them.
        volumes: how many of the pods have a claim that is bound to a volume.
        apart: whether the pods of each workload refuse each other's node and avoid each other's zone.
    """

    nodes: int = 5_000
    pods: int = 10_000
    workloads: int = 200
    volumes: int = 0
    apart: bool = False


def namespace_of(workload: int) -> str:
    """The namespace of a workload."""
    return f"team-{workload % NAMESPACES}"


def labels_of(workload: int) -> dict[str, str]:
    """The labels of its pods."""
    return {"app": f"app-{workload}", "pod-template-hash": f"{workload:010x}"}


def pod_document(name: str, workload: int, **spec: Any) -> Document:
    """A pod of a workload that asks for a little cpu and memory, with more fields of ``spec``."""
    resources = {"cpu": "100m", "memory": "128Mi"}
    container = {
        "name": "app",
        "image": f"registry.example/app-{workload}:v1",
        "resources": {"requests": resources, "limits": resources},
    }
    metadata = {
        "name": name,
        "namespace": namespace_of(workload),
        "uid": name,
        "labels": labels_of(workload),
    }
    return {
        "metadata": metadata,
        "spec": {"schedulerName": "default-scheduler", "containers": [container], **spec},
    }


def claim_of(pod: str) -> Document:
    """The volume of a pod, as its ``spec.volumes`` names it."""
    return {"name": "data", "persistentVolumeClaim": {"claimName": f"data-{pod}"}}


def fill(scheduler: Scheduler, catalog: Catalog, shape: Shape) -> None:
    """Put all of it into the scheduler's state."""
    cluster = scheduler.cluster
    for number in range(shape.nodes):
        cluster.add_node(convert(Node, _node(number)))
    for number in range(NAMESPACES):
        catalog.namespaces.put(convert(Namespace, {"metadata": {"name": namespace_of(number)}}))
    if shape.volumes:
        _add_storage(catalog, shape.nodes)
    for pod, claim in _running(shape):
        if claim:
            add_volume(catalog, pod.metadata.name, pod.metadata.namespace, zone=claim)
        cluster.add_pod(pod)


def _running(shape: Shape) -> Iterator[tuple[Pod, str]]:
    """The running pods, each with the zone of its volume, empty when it has none."""
    for number in range(shape.pods):
        # The replicas of a workload are spread over nodes and zones, whatever the sizes.
        name, row = f"running-{number}", (number * 7 + number // shape.workloads) % shape.nodes
        claimed = number < shape.volumes
        spec: Document = {"nodeName": f"node-{row}"}
        workload = number % shape.workloads
        if claimed:
            spec["volumes"] = [claim_of(name)]
        if shape.apart:
            spec["affinity"] = apart(workload)
        document = pod_document(name, workload, **spec)
        document["status"] = {"phase": "Running"}
        yield convert(Pod, document), zone_of(row) if claimed else ""


def apart(workload: int) -> Document:
    """The affinity of pods that refuse each other's node and avoid each other's zone: what charts of many applications say."""
    term = {"labelSelector": {"matchLabels": labels_of(workload)}}
    preferred = {"weight": 100, "podAffinityTerm": {**term, "topologyKey": ZONE}}
    return {"podAntiAffinity": {REQUIRED: [{**term, "topologyKey": HOSTNAME}], PREFERRED: [preferred]}}


def zone_of(node: int) -> str:
    """The zone of a node."""
    return f"zone-{node % ZONES}"


def _node(number: int) -> Document:
    name = f"node-{number}"
    return {
        "metadata": {"name": name, "labels": {HOSTNAME: name, ZONE: zone_of(number)}},
        "status": {"allocatable": {"cpu": "32", "memory": "128Gi", "pods": "110"}},
    }


def _add_storage(catalog: Catalog, nodes: int) -> None:
    """The class of the volumes, and the driver on every node."""
    document = {"metadata": {"name": STORAGE_CLASS}, "provisioner": DRIVER}
    catalog.storage_classes.put(convert(StorageClass, document))
    for number in range(nodes):
        driver = {
            "name": DRIVER,
            "nodeID": f"node-{number}",
            "topologyKeys": [ZONE],
            "allocatable": {"count": VOLUMES_PER_NODE},
        }
        catalog.csi_nodes.put(
            convert(CSINode, {"metadata": {"name": f"node-{number}"}, "spec": {"drivers": [driver]}})
        )


def add_volume(catalog: Catalog, pod: str, namespace: str, zone: str) -> None:
    """A pod's claim and the volume that it is bound to, which can be reached from one zone."""
    claim, volume = f"data-{pod}", f"volume-{pod}"
    common = {
        "storageClassName": STORAGE_CLASS,
        "accessModes": ["ReadWriteOnce"],
        "volumeMode": "Filesystem",
    }
    metadata = {
        "name": claim,
        "namespace": namespace,
        "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
    }
    spec = {**common, "volumeName": volume, "resources": {"requests": {"storage": "10Gi"}}}
    catalog.persistent_volume_claims.put(
        convert(PersistentVolumeClaim, {"metadata": metadata, "spec": spec, "status": {"phase": "Bound"}})
    )
    zones = {"matchExpressions": [{"key": ZONE, "operator": "In", "values": [zone]}]}
    source = {
        **common,
        "capacity": {"storage": "10Gi"},
        "claimRef": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim},
        "csi": {"driver": DRIVER, "volumeHandle": volume},
        "nodeAffinity": {"required": {"nodeSelectorTerms": [zones]}},
    }
    catalog.persistent_volumes.put(
        convert(
            PersistentVolume, {"metadata": {"name": volume}, "spec": source, "status": {"phase": "Bound"}}
        )
    )
