"""Carrying a choice of volumes out: first in memory, then at the API server, then waiting until it is done.

::

    Reserve   assume: the volume is the claim's, the claim has its node            (undone by Unreserve)
    PreBind   write: the volume's claimRef, the claim's selected-node annotation   (what is not written is undone; the rest stays)
              wait:  until volume controller and provisioner have bound all claims of the choice

The wait looks at what the watches have brought, once a second. It ends with an error, and the pod starts anew, when

* the volume lost its claim, or cannot be reached from the node any more;
* the provisioner gave the claim back (it takes ``selected-node`` away to say that it failed here);
* pod, node, claim or volume are gone, the pod is preempted, time is up, or the scheduler retires.

Upstream: ``AssumePodVolumes``, ``BindPodVolumes``, ``bindAPIUpdate``.
"""

from __future__ import annotations

from typing import Final

from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, Pod
from scheduler.framework.catalog import Catalog
from scheduler.framework.live import Live
from scheduler.framework.port import Port
from scheduler.plugins.volume_binding.assume_cache import AssumeCache, OutOfSyncError
from scheduler.plugins.volume_binding.changes import (
    bound_volume,
    claim_patch,
    claim_with_node,
    volume_patch,
)
from scheduler.plugins.volume_binding.placement import PodVolumes
from scheduler.plugins.volume_binding.pod_claims import all_bound
from scheduler.plugins.volume_binding.progress import BindError, Progress
from scheduler.plugins.volume_binding.reach import Affinities

POLL_SECONDS: Final = 1.0


class Binding:
    """A choice that is being carried out.

    Attributes:
        chosen: the choice.
        volumes: the volumes of ``chosen.bindings``, as assumed and, once written, as the API server answered.
        claims: the claims of ``chosen.provisions``, likewise.
    """

    __slots__ = ("chosen", "claims", "volumes")

    def __init__(self, chosen: PodVolumes) -> None:
        self.chosen = chosen
        self.volumes: list[PersistentVolume] = []
        self.claims: list[PersistentVolumeClaim] = []


class Binder:
    """Carries choices out.

    Args:
        port: asked for when something is to be written.
        timeout: how long to wait for claims to be bound, in seconds.

    Attributes:
        volumes, claims: the catalog's, with what is assumed of them.
    """

    def __init__(
        self, catalog: Catalog, port: Port, live: Live, affinities: Affinities, timeout: float
    ) -> None:
        self.volumes = AssumeCache(catalog.persistent_volumes, "persistentvolumes")
        self.claims = AssumeCache(catalog.persistent_volume_claims, "persistentvolumeclaims")
        self._progress = Progress(self.volumes, self.claims, affinities, catalog, live)
        self._port = port
        self._live = live
        self._timeout = timeout

    def assume(self, pod: Pod, node: str, chosen: PodVolumes) -> Binding | None:
        """Take the choice for done in memory; None when nothing is left to do.

        Raises:
            OutOfSyncError: an object changed meanwhile; nothing stays assumed.
        """
        if all_bound(pod, self.claims.get):
            return None
        binding = Binding(chosen)
        try:
            for pair in chosen.bindings:
                volume = bound_volume(pair)
                if volume is not pair.volume:
                    self.volumes.assume(volume)
                binding.volumes.append(volume)
            for claim in chosen.provisions:
                assumed = claim_with_node(claim, node)
                self.claims.assume(assumed)
                binding.claims.append(assumed)
        except OutOfSyncError:
            self.revert(binding)
            raise
        return binding

    def revert(self, binding: Binding) -> None:
        """Take back what is assumed; what the API server has answered to stays."""
        for volume in binding.volumes:
            self.volumes.restore(volume)
        for claim in binding.claims:
            self.claims.restore(claim)

    def bind(self, pod: Pod, node: str, binding: Binding) -> None:
        """Write, and wait until it is done.

        Raises:
            scheduler.client.errors.ClientError: the API server refused; what was not written is not assumed any more.
            BindError: it came to nothing.
        """
        self._write(node, binding)
        pairs = [
            (volume, pair.claim)
            for volume, pair in zip(binding.volumes, binding.chosen.bindings, strict=True)
        ]
        deadline = self._live.now() + self._timeout
        while (left := deadline - self._live.now()) > 0:
            if not self._live.pause(min(POLL_SECONDS, left)) or self._live.called_back(pod.metadata.uid):
                raise BindError("binding volumes: context canceled")
            try:
                if self._progress.is_done(pod, node, pairs, binding.claims):
                    return
            except BindError as error:
                raise BindError(f"binding volumes: {error}") from None
        raise BindError("binding volumes: context deadline exceeded")

    def _write(self, node: str, binding: Binding) -> None:
        """Volumes first, then claims; an answer takes the place of what was assumed."""
        volumes = claims = 0
        try:
            for pair in binding.chosen.bindings:
                name = pair.volume.metadata.name
                binding.volumes[volumes] = self._port.patch_volume(name, volume_patch(pair))
                volumes += 1
            for claim in binding.chosen.provisions:
                meta = claim.metadata
                patch = claim_patch(claim, node)
                binding.claims[claims] = self._port.patch_claim(meta.namespace, meta.name, patch)
                claims += 1
        finally:
            for volume in binding.volumes[volumes:]:
                self.volumes.restore(volume)
            for unwritten in binding.claims[claims:]:
                self.claims.restore(unwritten)
