"""VolumeBinding's filter once more, one node and one volume at a time, as kube-scheduler does it.

Nothing is shared with the columnar one but the objects, quantities and compiled selectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler.apis.objects import (
    CSIStorageCapacity,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler.apis.quantity import ZERO, Quantity, from_json
from scheduler.apis.selectors import compile_label_selector, compile_node_selector
from scheduler.framework.catalog import Catalog
from tests.plugins.volume_binding.world import (
    BIND_CONFLICT,
    BOUND,
    MISSING,
    NODE_CONFLICT,
    NOT_ENOUGH,
    SELECTED_NODE,
)


@dataclass
class Found:
    """A node's reasons, and what the claims get there."""

    reasons: list[str] = field(default_factory=list)
    choice: dict[str, str] = field(default_factory=dict)


def judge(claims: Sequence[PersistentVolumeClaim], node: Node, catalog: Catalog) -> Found:
    """``FindPodVolumes``."""
    found = Found()
    bound = [claim for claim in claims if BOUND.keys() <= claim.metadata.annotations.keys()]
    reachable, known = _check_bound(bound, node, catalog)
    satisfied, sufficient = _check_unbound(
        [claim for claim in claims if claim not in bound], node, catalog, found
    )
    flags = (
        (reachable, NODE_CONFLICT),
        (satisfied, BIND_CONFLICT),
        (sufficient, NOT_ENOUGH),
        (known, MISSING),
    )
    found.reasons = [reason for good, reason in flags if not good]
    return found


def _check_bound(claims: list[PersistentVolumeClaim], node: Node, catalog: Catalog) -> tuple[bool, bool]:
    for claim in claims:
        volume = catalog.persistent_volumes.get(claim.spec.volume_name)
        if volume is None:
            return True, False
        if not _reaches(volume, node):
            return False, True
    return True, True


def _check_unbound(
    claims: list[PersistentVolumeClaim], node: Node, catalog: Catalog, found: Found
) -> tuple[bool, bool]:
    selected = [claim.metadata.annotations.get(SELECTED_NODE) for claim in claims]
    if any(name is not None and name != node.metadata.name for name in selected):
        return False, True
    provision = [claim for claim, name in zip(claims, selected, strict=True) if name is not None]
    looking = [claim for claim, name in zip(claims, selected, strict=True) if name is None]
    for claim in sorted(looking, key=lambda one: _size(one.spec.resources.requests)):
        volume = _match(claim, node, catalog, found)
        if volume is None:
            provision.append(claim)
        else:
            found.choice[claim.metadata.name] = volume.metadata.name
    for claim in provision:
        storage_class = catalog.storage_classes.get(claim.spec.storage_class_name or "")
        assert storage_class is not None
        if not _allowed(storage_class, node):
            return False, True
        if not _enough(claim, storage_class, node, catalog):
            return True, False
        found.choice[claim.metadata.name] = "made"
    return True, True


def _match(
    claim: PersistentVolumeClaim, node: Node, catalog: Catalog, found: Found
) -> PersistentVolume | None:
    best: PersistentVolume | None = None
    for volume in catalog.persistent_volumes.all():
        spec = volume.spec
        if spec.storage_class_name != claim.spec.storage_class_name:
            continue
        if volume.metadata.name in found.choice.values() or (
            spec.claim_ref and not _set_aside(volume, claim)
        ):
            continue
        if _size(spec.capacity) < _size(claim.spec.resources.requests):
            continue
        if (spec.volume_mode or "Filesystem") != (claim.spec.volume_mode or "Filesystem"):
            continue
        if _set_aside(volume, claim):
            return volume if _reaches(volume, node) else None
        if volume.status.phase != "Available" or not _selected(claim, volume) or not _reaches(volume, node):
            continue
        if set(claim.spec.access_modes) - set(spec.access_modes):
            continue
        if best is None or _size(best.spec.capacity) > _size(spec.capacity):
            best = volume
    return best


def _set_aside(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    reference = volume.spec.claim_ref
    if reference is None or reference.name != claim.metadata.name:
        return False
    return reference.namespace == claim.metadata.namespace and reference.uid in ("", claim.metadata.uid)


def _selected(claim: PersistentVolumeClaim, volume: PersistentVolume) -> bool:
    if claim.spec.selector is None:
        return True
    return compile_label_selector(claim.spec.selector).matches(volume.metadata.labels)


def _reaches(volume: PersistentVolume, node: Node) -> bool:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return compile_node_selector(affinity.required).match(node.metadata.labels, "")[0]


def _allowed(storage_class: StorageClass, node: Node) -> bool:
    if storage_class.provisioner == "kubernetes.io/no-provisioner":
        return False
    terms = storage_class.allowed_topologies
    return not terms or any(
        term.match_label_expressions
        and all(node.metadata.labels.get(one.key) in one.values for one in term.match_label_expressions)
        for term in terms
    )


def _enough(claim: PersistentVolumeClaim, storage_class: StorageClass, node: Node, catalog: Catalog) -> bool:
    driver = catalog.csi_drivers.get(storage_class.provisioner)
    if driver is None or not driver.spec.storage_capacity or "storage" not in claim.spec.resources.requests:
        return True
    return any(
        capacity.storage_class_name == storage_class.metadata.name
        and _limit(capacity) >= _size(claim.spec.resources.requests)
        and capacity.node_topology is not None
        and compile_label_selector(capacity.node_topology).matches(node.metadata.labels)
        for capacity in catalog.csi_storage_capacities.all()
    )


def _limit(capacity: CSIStorageCapacity) -> Quantity:
    text = capacity.maximum_volume_size if capacity.maximum_volume_size is not None else capacity.capacity
    return Quantity(-1) if text is None else from_json(text)


def _size(resources: dict[str, str | int | float]) -> Quantity:
    return from_json(resources["storage"]) if "storage" in resources else ZERO
