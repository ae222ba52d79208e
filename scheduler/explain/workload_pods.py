"""The pods that a workload's controller would make, as far as scheduling reads them: named, owned, completed.

============  ======================================================================================================
every kind    ``NAME-NUMBER``, owned by the workload (a Deployment's by a ReplicaSet of that name)
StatefulSet   claims of its ``volumeClaimTemplates``: ``TEMPLATE-NAME-NUMBER``
DaemonSet     tolerations of the conditions of nodes; one pod for each node that the template admits, bound to it by
              node affinity
============  ======================================================================================================
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Final

from msgspec.structs import replace

from scheduler.apis.objects import (
    Affinity,
    ClaimSource,
    LabelSelectorRequirement,
    Node,
    NodeAffinity,
    NodeSelector,
    NodeSelectorTerm,
    ObjectMeta,
    OwnerReference,
    PersistentVolumeClaim,
    Pod,
    Toleration,
    Volume,
    Workload,
)
from scheduler.explain.completion import Completion
from scheduler.explain.objects import InputError, identified
from scheduler.plugins.helper.taints import NO_EXECUTE, NO_SCHEDULE, REPELLING, untolerated
from scheduler.plugins.node_affinity import required_affinity

_OF_APPS = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"})
_DAEMONS_TOLERATE: Final[Mapping[str, str]] = {
    "not-ready": NO_EXECUTE,
    "unreachable": NO_EXECUTE,
    "disk-pressure": NO_SCHEDULE,
    "memory-pressure": NO_SCHEDULE,
    "pid-pressure": NO_SCHEDULE,
    "unschedulable": NO_SCHEDULE,
}
_ON_THE_HOSTS_NETWORK: Final[Mapping[str, str]] = {"network-unavailable": NO_SCHEDULE}


@dataclass(frozen=True, slots=True)
class Made:
    """A pod, and the claims that are made for it."""

    pod: Pod
    claims: tuple[PersistentVolumeClaim, ...] = ()


def free_numbers(workload: Workload, pods: Iterable[Pod]) -> Iterator[int]:
    """The numbers that no pod has yet, without an end."""
    taken = {pod.full_name for pod in pods}
    own = f"{workload.metadata.namespace}/{workload.metadata.name}"
    return (number for number in count() if f"{own}-{number}" not in taken)


def make_pod(workload: Workload, number: int, completion: Completion) -> Made:
    """The pod of that number; a DaemonSet's is not bound to a node yet (see ``on_node``).

    Raises:
        InputError: the workload has no pod template.
    """
    meta, template = workload.metadata, workload.pod_template
    if template is None:
        raise InputError(f"{workload.kind} {meta.namespace}/{meta.name}: it has no pod template")
    name = f"{meta.name}-{number}"
    own = replace(
        template.metadata, name=name, namespace=meta.namespace, owner_references=(_owner(workload),)
    )
    pod = Pod(metadata=own, spec=template.spec)
    claims = [_claim(each, pod, completion) for each in workload.spec.volume_claim_templates]
    if claims:
        templates = [each.metadata.name for each in workload.spec.volume_claim_templates]
        pod = _with_claims(pod, dict(zip(templates, (one.metadata.name for one in claims), strict=True)))
    if workload.kind == "DaemonSet":
        pod = _daemon(pod)
    return Made(identified(completion.complete(pod)), tuple(claims))


def admitting_nodes(pod: Pod, nodes: Iterable[Node]) -> list[str]:
    """The nodes for which a DaemonSet makes such a pod: those that its selectors mean, and whose taints it tolerates."""
    required = required_affinity(pod)
    return [
        node.metadata.name
        for node in nodes
        if required.match(node.metadata.labels, node.metadata.name)[0]
        and not untolerated(node.spec.taints, pod.spec.tolerations, REPELLING, comparisons=False)
    ]


def on_node(pod: Pod, node: str) -> Pod:
    """A DaemonSet's pod for that node, which takes the place of whatever nodes the template requires."""
    here = LabelSelectorRequirement(key="metadata.name", operator="In", values=(node,))
    required = NodeSelector((NodeSelectorTerm(match_fields=(here,)),))
    affinity = pod.spec.affinity or Affinity()
    of_nodes = replace(affinity.node_affinity or NodeAffinity(), required=required)
    return replace(pod, spec=replace(pod.spec, affinity=replace(affinity, node_affinity=of_nodes)))


def _owner(workload: Workload) -> OwnerReference:
    return OwnerReference(
        api_version="apps/v1" if workload.kind in _OF_APPS else "v1",
        kind="ReplicaSet" if workload.kind == "Deployment" else workload.kind,
        name=workload.metadata.name,
        uid=workload.metadata.uid,
        controller=True,
    )


def _claim(template: PersistentVolumeClaim, pod: Pod, completion: Completion) -> PersistentVolumeClaim:
    meta = ObjectMeta(
        name=f"{template.metadata.name}-{pod.metadata.name}",
        namespace=pod.metadata.namespace,
        labels=template.metadata.labels,
        annotations=template.metadata.annotations,
    )
    made: PersistentVolumeClaim = identified(completion.complete(replace(template, metadata=meta)))
    return made


def _with_claims(pod: Pod, claims: Mapping[str, str]) -> Pod:
    """The pod with a volume for each claim, by name, in place of those of that name."""
    volumes = [one for one in pod.spec.volumes if one.name not in claims]
    volumes += [
        Volume(name=name, persistent_volume_claim=ClaimSource(claim_name=claim))
        for name, claim in claims.items()
    ]
    return replace(pod, spec=replace(pod.spec, volumes=tuple(volumes)))


def _daemon(pod: Pod) -> Pod:
    spec = pod.spec
    tolerated = {**_DAEMONS_TOLERATE, **(_ON_THE_HOSTS_NETWORK if spec.host_network else {})}
    added = tuple(
        Toleration(key=f"node.kubernetes.io/{condition}", operator="Exists", effect=effect)
        for condition, effect in tolerated.items()
    )
    return replace(pod, spec=replace(spec, tolerations=(*spec.tolerations, *added)))
