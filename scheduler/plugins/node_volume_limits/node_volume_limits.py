"""NodeVolumeLimits: a node takes no more volumes of a CSI driver than the driver can attach there.

The limit is what the node's CSINode says of the driver; without one there is none. ``attachable`` tells which volumes a pod
attaches, ``node_volumes`` what counts on a node, ``ledger`` keeps the counts of all nodes as columns.

Quirks: a claim that is missing is noticed only by the filter, on every node, and is told in words of its own; so is an
ephemeral claim that belongs to somebody else, which is an error, also when it is a running pod's: then on its node. A driver of
which the pod brings nothing new is not judged, even when the node is overfull.

With the gate VolumeLimitScaling a pod stays off nodes where a driver is missing whose CSIDriver asks for it.

Upstream: ``plugins/nodevolumelimits``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from scheduler.apis.objects import (
    CSIDriver,
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from scheduler.framework.interface import Handle, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column, Reason, Rejections
from scheduler.framework.status import Code, Status
from scheduler.plugins.node_volume_limits.attachable import Attachable, AttachedVolume, attachable
from scheduler.plugins.node_volume_limits.hints import (
    after_claim_added,
    after_csi_node_update,
    after_pod_deleted,
    after_volume_detached,
    may_attach,
)
from scheduler.plugins.node_volume_limits.ledger import Ledger, Usage

EXCEEDED: Final = Reason("node(s) exceed max volume count")
_NOTE: Final = "NodeVolumeLimits"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the pod attaches to a node with a CSINode, and to one without."""

    with_csi_node: Attachable
    without: Attachable


class NodeVolumeLimits:
    """Rejects nodes that can attach no more volumes of a driver."""

    name: Final = "NodeVolumeLimits"
    reads: Final = (
        CSIDriver,
        CSINode,
        PersistentVolume,
        PersistentVolumeClaim,
        StorageClass,
        VolumeAttachment,
    )

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._catalog = handle.catalog
        self._ledger = Ledger(handle.catalog)
        self._scaling = handle.features.enabled("VolumeLimitScaling")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A CSINode appeared or allows more, a pod or an attachment went away, or a claim that was missing was made."""
        resource, action = EventResource, ActionType
        return (
            ClusterEventWithHint(ClusterEvent(resource.CSI_NODE, action.ADD)),
            ClusterEventWithHint(ClusterEvent(resource.CSI_NODE, action.UPDATE), after_csi_node_update),
            ClusterEventWithHint(ClusterEvent(resource.POD, action.DELETE), after_pod_deleted),
            ClusterEventWithHint(
                ClusterEvent(resource.PERSISTENT_VOLUME_CLAIM, action.ADD), after_claim_added
            ),
            ClusterEventWithHint(
                ClusterEvent(resource.VOLUME_ATTACHMENT, action.DELETE), after_volume_detached
            ),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """Skip pods whose volumes are never attached."""
        if not any(map(may_attach, cycle.pod.spec.volumes)):
            return Status.skip()
        cycle.state[_NOTE] = self._wanted(cycle, nodes)
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows that cannot attach the pod's volumes; each has one reason, the first that applies."""
        wanted: Wanted = cycle.state.get(_NOTE) or self._wanted(cycle, nodes)
        usage = self._ledger.usage(nodes)
        csi_node = usage.csi_node
        verdict = _Verdict(len(nodes))
        for found, rows in ((wanted.with_csi_node, csi_node), (wanted.without, ~csi_node)):
            if found.fault is not None:
                verdict.reject(rows, found.fault)
            elif self._scaling:
                self._require_drivers(found, usage, rows, verdict)
        if wanted.with_csi_node.fault is None and wanted.with_csi_node.volumes:
            for why, rows in usage.faults():
                verdict.reject(rows, Reason(why, Code.ERROR))
            for driver, volumes in _by_driver(wanted.with_csi_node).items():
                verdict.reject(_overfull(usage, driver, volumes), EXCEEDED)
        return verdict.rejections()

    def _wanted(self, cycle: Cycle, nodes: Nodes) -> Wanted:
        self._ledger.follow(nodes.whole)
        return Wanted(
            attachable(cycle.pod, self._catalog, csi_node=True, new=True),
            attachable(cycle.pod, self._catalog, csi_node=False, new=True),
        )

    def _require_drivers(self, found: Attachable, usage: Usage, rows: BoolColumn, verdict: _Verdict) -> None:
        for driver in sorted(_by_driver(found)):
            csi_driver = self._catalog.csi_drivers.get(driver)
            if csi_driver is not None and csi_driver.spec.prevent_pod_scheduling_if_missing:
                missing = Reason(f"{driver} CSI driver is not installed on the node")
                verdict.reject(rows & ~usage.installed(driver), missing)


class _Verdict:
    """The rows rejected so far; a row that is rejected keeps its reason."""

    def __init__(self, rows: int) -> None:
        self._open = np.ones(rows, np.bool_)
        self._masks: list[tuple[BoolColumn, Reason]] = []

    def reject(self, rows: BoolColumn, reason: Reason) -> None:
        """Reject those of the rows that nothing has rejected yet."""
        rejected = rows & self._open
        if rejected.any():
            self._masks.append((rejected, reason))
            self._open &= ~rejected

    def rejections(self) -> Rejections | None:
        """All of them."""
        return Rejections.collect(self._masks)


def _by_driver(found: Attachable) -> Mapping[str, list[AttachedVolume]]:
    volumes: dict[str, list[AttachedVolume]] = {}
    for volume in found.volumes:
        volumes.setdefault(volume[0], []).append(volume)
    return volumes


def _overfull(usage: Usage, driver: str, volumes: Sequence[AttachedVolume]) -> BoolColumn:
    """bool[rows]: where the volumes that are not there yet are more than the node has room for."""
    new: Column = np.full(len(usage.limited(driver)), len(volumes), np.int64)
    for volume in volumes:
        new -= usage.holding(volume)
    overfull: BoolColumn = usage.limited(driver) & (new > 0) & (new > usage.room(driver))
    return overfull
