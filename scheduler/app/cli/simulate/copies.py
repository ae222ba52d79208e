"""Many pods out of one: copies of a pod, or the pods that a workload would make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count

from msgspec.structs import replace

from scheduler.apis.objects import Pod, PodStatus, Workload
from scheduler.app.cli.explain import subject
from scheduler.app.cli.inputs import CommandError
from scheduler.explain.cluster import Cluster
from scheduler.explain.objects import InputError, Objects
from scheduler.explain.workload_pods import Made, admitting_nodes, free_numbers, make_pod, on_node


@dataclass(frozen=True, slots=True)
class Copies:
    """Where copies come from.

    Attributes:
        makes: one copy after the other; a DaemonSet ends with the last node that is for it, the others go on without an end.
        wanted: how many there would be by themselves.
        cluster: everything that is there before: the pods on a node; of what waits, nothing.
        notes: what to know.
    """

    makes: Iterator[Made]
    wanted: int
    cluster: Objects
    notes: tuple[str, ...]


def copies_of(cluster: Cluster, name: str, namespace: str) -> Copies:
    """Copies of a pod (``NAME``) or of a workload's pods (``KIND/NAME``). Raises CommandError."""
    if not subject.names_workload(name):
        found = subject.find(cluster, name, namespace)
        makes = (Made(_copy(found.pod, number)) for number in count())
        return Copies(makes, 1, *_without_waiting(found.others))
    one = subject.workload(cluster, name, namespace)
    there, notes = _without_waiting(cluster.objects)
    try:
        if one.kind == "DaemonSet":
            daemons = list(_daemons(one, cluster))
            return Copies(iter(daemons), len(daemons), there, notes)
        make_pod(one, 0, cluster.completion)  # fails here rather than halfway
    except InputError as error:
        raise CommandError(str(error)) from error
    numbers = free_numbers(one, there.pods)
    return Copies(
        (make_pod(one, each, cluster.completion) for each in numbers), one.pods_wanted, there, notes
    )


def _daemons(one: Workload, cluster: Cluster) -> Iterator[Made]:
    """The pods of a DaemonSet, in the order of their nodes."""
    numbers = free_numbers(one, cluster.objects.pods)
    pod = make_pod(one, 0, cluster.completion).pod
    for node in admitting_nodes(pod, cluster.objects.nodes):
        yield Made(on_node(make_pod(one, next(numbers), cluster.completion).pod, node))


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


def _without_waiting(objects: Objects) -> tuple[Objects, tuple[str, ...]]:
    there = [pod for pod in objects.pods if pod.spec.node_name]
    left_out = len(objects.waiting())
    notes = (f"pods of the input that wait for a node are left out: {left_out}",) if left_out else ()
    return Objects(objects.nodes, there, objects.others), notes
