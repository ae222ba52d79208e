"""Which cluster events an update amounts to: the parts of pods and nodes that may change a verdict.

An update of a pod in none of these parts is still an event, a general one, and concerns the plugins that registered for
updates in general. Such an update of a node is none (upstream: ``framework/events.go``).

Also here: the events that are not updates, under the names by which logs and metrics know them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from scheduler.apis import quantity
from scheduler.apis.objects import Condition, Node, Pod, QuantityText
from scheduler.framework.events import ActionType, ClusterEvent, EventResource
from scheduler.framework.resources import pod_requests

SCHEDULE_ATTEMPT_FAILURE = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POP_FROM_BACKOFF_Q = "PopFromBackoffQ"

ASSIGNED_POD_ADD = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_UPDATE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE)
ASSIGNED_POD_DELETE = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
UNSCHEDULED_POD_ADD = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.ADD)
UNSCHEDULED_POD_UPDATE = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.UPDATE)
UNSCHEDULED_POD_DELETE = ClusterEvent(EventResource.UNSCHEDULED_POD, ActionType.DELETE)
NODE_ADD = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE = ClusterEvent(EventResource.NODE, ActionType.DELETE)
UNSCHEDULABLE_TIMEOUT = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "UnschedulableTimeout")
FORCE_ACTIVATE = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ForceActivate")
CONFIGURATION_RELOAD = ClusterEvent(EventResource.WILDCARD, ActionType.ALL, "ConfigurationReload")


def pod_changes(old: Pod, new: Pod) -> list[ClusterEvent]:
    """The events of a pod's update, about an assigned pod or an unscheduled one; at least one.

    Raises:
        scheduler.apis.quantity.QuantityError: a request of either cannot be read.
    """
    resource = EventResource.ASSIGNED_POD if new.spec.node_name else EventResource.UNSCHEDULED_POD
    actions = [action for action, changed in _POD_CHANGES if changed(old, new)]
    return [ClusterEvent(resource, action) for action in actions or (ActionType.UPDATE,)]


def node_changes(old: Node, new: Node) -> list[ClusterEvent]:
    """The events of a node's update; none when nothing changed that a pod may have waited for (a heartbeat, say)."""
    return [
        ClusterEvent(EventResource.NODE, action) for action, changed in _NODE_CHANGES if changed(old, new)
    ]


def same_demand(old: Pod, new: Pod) -> bool:
    """Whether both surely ask for the same resources and ports: nothing differs that requests are computed from."""
    return (
        old.spec.containers == new.spec.containers
        and old.spec.init_containers == new.spec.init_containers
        and old.spec.resources == new.spec.resources
        and old.spec.overhead == new.spec.overhead
        and old.status.container_statuses == new.status.container_statuses
        and old.status.init_container_statuses == new.status.init_container_statuses
        and old.status.resources == new.status.resources
        and old.status.allocated_resources == new.status.allocated_resources
        and _resizing(old) == _resizing(new)
    )


def _resizing(pod: Pod) -> tuple[Condition, ...]:
    return tuple(condition for condition in pod.status.conditions if condition.type.startswith("PodResize"))


def _labels_changed(old: Pod | Node, new: Pod | Node) -> bool:
    return old.metadata.labels != new.metadata.labels


def _scaled_down(old: Pod, new: Pod) -> bool:
    if same_demand(old, new):
        return False
    before, after = pod_requests(old, use_status=True), pod_requests(new, use_status=True)
    return any(resource not in after or amount > after[resource] for resource, amount in before.items())


def _gates_eliminated(old: Pod, new: Pod) -> bool:
    return bool(old.spec.scheduling_gates) and not new.spec.scheduling_gates


def _tolerations_changed(old: Pod, new: Pod) -> bool:
    # The API lets tolerations be added only: their number tells.
    return len(old.spec.tolerations) != len(new.spec.tolerations)


_POD_CHANGES: tuple[tuple[ActionType, Callable[[Pod, Pod], bool]], ...] = (
    (ActionType.UPDATE_POD_LABEL, _labels_changed),
    (ActionType.UPDATE_POD_SCALE_DOWN, _scaled_down),
    (ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED, _gates_eliminated),
    (ActionType.UPDATE_POD_TOLERATION, _tolerations_changed),
)


def _uncordoned(old: Node, new: Node) -> bool:
    return old.spec.unschedulable and not new.spec.unschedulable


def _allocatable_changed(old: Node, new: Node) -> bool:
    before, after = old.status.allocatable, new.status.allocatable
    return before != after and _amounts(before) != _amounts(after)


def _amounts(resources: Mapping[str, QuantityText]) -> object:
    try:
        return {name: quantity.from_json(amount) for name, amount in resources.items()}
    except quantity.QuantityError:
        return resources  # the text itself: whoever applies the node tells of what cannot be read


def _taints_changed(old: Node, new: Node) -> bool:
    return old.spec.taints != new.spec.taints


def _conditions_changed(old: Node, new: Node) -> bool:
    before, after = (
        {condition.type: condition.status for condition in node.status.conditions} for node in (old, new)
    )
    return before != after


def _annotations_changed(old: Node, new: Node) -> bool:
    return old.metadata.annotations != new.metadata.annotations


def _features_changed(old: Node, new: Node) -> bool:
    return old.status.declared_features != new.status.declared_features


_NODE_CHANGES: tuple[tuple[ActionType, Callable[[Node, Node], bool]], ...] = (
    (ActionType.UPDATE_NODE_TAINT, _uncordoned),
    (ActionType.UPDATE_NODE_ALLOCATABLE, _allocatable_changed),
    (ActionType.UPDATE_NODE_LABEL, _labels_changed),
    (ActionType.UPDATE_NODE_TAINT, _taints_changed),
    (ActionType.UPDATE_NODE_CONDITION, _conditions_changed),
    (ActionType.UPDATE_NODE_ANNOTATION, _annotations_changed),
    (ActionType.UPDATE_NODE_DECLARED_FEATURE, _features_changed),
)
