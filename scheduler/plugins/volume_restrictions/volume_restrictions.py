"""VolumeRestrictions: a disk that only one pod may mount is free on the node, and a ReadWriteOncePod claim is free everywhere.

Disks that the pod spells out itself (see ``disks``) may be in use on the node; evicting their users helps. A claim with the
access mode ReadWriteOncePod may be in use by a pod on any node: then every node is rejected until the last of its users is
gone, so preemption on the node where it runs helps.

Quirks: when counting users of a claim in a what-if only the claim's name is compared, not its namespace, and a pod counts once
per volume that names the claim, though before the what-if each claim in use counts once. A pod with neither disks nor a
ReadWriteOncePod claim in use skips the filter, and with it the what-ifs.

Upstream: ``plugins/volumerestrictions``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from scheduler.apis.objects import PersistentVolumeClaim, Pod
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.interface import Handle, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Reason, Rejections
from scheduler.framework.status import Status
from scheduler.plugins.helper.claims import claim_not_found, claims_in_use, named_claims
from scheduler.plugins.helper.notes import without_note
from scheduler.plugins.helper.own_changes import OwnChanges
from scheduler.plugins.volume_restrictions.disks import Disk, disks, disks_in_use, mounts_disks, rivals

DISK_IN_USE: Final = Reason("node(s) had no available disk")
CLAIM_IN_USE: Final = Reason(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"
_NOTE: Final = "VolumeRestrictions"
_NO_NOTE: Final = 'cannot read "PreFilterVolumeRestrictions" from cycleState'


@dataclass(slots=True)
class Restrictions:
    """What one pod must not share.

    Attributes:
        rivals: the mounts beside which it cannot run.
        claims: the names of its ReadWriteOncePod claims.
        users: how often these claims are in use.
        changes: how much more or less that is in a what-if, for each row.
    """

    rivals: frozenset[Disk]
    claims: frozenset[str]
    users: int
    changes: OwnChanges = field(default_factory=OwnChanges)

    def clone(self) -> Restrictions:
        """A copy for a what-if."""
        return replace(self, changes=self.changes.clone())

    def in_use(self, nodes: Nodes) -> BoolColumn:
        """bool[rows]: whether any of the claims is in use, as the row sees it."""
        own = self.changes.of(nodes)
        return np.full(len(nodes), self.users > 0) if own is None else own > -self.users

    def uses(self, pod: Pod) -> int:
        """How many volumes of another pod name one of the claims."""
        return sum(name in self.claims for name in named_claims(pod))


class VolumeRestrictions:
    """Rejects nodes on which a disk is taken, and all nodes while a claim for one pod only is taken."""

    name: Final = "VolumeRestrictions"
    reads: Final = (PersistentVolumeClaim,)
    rows_apart: Final = True

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._claims = handle.catalog.persistent_volume_claims

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod went away, a node appeared, or a claim that was missing was made."""
        pod = ClusterEvent(EventResource.POD, ActionType.DELETE)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD)
        claim = ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD)
        return (
            ClusterEventWithHint(pod, after_pod_deleted),
            ClusterEventWithHint(node),
            ClusterEventWithHint(claim, after_claim_added),
        )

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """Refuse a pod whose claim is missing; skip a pod that nothing can restrict."""
        exclusive: set[str] = set()
        namespace = cycle.pod.metadata.namespace
        for name in named_claims(cycle.pod):
            claim = self._claims.get(name, namespace)
            if claim is None:
                return Status.unresolvable(claim_not_found(name))
            if _READ_WRITE_ONCE_POD in claim.spec.access_modes:
                exclusive.add(name)
        users = sum(_in_use(nodes, namespace, name) for name in exclusive)
        if not users and not mounts_disks(cycle.pod):
            return Status.skip()
        cycle.state[_NOTE] = Restrictions(rivals(cycle.pod), frozenset(exclusive), users)
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status | None:
        """The pod may use a claim, too."""
        note: Restrictions = cycle.state[_NOTE]
        note.changes.add(nodes, row, note.uses(pod.pod))
        return None

    def remove_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status | None:
        """The pod uses its claims no more."""
        note: Restrictions = cycle.state[_NOTE]
        note.changes.add(nodes, row, -note.uses(pod.pod))
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows on which a disk is taken; all rows when a claim is."""
        note: Restrictions | None = cycle.state.get(_NOTE)
        if note is None:
            return without_note(nodes, _NO_NOTE)
        taken = _beside(note.rivals, nodes)
        return Rejections.collect(((taken, DISK_IN_USE), (note.in_use(nodes) & ~taken, CLAIM_IN_USE)))


def _in_use(nodes: Nodes, namespace: str, claim: str) -> bool:
    rows, _ = nodes.pods_by(claims_in_use).rows_of((namespace, claim))
    return len(rows) > 0


def _beside(wanted: frozenset[Disk], nodes: Nodes) -> BoolColumn:
    """bool[rows]: whether a pod on the row has one of the mounts. The index knows the cluster; what-ifs are looked at."""
    if not wanted:
        return np.zeros(len(nodes), np.bool_)
    whole = nodes.whole
    found: BoolColumn = whole.pods_by(disks_in_use).counts(wanted, len(whole)) > 0
    if nodes is whole:
        return found
    rows = nodes.whole_rows
    found = found[rows]
    for place, row in enumerate(rows.tolist()):
        pods = nodes.pods(place)
        if pods is not whole.pods(row):
            found[place] = any(not wanted.isdisjoint(pod.derived(disks)) for pod in pods)
    return found


def after_pod_deleted(pod: Pod, old: Pod, new: Any) -> QueueingHint:
    """A pod of the same namespace went away that mounted a disk or used a claim that this one wants."""
    if old.metadata.namespace != pod.metadata.namespace:
        return QueueingHint.SKIP
    freed = not rivals(pod).isdisjoint(disks(old)) or not set(named_claims(pod)).isdisjoint(named_claims(old))
    return QueueingHint.QUEUE if freed else QueueingHint.SKIP


def after_claim_added(pod: Pod, old: Any, new: PersistentVolumeClaim) -> QueueingHint:
    """The claim is one that the pod's volumes name."""
    mine = new.metadata.namespace == pod.metadata.namespace and new.metadata.name in named_claims(pod)
    return QueueingHint.QUEUE if mine else QueueingHint.SKIP
