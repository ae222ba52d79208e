"""How far the binding of a pod's volumes has come, by what the watches have brought.

What was assumed is left aside here: it may have been assumed anew for somebody else. An object that is older than the answer to our
own write says nothing yet.

Upstream: ``checkBindings``.
"""

from __future__ import annotations

from collections.abc import Sequence

from scheduler.apis.fielderror import aggregate
from scheduler.apis.objects import Node, ObjectMeta, PersistentVolume, PersistentVolumeClaim, Pod
from scheduler.framework.catalog import Catalog
from scheduler.framework.live import Live
from scheduler.plugins.helper.csi_translation import Untranslatable
from scheduler.plugins.volume_binding.assume_cache import AssumeCache
from scheduler.plugins.volume_binding.migration import (
    migratable_plugin,
    migrated_plugins,
    required_when_migrated,
)
from scheduler.plugins.volume_binding.placement import SELECTED_NODE
from scheduler.plugins.volume_binding.pod_claims import fully_bound
from scheduler.plugins.volume_binding.reach import Affinities, required_of


class BindError(Exception):
    """The volumes cannot be bound as chosen: the pod has to start anew. The message is upstream's."""


class Progress:
    """Looks at volumes and claims as the API server has them."""

    def __init__(
        self,
        volumes: AssumeCache[PersistentVolume],
        claims: AssumeCache[PersistentVolumeClaim],
        affinities: Affinities,
        catalog: Catalog,
        live: Live,
    ) -> None:
        self._volumes = volumes
        self._claims = claims
        self._affinities = affinities
        self._catalog = catalog
        self._live = live

    def is_done(
        self,
        pod: Pod,
        node_name: str,
        bindings: Sequence[tuple[PersistentVolume, PersistentVolumeClaim]],
        provisions: Sequence[PersistentVolumeClaim],
    ) -> bool:
        """Whether every claim is bound.

        Args:
            bindings: the volumes as the API server answered our write, each with its claim.
            provisions: the claims as the API server answered.

        Raises:
            BindError: see there.
        """
        node = self._live.node(node_name)
        if node is None:
            raise BindError(f'failed to get node "{node_name}": node "{node_name}" not found')
        if self._live.pod(pod.metadata.namespace, pod.metadata.name) is None:
            raise BindError(f'pod does not exist any more: pod "{pod.metadata.name}" not found')
        return all(self._is_bound(volume, claim, node) for volume, claim in bindings) and all(
            self._is_provisioned(claim, node) for claim in provisions
        )

    def _is_bound(self, written: PersistentVolume, chosen: PersistentVolumeClaim, node: Node) -> bool:
        name = written.metadata.name
        volume = self._volumes.stored(name)
        if volume is None:
            raise BindError(f"failed to check binding: {self._volumes.not_found(name)}")
        claim = self._claim(chosen.metadata, "failed to check binding")
        if _older(volume.metadata, written.metadata):
            return False
        self._check_reach(volume, node, "failed to translate pv to csi: ")
        reference = volume.spec.claim_ref
        if reference is None or not reference.uid:
            raise BindError(f'ClaimRef got reset for pv "{name}"')
        return fully_bound(claim)

    def _is_provisioned(self, written: PersistentVolumeClaim, node: Node) -> bool:
        claim = self._claim(written.metadata, "failed to check provisioning pvc")
        if _older(claim.metadata, written.metadata):
            return False
        annotations, name = claim.metadata.annotations, claim.metadata.name
        if not annotations:
            raise BindError(f'selectedNode annotation reset for PVC "{name}"')
        if annotations.get(SELECTED_NODE) != node.metadata.name:
            raise BindError(f'provisioning failed for PVC "{name}"')
        if claim.spec.volume_name:
            volume = self._volumes.stored(claim.spec.volume_name)
            if volume is None:
                return False  # its own watch may be slower
            self._check_reach(volume, node, "")
        return fully_bound(claim)

    def _claim(self, meta: ObjectMeta, doing: str) -> PersistentVolumeClaim:
        claim = self._claims.stored(meta.name, meta.namespace)
        if claim is None:
            raise BindError(f"{doing}: {self._claims.not_found(meta.name, meta.namespace)}")
        return claim

    def _check_reach(self, volume: PersistentVolume, node: Node, doing: str) -> None:
        """The node's labels may have changed, and the volume may be another one than was hoped for."""
        required = required_of(volume)
        if self._is_migrated(volume, node):
            moved = required_when_migrated(volume)
            if isinstance(moved, Untranslatable):
                raise BindError(f"{doing}could not translate pv: {moved.message}")
            required = moved
        if required is None:
            return
        matches, faults = self._affinities.compiled(required).match(node.metadata.labels, "")
        if not matches:
            why = aggregate(faults) if faults else "no matching NodeSelectorTerms"
            raise BindError(
                f'pv "{volume.metadata.name}" node affinity doesn\'t match node "{node.metadata.name}": {why}'
            )

    def _is_migrated(self, volume: PersistentVolume, node: Node) -> bool:
        plugin = migratable_plugin(volume)
        csi_node = None if plugin is None else self._catalog.csi_nodes.get(node.metadata.name)
        return csi_node is not None and plugin in migrated_plugins(csi_node)


def _older(meta: ObjectMeta, than: ObjectMeta) -> bool:
    """Whether an object is older than another version of it; versions that are no numbers cannot be told apart."""
    mine, other = meta.resource_version, than.resource_version
    return mine.isdecimal() and other.isdecimal() and int(mine) < int(other)
