"""Which changes may make room for a pod that NodeResourcesFit refused.

Upstream: ``isSchedulableAfterPodEvent`` and ``isSchedulableAfterNodeChange`` in ``plugins/noderesources/fit.go``.
"""

from __future__ import annotations

from scheduler.apis.objects import Node, Pod
from scheduler.framework.events import QueueingHint
from scheduler.framework.resource_names import PODS, read_amount
from scheduler.framework.resources import pod_requests
from scheduler.plugins.helper.hints import held_room


def after_pod_event(pod: Pod, old: Pod, new: Pod | None) -> QueueingHint:
    """A pod on a node went away, or asks for less of something that this pod wants; or this pod itself asks for less."""
    if new is None:
        return QueueingHint.QUEUE if held_room(old) else QueueingHint.SKIP
    if new.metadata.uid == pod.metadata.uid:
        return QueueingHint.QUEUE
    return QueueingHint.QUEUE if new.spec.node_name and _freed(pod, old, new) else QueueingHint.SKIP


def after_node_change(pod: Pod, old: Node | None, new: Node) -> QueueingHint:
    """The node, were it empty, has room for the pod, and it is new or has more than before of what the pod wants."""
    wanted = {name: amount for name, amount in pod_requests(pod, use_status=False).items() if amount > 0}
    fits = _allocatable(new, PODS) >= 1 and all(
        amount <= _allocatable(new, name) for name, amount in wanted.items()
    )
    if not fits:
        return QueueingHint.SKIP
    grown = old is None or any(_allocatable(new, name) > _allocatable(old, name) for name in (PODS, *wanted))
    return QueueingHint.QUEUE if grown else QueueingHint.SKIP


def _freed(pod: Pod, old: Pod, new: Pod) -> bool:
    before, after = pod_requests(old, use_status=True), pod_requests(new, use_status=True)
    wanted = pod_requests(pod, use_status=True)
    return any(
        amount and max(before.get(name, 0), 0) > max(after.get(name, 0), 0) for name, amount in wanted.items()
    )


def _allocatable(node: Node, resource: str) -> int:
    return read_amount(resource, node.status.allocatable.get(resource, 0))
