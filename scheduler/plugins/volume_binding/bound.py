"""Bound claims: a pod has to run where its volumes can be reached from.

Claims are asked in the order of the pod's volumes, and the first that rules a row out decides its reason; a volume that does not
exist rules out all rows that are left.

Upstream: ``checkBoundClaims``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from scheduler.apis.objects import CSINode, PersistentVolume, PersistentVolumeClaim
from scheduler.framework.catalog import Collection
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Reason
from scheduler.framework.status import Code
from scheduler.plugins.helper.csi_translation import Untranslatable
from scheduler.plugins.volume_binding.migration import (
    migratable_plugin,
    migrated_plugins,
    required_when_migrated,
)
from scheduler.plugins.volume_binding.placement import NODE_CONFLICT, VOLUME_MISSING, Placement
from scheduler.plugins.volume_binding.reach import Affinities, Reach, required_of


class Volumes(Protocol):
    """Where volumes are looked up."""

    def get(self, name: str) -> PersistentVolume | None:
        """The volume of that name."""
        ...


def place_bound(
    placement: Placement,
    claims: Iterable[PersistentVolumeClaim],
    nodes: Nodes,
    reach: Reach,
    volumes: Volumes,
    affinities: Affinities,
    csi_nodes: Collection[CSINode],
) -> BoolColumn:
    """Look at the bound claims, and add the rows that they rule out.

    Returns:
        bool[rows]: where the look at them was not cut short by an error.
    """
    left = np.ones(len(nodes), np.bool_)
    failed = np.zeros(len(nodes), np.bool_)
    for claim in claims:
        volume = volumes.get(claim.spec.volume_name)
        if volume is None:
            placement.masks.append((left, VOLUME_MISSING))
            break
        mask = reach.mask(affinities.restriction(required_of(volume)))
        migrated = _migrated_rows(volume, nodes, csi_nodes)
        if migrated is not None:
            required = required_when_migrated(volume)
            if isinstance(required, Untranslatable):
                faulty = left & migrated
                message = f"could not translate pv: {required.message}"
                placement.masks.append((faulty, Reason(message, Code.ERROR)))
                failed |= faulty
                left = left & ~faulty
            else:
                mask = _chosen(migrated, reach.mask(affinities.restriction(required)), mask)
        if mask is not None:
            placement.masks.append((left & ~mask, NODE_CONFLICT))
            left = left & mask
    return ~failed


def _migrated_rows(
    volume: PersistentVolume, nodes: Nodes, csi_nodes: Collection[CSINode]
) -> BoolColumn | None:
    """bool[rows]: where the volume's in-tree plugin has given way to a CSI driver; None for nowhere."""
    plugin = migratable_plugin(volume)
    migrated = () if plugin is None else csi_nodes.by(migrated_plugins, plugin)
    rows = nodes.rows_of(node.metadata.name for node in migrated)
    if not len(rows):
        return None
    mask = np.zeros(len(nodes), np.bool_)
    mask[rows] = True
    return mask


def _chosen(where: BoolColumn, one: BoolColumn | None, other: BoolColumn | None) -> BoolColumn | None:
    """``one`` where it says so, ``other`` elsewhere; None stands for all rows in both."""
    if one is None and other is None:
        return None
    return np.where(where, True if one is None else one, True if other is None else other)
