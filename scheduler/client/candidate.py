"""Candidacy: how a replica stands for a coordinated election (``CoordinatedLeaderElection``).

::

    this replica                               the API server's coordinator
    LeaseCandidate ──created, renewed──>       chooses among the candidates: the oldest emulated version, then the oldest binary
                   <──pingTime: still there?── asks those that it has not heard of for a while
                   ──renewTime─────────>
    Lease          <──holderIdentity────────── given; from here on :mod:`.leaderelection` renews it

The object is watched by name, written again when it is gone, when it is pinged and every five minutes. What goes wrong is tried again, more and
more seldom (upstream: ``leasecandidate.go``).
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from scheduler.client.backoff import Backoff
from scheduler.client.errors import ClientError
from scheduler.client.informers import Informer
from scheduler.client.resources import LEASE_CANDIDATES
from scheduler.client.rest import Rest
from scheduler.client.times import micro_time

logger = logging.getLogger(__name__)

OLDEST_EMULATION_VERSION = "OldestEmulationVersion"
RENEW_SECONDS = 300.0
_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 60.0


@dataclass(frozen=True, slots=True)
class Standing:
    """What a candidate says of itself: the lease that it wants, and its versions, ``1.36.2``."""

    namespace: str
    lease: str
    identity: str
    binary_version: str
    emulation_version: str


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    namespace: str
    resource_version: str


class _Spec(msgspec.Struct, frozen=True, rename="camel"):
    ping_time: str = ""
    renew_time: str = ""


class _Candidate(msgspec.Struct, frozen=True):
    """A LeaseCandidate, and the whole object, which is sent back."""

    metadata: _Metadata
    spec: _Spec
    whole: Mapping[str, Any] = {}

    @classmethod
    def decode(cls, raw: msgspec.Raw) -> _Candidate:
        whole = msgspec.json.decode(raw, type=dict[str, Any])
        fields = msgspec.convert(whole, cls)
        return cls(fields.metadata, fields.spec, whole)

    @property
    def pinged(self) -> bool:
        """The coordinator asks whether we are still there."""
        return bool(self.spec.ping_time) and _instant(self.spec.ping_time) > _instant(self.spec.renew_time)


class Candidacy:
    """Keeps the LeaseCandidate of this replica. ``start`` and ``stop`` it once."""

    def __init__(
        self,
        rest: Rest,
        standing: Standing,
        *,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        backoff: Backoff | None = None,
    ) -> None:
        self._rest = rest
        self._standing = standing
        self._wall = wall
        self._backoff = backoff or Backoff(_FIRST_PAUSE, _LONGEST_PAUSE)
        self._informer: Informer[_Candidate] = Informer(
            rest,
            LEASE_CANDIDATES,
            _Candidate.decode,
            namespace=standing.namespace,
            field_selector=f"metadata.name={standing.identity}",
        )
        self._informer.add_handler(self)
        self._due = threading.Event()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="lease-candidate", daemon=True)

    def start(self) -> None:
        """Stand for election from now on."""
        self._informer.start()
        self._thread.start()

    def stop(self) -> None:
        """End; the object stays, as kube-scheduler's does, until the coordinator finds that nobody answers for it."""
        self._stopping.set()
        self._due.set()
        self._informer.stop()
        if self._thread.is_alive():
            self._thread.join(1.0)

    def unsynced(self) -> str | None:
        """Why the candidate is not known yet; None when it is."""
        return None if self._informer.has_synced else f"not synced yet: {self._informer.name}"

    # What the informer tells

    def on_add(self, obj: _Candidate, initial: bool) -> None:  # the informers' protocol
        """It is there."""

    def on_update(self, old: _Candidate, new: _Candidate) -> None:  # noqa: ARG002
        """It changed: answer a ping."""
        if new.pinged:
            self._due.set()

    def on_delete(self, obj: _Candidate) -> None:  # noqa: ARG002
        """Somebody removed it: it is made again."""
        self._due.set()

    # Writing

    def _run(self) -> None:
        while not self._stopping.is_set() and not self._informer.wait_for_sync(1.0):
            pass
        pause = 0.0
        while not self._stopping.is_set():
            self._due.wait(pause)
            self._due.clear()
            if not self._stopping.is_set():
                pause = self._write()

    def _write(self) -> float:
        """Create or renew; the seconds until it is time again."""
        try:
            known = self._informer.store.get(f"{self._standing.namespace}/{self._standing.identity}")
            self._renew(known) if known is not None else self._create()
        except ClientError as error:
            pause = self._backoff.delay()
            logger.warning("Ensuring lease candidate failed: %s; trying again in %.1f s", error, pause)
            return pause
        return RENEW_SECONDS

    def _create(self) -> None:
        standing = self._standing
        spec = {
            "leaseName": standing.lease,
            "binaryVersion": standing.binary_version,
            "emulationVersion": standing.emulation_version,
            "strategy": OLDEST_EMULATION_VERSION,
            "renewTime": micro_time(self._wall()),
        }
        body = {
            "apiVersion": LEASE_CANDIDATES.api_version,
            "kind": LEASE_CANDIDATES.kind,
            "metadata": {"name": standing.identity, "namespace": standing.namespace},
            "spec": spec,
        }
        self._rest.request("POST", LEASE_CANDIDATES.collection(standing.namespace), body=body)

    def _renew(self, known: _Candidate) -> None:
        spec = {**known.whole["spec"], "renewTime": micro_time(self._wall())}
        path = LEASE_CANDIDATES.object(self._standing.namespace, self._standing.identity)
        self._rest.request("PUT", path, body={**known.whole, "spec": spec})


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text) if text else datetime.min.replace(tzinfo=UTC)
