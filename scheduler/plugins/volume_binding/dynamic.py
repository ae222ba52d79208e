"""Dynamic provisioning: whether a volume can be made for a claim near each node.

The class must have a provisioner, allow the node's topology, and, when its CSI driver publishes how much storage there is
(``CSIDriver.spec.storageCapacity``), some CSIStorageCapacity of the class that the node can reach must be large
enough. ``maximumVolumeSize`` is asked before ``capacity``. A claim that does not say how much it wants fits.

Upstream: ``checkVolumeProvisions``, ``hasEnoughCapacity``, ``MatchTopologySelectorTerms``.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from scheduler.apis.objects import CSIStorageCapacity, StorageClass, TopologySelectorTerm
from scheduler.apis.quantity import value
from scheduler.apis.requirements import Operator, Requirement, new_requirement
from scheduler.apis.selectors import SelectorError, compile_label_selector
from scheduler.framework.catalog import Catalog
from scheduler.framework.columns import AnyColumn
from scheduler.plugins.volume_binding.pod_claims import DelayedClaim
from scheduler.plugins.volume_binding.reach import Reach, Restriction, first_of

logger = logging.getLogger(__name__)

NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
"""The provisioner of classes whose volumes are made by people."""


class Pool(NamedTuple):
    """Some storage of a class: the object, the largest volume in bytes (None: unknown), and who can reach it."""

    capacity: CSIStorageCapacity
    limit: int | None
    reached_from: Restriction


def provisions(storage_class: StorageClass) -> bool:
    """Whether volumes of the class can be made on demand."""
    return storage_class.provisioner not in ("", NO_PROVISIONER)


def allowed_topology(terms: Sequence[TopologySelectorTerm]) -> Restriction:
    """Which nodes a class allows. No terms allow all; a term that is empty or cannot be read allows none."""
    if not terms:
        return None
    return tuple(found for term in terms if (found := _requirements(term)))


def _requirements(term: TopologySelectorTerm) -> tuple[Requirement, ...]:
    try:
        return tuple(
            new_requirement(wanted.key, Operator.IN, wanted.values) for wanted in term.match_label_expressions
        )
    except SelectorError:
        return ()


class Capacities:
    """What CSI drivers say about their storage, by class; read again when something changed."""

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._version = -1
        self._pools: dict[str, tuple[Pool, ...]] = {}

    def sufficient(self, delayed: DelayedClaim) -> tuple[Pool, ...] | None:
        """The pools that are large enough for the claim, wherever they are; None when capacity is not to be asked for."""
        size = delayed.claim.spec.resources.requests.get("storage")
        driver = self._catalog.csi_drivers.get(delayed.storage_class.provisioner)
        if size is None or driver is None or not driver.spec.storage_capacity:
            return None
        wanted = value(size)
        return tuple(
            pool
            for pool in self._of_class(delayed.storage_class.metadata.name)
            if pool.limit is not None and pool.limit >= wanted
        )

    def _of_class(self, name: str) -> tuple[Pool, ...]:
        capacities = self._catalog.csi_storage_capacities
        if self._version != capacities.version:
            self._version = capacities.version
            self._pools.clear()
        found = self._pools.get(name)
        if found is None:
            found = self._pools[name] = tuple(_pools(capacities.by(_class_of, name)))
        return found


def first_reached(pools: Sequence[Pool], reach: Reach, count: int) -> AnyColumn:
    """int32[rows]: the number of the first pool that the row reaches, -1 without one."""
    return first_of([reach.rows(pool.reached_from) for pool in pools], range(len(pools)), count)


def volume_limit(capacity: CSIStorageCapacity) -> int | None:
    """The largest volume in bytes; None when nothing is said (upstream: ``volumeLimit``)."""
    limit = capacity.capacity if capacity.maximum_volume_size is None else capacity.maximum_volume_size
    return None if limit is None else value(limit)


def _class_of(capacity: CSIStorageCapacity) -> Iterable[str]:
    return (capacity.storage_class_name,)


def _pools(capacities: Iterable[CSIStorageCapacity]) -> Iterable[Pool]:
    """Storage without a topology is out of everybody's reach."""
    for capacity in capacities:
        if capacity.node_topology is None:
            continue
        try:
            selector = compile_label_selector(capacity.node_topology)
        except SelectorError as error:
            logger.error("the nodeTopology of CSIStorageCapacity %s: %s", capacity.metadata.name, error)
            continue
        yield Pool(capacity, volume_limit(capacity), (selector.requirements,))
