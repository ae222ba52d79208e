"""The pod that is asked about: one of the cluster's by name, or one that a workload would make (``deployment/web``).

A pod that has a node already is asked about as if it did not run yet. It still names its node, which leaves the others out; ``anywhere``
takes the name away.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from scheduler.apis.objects import Pod, Workload
from scheduler.app.cli.inputs import CommandError
from scheduler.explain.cluster import WORKLOADS, Cluster
from scheduler.explain.objects import InputError, Objects
from scheduler.explain.workload_pods import free_numbers, make_pod

_SHORT = {
    "deploy": "deployment",
    "rs": "replicaset",
    "sts": "statefulset",
    "ds": "daemonset",
    "rc": "replicationcontroller",
    "cj": "cronjob",
    "po": "pod",
}
_WORKLOADS = frozenset(kind.lower() for kind in WORKLOADS)
_LISTED = 5
_DAEMONS = "a DaemonSet has a pod for each node: the verdict on a node is that of the pod for it"


@dataclass(frozen=True, slots=True)
class Subject:
    """The pod, the others, and what to know about it."""

    pod: Pod
    others: Objects
    notes: tuple[str, ...] = ()


def find(cluster: Cluster, name: str, namespace: str, *, anywhere: bool = False) -> Subject:
    """The pod of that name: ``NAME``, ``KIND/NAME`` or ``NAMESPACE/NAME``; without a name what alone can be meant. Raises CommandError."""
    if not name:
        return _only(cluster, anywhere)
    if names_workload(name):
        return _of_workload(cluster, workload(cluster, name, namespace))
    first, slash, bare = name.partition("/")
    wanted = f"{namespace}/{bare or name}" if not slash or _kind(first) == "pod" else name
    found = next((pod for pod in cluster.objects.pods if pod.full_name == wanted), None)
    if found is None:
        raise CommandError(f"there is no pod {wanted}; {_choice(cluster)}")
    return _of_pod(cluster, found, anywhere)


def names_workload(name: str) -> bool:
    """Whether a name is ``KIND/NAME`` of a workload; anything else in front of the slash is the namespace of a pod."""
    kind, slash, _ = name.partition("/")
    return bool(slash) and _kind(kind) in _WORKLOADS


def workload(cluster: Cluster, name: str, namespace: str) -> Workload:
    """The workload of that name, ``KIND/NAME``. Raises CommandError."""
    kind, _, bare = name.partition("/")
    for one in cluster.workloads:
        if (one.kind.lower(), one.metadata.namespace, one.metadata.name) == (_kind(kind), namespace, bare):
            return one
    raise CommandError(f"there is no {_kind(kind)} {namespace}/{bare}; {_choice(cluster)}")


def _kind(word: str) -> str:
    """``deploy``, ``Deployments`` and ``deployment.apps`` are ``deployment``."""
    word = word.lower().partition(".")[0]
    return _SHORT.get(word, word).removesuffix("s")


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
    """One more pod of the workload than there are, and the claims that it would come with."""
    objects = cluster.objects
    try:
        made = make_pod(one, next(free_numbers(one, objects.pods)), cluster.completion)
    except InputError as error:
        raise CommandError(str(error)) from error
    known = {(type(each), each.metadata.namespace, each.metadata.name) for each in objects.others}
    claims = [
        each for each in made.claims if (type(each), each.metadata.namespace, each.metadata.name) not in known
    ]
    notes = (_DAEMONS,) if one.kind == "DaemonSet" else ()
    return Subject(made.pod, Objects(objects.nodes, objects.pods, [*objects.others, *claims]), notes)


def _only(cluster: Cluster, anywhere: bool) -> Subject:
    """The only pod that is pending, or else the only workload."""
    pending = cluster.objects.waiting()
    if len(pending) == 1:
        return _of_pod(cluster, pending[0], anywhere)
    if not pending and len(cluster.workloads) == 1:
        return _of_workload(cluster, cluster.workloads[0])
    raise CommandError(f"name the pod: {_choice(cluster)}")


def _choice(cluster: Cluster) -> str:
    """What could be named instead."""
    names = [pod.full_name for pod in cluster.objects.waiting()]
    if names:
        return f"pending: {_listed(names)}"
    workloads = [
        f"{one.kind.lower()}/{one.metadata.name} -n {one.metadata.namespace}" for one in cluster.workloads
    ]
    return (
        f"no pod is pending; a workload can be named: {_listed(workloads)}"
        if workloads
        else "no pod is pending"
    )


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"{', '.join(names[:_LISTED])}{more}"
