"""The pod that is asked about: one of the cluster's by name, or one that a workload would make (``deployment/web``).

A pod that has a node already is asked about as if it did not run yet. It still names its node, which leaves the others out; ``anywhere``
takes the name away.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from scheduler.apis.objects import Pod, Workload
from scheduler.app.cli.inputs import CommandError
from scheduler.explain.cluster import Cluster, pod_of
from scheduler.explain.objects import InputError, Objects

_SHORT = {
    "deploy": "deployment",
    "rs": "replicaset",
    "sts": "statefulset",
    "ds": "daemonset",
    "rc": "replicationcontroller",
    "cj": "cronjob",
    "po": "pod",
}
_LISTED = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """The pod, the others, and what to know about it."""

    pod: Pod
    others: Objects
    notes: tuple[str, ...] = ()


def find(cluster: Cluster, name: str, namespace: str, *, anywhere: bool = False) -> Subject:
    """The pod of that name, ``NAME`` or ``KIND/NAME``; without a name the only pod that is pending. Raises CommandError."""
    if not name:
        return _of_pod(cluster, _only_pending(cluster), anywhere)
    if names_workload(name):
        return _of_workload(cluster, workload(cluster, name, namespace))
    wanted = f"{namespace}/{name.rpartition('/')[2]}"
    found = next((pod for pod in cluster.objects.pods if pod.full_name == wanted), None)
    if found is None:
        raise CommandError(f"there is no pod {wanted}; {_pending_names(cluster)}")
    return _of_pod(cluster, found, anywhere)


def names_workload(name: str) -> bool:
    """Whether a name is ``KIND/NAME`` of anything but a pod."""
    kind, slash, _ = name.partition("/")
    return bool(slash) and _SHORT.get(kind.lower(), kind.lower()).removesuffix("s") != "pod"


def workload(cluster: Cluster, name: str, namespace: str) -> Workload:
    """The workload of that name, ``KIND/NAME``. Raises CommandError."""
    kind, _, bare = name.partition("/")
    kind = _SHORT.get(kind.lower(), kind.lower())
    for one in cluster.workloads:
        same_kind = one.kind.lower() in (kind, kind.removesuffix("s"))
        if same_kind and (one.metadata.namespace, one.metadata.name) == (namespace, bare):
            return one
    raise CommandError(f"there is no {kind} {namespace}/{bare}")


def _of_pod(cluster: Cluster, pod: Pod, anywhere: bool) -> Subject:
    others = [one for one in cluster.objects.pods if one is not pod]
    notes: tuple[str, ...] = ()
    if pod.spec.node_name:
        note = f"pod {pod.full_name} is on node {pod.spec.node_name}: it is judged as if it did not run yet"
        notes = (note if anywhere else f"{note}, for that node (--anywhere: for all)",)
        if anywhere:
            pod = replace(pod, spec=replace(pod.spec, node_name=""))
    return Subject(pod, Objects(cluster.objects.nodes, others, cluster.objects.others), notes)


def _of_workload(cluster: Cluster, one: Workload) -> Subject:
    try:
        return Subject(pod_of(one, 0, cluster.completion), cluster.objects)
    except InputError as error:
        raise CommandError(str(error)) from error


def _only_pending(cluster: Cluster) -> Pod:
    pending = cluster.objects.waiting()
    if len(pending) != 1:
        raise CommandError(f"name the pod: {_pending_names(cluster)}")
    return pending[0]


def _pending_names(cluster: Cluster) -> str:
    names = [pod.full_name for pod in cluster.objects.waiting()]
    if not names:
        return "no pod is pending"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"pending: {', '.join(names[:_LISTED])}{more}"
