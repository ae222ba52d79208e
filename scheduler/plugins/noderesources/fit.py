"""NodeResourcesFit: the node must have room for what the pod requests, and how well it fits is a score.

A node is short of a resource when the request exceeds what is left; when the request exceeds all there is, no eviction will
help, and the whole status is unresolvable. Every shortage is reported: pods, cpu, memory, ephemeral-storage, then scalar
resources by name. Extended resources that somebody else manages are left aside by name or by domain.

Quirks: the filter counts ``spec.resources`` and takes requests as they are; the score ignores ``spec.resources`` and takes
containers without requests to need 100m of cpu and 200 MB.

Upstream: ``plugins/noderesources/fit.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from scheduler.apis.config.args import NodeResourcesFitArgs
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Column, Reason, Rejections
from scheduler.framework.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, is_extended
from scheduler.framework.resources import has_resource_status, pod_requests
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.notes import without_note
from scheduler.plugins.noderesources.hints import after_node_change, after_pod_event
from scheduler.plugins.noderesources.strategies import strategy_of
from scheduler.plugins.noderesources.usage import usages

TOO_MANY_PODS: Final = Reason("Too many pods")
_FIRST: Final = {CPU: 0, MEMORY: 1, EPHEMERAL_STORAGE: 2}
_WANTED: Final = "NodeResourcesFit/wanted"
_NO_NOTE: Final = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
_SCORED: Final = "NodeResourcesFit/scored"

Mask = tuple[BoolColumn, Reason]


class NodeResourcesFit:
    """Rejects nodes without room for the pod, and ranks the others by what would be in use."""

    name: Final = "NodeResourcesFit"

    def __init__(self, args: NodeResourcesFitArgs, handle: Handle) -> None:
        """The ignored resources and the scoring strategy come from the arguments."""
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._resources = args.scoring_strategy.resources
        self._strategy = strategy_of(args.scoring_strategy)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod went away or asks for less; a node appeared or has more to give."""
        pod = ClusterEvent(EventResource.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
        return (
            ClusterEventWithHint(pod, after_pod_event),
            ClusterEventWithHint(node, after_node_change),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Note what the pod requests, in the order in which shortages are reported."""
        cycle.state[_WANTED] = self._wanted(cycle.pod_info)
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows that are short of something."""
        wanted: Mapping[str, int] | None = cycle.state.get(_WANTED)
        if wanted is None:
            return without_note(nodes, _NO_NOTE)
        masks = [(nodes.pod_count + 1 > nodes.allowed_pods, TOO_MANY_PODS)]
        for resource, amount in wanted.items():
            masks += _shortages(nodes, resource, amount)
        return Rejections.collect(masks)

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Note what the pod counts as requesting."""
        cycle.state[_SCORED] = scored_requests(cycle.pod_info)
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: 0 to 100, as the strategy rates it."""
        wanted: Mapping[str, int] = cycle.state.get(_SCORED) or scored_requests(cycle.pod_info)
        return self._strategy(usages(nodes, self._resources, wanted, with_defaults=True), len(nodes))

    def _wanted(self, pod: PodInfo) -> dict[str, int]:
        wanted = incoming_requests(pod)
        names = sorted(wanted, key=lambda name: (_FIRST.get(name, len(_FIRST)), name))
        return {name: wanted[name] for name in names if wanted[name] > 0 and not self._ignores(name)}

    def _ignores(self, resource: str) -> bool:
        if not (self._ignored or self._ignored_groups) or not is_extended(resource):
            return False
        return resource in self._ignored or resource.partition("/")[0] in self._ignored_groups


def incoming_requests(pod: PodInfo) -> Mapping[str, int]:
    """What a pod that waits for a node requests: its status does not count."""
    return pod_requests(pod.pod, use_status=False) if has_resource_status(pod.pod) else pod.requests


def scored_requests(pod: PodInfo) -> Mapping[str, int]:
    """What a pod counts as requesting in the score."""
    if pod.pod.spec.resources is not None or has_resource_status(pod.pod):
        return pod_requests(pod.pod, use_status=False, pod_level=False, with_defaults=True)
    cpu, memory = pod.nonzero_requests
    return {**pod.requests, CPU: cpu, MEMORY: memory}


def _shortages(nodes: Nodes, resource: str, amount: int) -> Iterable[Mask]:
    allocatable = nodes.allocatable(resource)
    short = amount > allocatable - nodes.requested(resource)
    if not short.any():
        return ()
    hopeless = amount > allocatable
    message = f"Insufficient {resource}"
    return (
        (short & hopeless, Reason(message, Code.UNSCHEDULABLE_AND_UNRESOLVABLE)),
        (short & ~hopeless, Reason(message)),
    )
