"""Many pods out of one: copies of a pod, or the pods that a workload would make."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from scheduler.apis.objects import Pod, PodStatus
from scheduler.app.cli.explain import subject
from scheduler.app.cli.inputs import CommandError
from scheduler.explain.cluster import Cluster, pod_of
from scheduler.explain.objects import Objects


@dataclass(frozen=True, slots=True)
class Copies:
    """Where copies come from.

    Attributes:
        name: what is copied.
        make: number -> the pod of that number.
        wanted: how many there would be by themselves.
        cluster: everything that is there before: the pods on a node; of what waits, nothing.
        notes: what to know.
    """

    name: str
    make: Callable[[int], Pod]
    wanted: int
    cluster: Objects
    notes: tuple[str, ...]


def copies_of(cluster: Cluster, name: str, namespace: str) -> Copies:
    """Copies of a pod (``NAME``) or of a workload's pods (``KIND/NAME``). Raises CommandError."""
    if subject.names_workload(name):
        one = subject.workload(cluster, name, namespace)
        if one.pod_template is None:
            raise CommandError(
                f"{one.kind} {one.metadata.namespace}/{one.metadata.name}: it has no pod template"
            )
        notes: tuple[str, ...] = ()
        if one.spec.volume_claim_templates:
            notes = (
                f"{name}: its volumeClaimTemplates are left out: the copies have no volumes of their own",
            )
        return Copies(
            name,
            lambda number: pod_of(one, number, cluster.completion),
            one.pods_wanted,
            *_without_waiting(cluster.objects, notes),
        )
    found = subject.find(cluster, name, namespace)
    return Copies(
        found.pod.full_name, lambda number: _copy(found.pod, number), 1, *_without_waiting(found.others, ())
    )


def _copy(pod: Pod, number: int) -> Pod:
    """A pod like this one that has yet to be scheduled."""
    meta = pod.metadata
    name = f"{meta.name}-{number}"
    return replace(
        pod,
        metadata=replace(
            meta,
            name=name,
            uid=f"Pod/{meta.namespace}/{name}",
            creation_timestamp="",
            deletion_timestamp="",
        ),
        spec=replace(pod.spec, node_name=""),
        status=PodStatus(),
    )


def _without_waiting(objects: Objects, notes: tuple[str, ...]) -> tuple[Objects, tuple[str, ...]]:
    there = [pod for pod in objects.pods if pod.spec.node_name]
    left_out = len(objects.waiting())
    if left_out:
        notes = (*notes, f"pods of the input that wait for a node are left out: {left_out}")
    return Objects(objects.nodes, there, objects.others), notes
