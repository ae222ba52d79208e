"""Which changes may let a node attach the volumes of a pod that was refused.

Upstream: ``isSchedulableAfter…`` in ``plugins/nodevolumelimits``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.apis.objects import CSINode, PersistentVolumeClaim, Pod, Volume, VolumeAttachment
from scheduler.framework.events import QueueingHint
from scheduler.plugins.helper.claims import claims_of
from scheduler.plugins.helper.csi_translation import (
    IN_TREE_DRIVERS,
    Untranslatable,
    in_tree_plugin,
    translated_inline,
)
from scheduler.plugins.helper.hints import held_room


def may_attach(volume: Volume) -> bool:
    """Whether the volume refers to a claim, or is an in-tree disk that a CSI driver serves."""
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or in_tree_plugin(volume) is not None
    )


def after_csi_node_update(pod: Pod, old: CSINode, new: CSINode) -> QueueingHint:
    """A driver can attach more than before; no limit counts as none at all."""
    before = _limits(old)
    grown = any(limit > before.get(driver, 0) for driver, limit in _limits(new).items())
    return _queue_if(grown)


def after_pod_deleted(pod: Pod, old: Pod, new: Any) -> QueueingHint:
    """The pod that went away held volumes on a node."""
    return _queue_if(held_room(old) and any(map(may_attach, old.spec.volumes)))


def after_claim_added(pod: Pod, old: Any, new: PersistentVolumeClaim) -> QueueingHint:
    """The claim is one that the pod's volumes refer to."""
    mine = new.metadata.namespace == pod.metadata.namespace
    return _queue_if(mine and any(claim.name == new.metadata.name for claim in claims_of(pod)))


def after_volume_detached(pod: Pod, old: VolumeAttachment, new: Any) -> QueueingHint:
    """The pod names a claim, or has an in-tree disk of the driver whose volume was detached."""
    return _queue_if(any(_may_need(volume, old.spec.attacher) for volume in pod.spec.volumes))


def _may_need(volume: Volume, driver: str) -> bool:
    plugin = in_tree_plugin(volume)
    return (
        volume.persistent_volume_claim is not None
        or (plugin is not None and IN_TREE_DRIVERS[plugin] == driver)
        or isinstance(translated_inline(volume), Untranslatable)
    )


def _limits(csi_node: CSINode) -> Mapping[str, int]:
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable is not None else 0
        for driver in csi_node.spec.drivers
    }


def _queue_if(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
