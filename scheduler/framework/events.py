"""Cluster events: what changed, and whether that may help a pod that was refused.

A plugin that refuses pods registers the events after which it might answer otherwise, each with an optional queueing hint
that looks at the change itself. The queue keeps a refused pod aside until such an event comes (upstream:
``fwk.ClusterEvent``, ``QueueingHintFn``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntFlag
from typing import Any

from scheduler.apis.objects import Pod


class ActionType(IntFlag):
    """What happened to an object; updates say which part changed (upstream: ``fwk.ActionType``)."""

    ADD = 1 << 0
    DELETE = 1 << 1
    UPDATE_NODE_ALLOCATABLE = 1 << 2
    UPDATE_NODE_LABEL = 1 << 3
    UPDATE_NODE_TAINT = 1 << 4
    UPDATE_NODE_CONDITION = 1 << 5
    UPDATE_NODE_ANNOTATION = 1 << 6
    UPDATE_NODE_DECLARED_FEATURE = 1 << 7
    UPDATE_POD_LABEL = 1 << 8
    UPDATE_POD_SCALE_DOWN = 1 << 9
    UPDATE_POD_TOLERATION = 1 << 10
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 1 << 11
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 1 << 12
    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_NODE_DECLARED_FEATURE
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
    )
    ALL = ADD | DELETE | UPDATE

    @property
    def label(self) -> str:
        """The name in logs and metrics, ``UpdateNodeLabel`` say; empty for a combination that has none."""
        return _ACTION_LABELS.get(self, "")


_ACTION_LABELS = {
    **{action: "".join(word.capitalize() for word in str(action.name).split("_")) for action in ActionType},
    ActionType.UPDATE: "Update",
    ActionType.ALL: "All",
}


class EventResource(Enum):
    """The kind of object that changed; the values are upstream's names, which metrics show.

    Plugins register for ``POD``; what happens is always about an assigned pod or an unscheduled one.
    """

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    WILDCARD = "*"


@dataclass(frozen=True, slots=True)
class ClusterEvent:
    """A kind of change. ``custom_label`` names the few that are not about one kind of object (``UnschedulableTimeout``)."""

    resource: EventResource
    action: ActionType
    custom_label: str = ""

    @property
    def label(self) -> str:
        """How logs and metrics name it: ``NodeAdd``, ``AssignedPodUpdatePodLabel``."""
        return self.custom_label or self.resource.value + self.action.label

    @property
    def wildcard(self) -> bool:
        """Anything may have changed: every refused pod is worth another attempt."""
        return self.resource is EventResource.WILDCARD and self.action == ActionType.ALL

    def matches(self, registered: ClusterEvent) -> bool:
        """Whether a plugin that registered ``registered`` wants to hear of this event (upstream: ``MatchClusterEvents``).

        An update that changed nothing in particular carries every update bit; it concerns only those that registered for
        updates in general, hence the comparison of the numbers.
        """
        if registered.wildcard:
            return True
        resource = registered.resource in (EventResource.WILDCARD, self.resource) or (
            registered.resource is EventResource.POD
            and self.resource in (EventResource.ASSIGNED_POD, EventResource.UNSCHEDULED_POD)
        )
        return resource and bool(registered.action & self.action) and self.action <= registered.action


class QueueingHint(Enum):
    """Whether a change is worth another attempt."""

    QUEUE = "Queue"
    SKIP = "QueueSkip"


QueueingHintFn = Callable[[Pod, Any, Any], QueueingHint]
"""(the refused pod, the object before, the object after) -> worth another attempt? None before an add, after a delete."""


@dataclass(frozen=True, slots=True)
class ClusterEventWithHint:
    """An event that a plugin registers for, and how to look closer; without a hint every such event counts."""

    event: ClusterEvent
    hint: QueueingHintFn | None = None
