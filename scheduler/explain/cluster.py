"""Cluster: what a user hands in: manifests, Lists and dumps in any mix, read, completed, and ready to be asked about a pod.

An object may be given once only. What a server would fill in is filled in (see ``completion``); a workload is kept beside the pods,
so that one can ask about a pod of its template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from scheduler.apis.manifests import Manifest
from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    Namespace,
    Node,
    PersistentVolume,
    PriorityClass,
    ReplicaSet,
    RuntimeClass,
    StorageClass,
    VolumeAttachment,
    Workload,
)
from scheduler.explain.completion import Completion
from scheduler.explain.objects import KINDS, InputError, Objects, Placed, identified, kind_of, read_kind

WORKLOADS = frozenset(
    {
        "Deployment",
        "ReplicaSet",
        "StatefulSet",
        "DaemonSet",
        "ReplicationController",
        "Job",
        "CronJob",
        "PodTemplate",
    }
)
_CLUSTER_WIDE = (
    Namespace,
    Node,
    PersistentVolume,
    StorageClass,
    CSINode,
    CSIDriver,
    VolumeAttachment,
    PriorityClass,
    RuntimeClass,
)
_CLASSES: dict[str, type[Any]] = {"PriorityClass": PriorityClass, "RuntimeClass": RuntimeClass}


@dataclass(slots=True)
class Cluster:
    """What was handed in.

    Attributes:
        objects: what scheduling reads.
        workloads: makers of pods.
        completion: how objects that are made later are completed; its notes tell what could not be.
    """

    objects: Objects = field(default_factory=Objects)
    workloads: list[Workload] = field(default_factory=list)
    completion: Completion = field(default_factory=lambda: Completion(()))

    @property
    def notes(self) -> list[str]:
        """What a user should know about the input, a line each."""
        return self.completion.notes


def read_cluster(
    manifests: Iterable[Manifest], namespace: str = "default", known: Iterable[Any] = ()
) -> Cluster:
    """Read manifests.

    Args:
        namespace: of objects that name none.
        known: objects to begin with, complete and typed (a live cluster's).

    Raises:
        InputError: a field is of the wrong type, a name is missing, or an object is given twice.
        scheduler.apis.manifests.ManifestError: a file cannot be read.
    """
    typed = list(known)
    seen = {_identity(one): "the cluster" for one in typed}
    workloads: list[Workload] = []
    for manifest in manifests:
        for obj in _typed(Placed(manifest.obj, manifest.place)):
            placed = _in_namespace(obj, namespace)
            _refuse_twins(seen, placed, manifest.place)
            (workloads if isinstance(placed, Workload) else typed).append(placed)
    cluster = Cluster(workloads=workloads, completion=Completion(typed))
    for obj in typed:
        if type(obj).__name__ in KINDS:
            cluster.objects.add(identified(cluster.completion.complete(obj)))
    return cluster


def _typed(placed: Placed) -> Iterator[Any]:
    """What a document stands for: a StatefulSet is an object that plugins read, and a maker of pods."""
    kind = kind_of(placed)
    wanted = KINDS.get(kind) or _CLASSES.get(kind)
    if wanted is not None:
        yield read_kind(wanted, placed)
    if kind in WORKLOADS:
        yield read_kind(Workload, placed)
    if kind == "Deployment":
        # Its pods belong to a replica set with the same selector, which is there on a real cluster.
        yield read_kind(ReplicaSet, placed)


def _in_namespace(obj: Any, namespace: str) -> Any:
    if obj.metadata.namespace or isinstance(obj, _CLUSTER_WIDE):
        return obj
    return replace(obj, metadata=replace(obj.metadata, namespace=namespace))


def _identity(obj: Any) -> tuple[str, str, str]:
    kind = f"workload {obj.kind}" if isinstance(obj, Workload) else type(obj).__name__
    return kind, obj.metadata.namespace, obj.metadata.name


def _refuse_twins(seen: dict[tuple[str, str, str], str], obj: Any, place: str) -> None:
    identity = _identity(obj)
    if identity in seen:
        name = "/".join(filter(None, identity[1:]))
        raise InputError(
            f"{place}: {identity[0].removeprefix('workload ')} {name} is given twice, first in {seen[identity]}"
        )
    seen[identity] = place
