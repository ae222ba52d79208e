"""Which changes may lower the skew of a pod that PodTopologySpread refused.

Upstream: ``isSchedulableAfterPodChange`` and ``isSchedulableAfterNodeChange`` in ``plugins/podtopologyspread/plugin.go``.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.apis.objects import Node, Pod
from scheduler.framework.events import QueueingHint
from scheduler.plugins.helper.hints import held_room
from scheduler.plugins.pod_topology_spread.constraints import Constraint


def involved(other: Pod, pod: Pod) -> bool:
    """Whether another pod may count for this one: it has a node, or was promised one, in the same namespace; or it is this one."""
    if other.metadata.uid == pod.metadata.uid:
        return True
    return held_room(other) and other.metadata.namespace == pod.metadata.namespace


def after_pod_change(
    pod: Pod, constraints: Sequence[Constraint], old: Pod | None, new: Pod | None
) -> QueueingHint:
    """A pod that matches came or went, or matches now and did not before; or this pod tolerates other taints, and taints count."""
    if old is None or new is None:
        present = old or new
        return _queue_if(present is not None and any(_matches(each, present) for each in constraints))
    tolerates_otherwise = (
        new.metadata.uid == pod.metadata.uid and new.spec.tolerations != old.spec.tolerations
    )
    if tolerates_otherwise and any(each.honors_taints for each in constraints):
        return QueueingHint.QUEUE
    return _queue_if(any(_matches(each, old) != _matches(each, new) for each in constraints))


def after_node_change(constraints: Sequence[Constraint], old: Node | None, new: Node | None) -> QueueingHint:
    """A node with all topology keys came, went, got or lost one of them, moved to another domain, or has other taints."""
    before, after = _has_all_keys(old, constraints), _has_all_keys(new, constraints)
    if old is None or new is None or before != after:
        return _queue_if(before or after)
    return _queue_if(after and (_moved(old, new, constraints) or old.spec.taints != new.spec.taints))


def _matches(constraint: Constraint, pod: Pod) -> bool:
    return constraint.selector.matches(pod.metadata.labels)


def _has_all_keys(node: Node | None, constraints: Sequence[Constraint]) -> bool:
    return node is not None and all(each.topology_key in node.metadata.labels for each in constraints)


def _moved(old: Node, new: Node, constraints: Sequence[Constraint]) -> bool:
    keys = [each.topology_key for each in constraints]
    return any(old.metadata.labels.get(key) != new.metadata.labels.get(key) for key in keys)


def _queue_if(useful: bool) -> QueueingHint:
    return QueueingHint.QUEUE if useful else QueueingHint.SKIP
