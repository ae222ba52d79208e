"""The lock of a leader election: a Lease object, read and written with optimistic concurrency.

Upstream: client-go's tools/leaderelection/resourcelock/leaselock.go. The metadata of the last answer are kept and sent back, so that labels
that other programs put there survive, and so that its resourceVersion makes the server refuse a write (409) when somebody else was
faster. The spec is replaced as a whole: what a coordinator left there ends when nobody speaks for it any more.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler.client.errors import MalformedAnswerError
from scheduler.client.references import ObjectReference
from scheduler.client.resources import LEASES
from scheduler.client.rest import Rest

HOLDER_ANNOTATION = "wharfinger/holder"
"""Names the holder when it is this program; on a lease that is handed on to another program it names the one before."""


@dataclass(frozen=True, slots=True)
class LeaderRecord:
    """Who leads. Times are RFC 3339 text with microseconds, as on the wire; an empty holder leads nothing.

    Attributes:
        preferred_holder: who is to lead next, in a coordinated election: the holder's term is over.
        strategy: by which rule the coordinator chose, in a coordinated election.
    """

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    leader_transitions: int = 0
    preferred_holder: str = ""
    strategy: str = ""


class LeaseLock:
    """One Lease on the server. Used by one thread. ``timeout``: seconds that a request may take."""

    def __init__(self, rest: Rest, namespace: str, name: str) -> None:
        self._rest = rest
        self._namespace = namespace
        self._name = name
        self._lease: dict[str, Any] = {}
        self._metadata = _Metadata()
        self._holder = ""

    def __str__(self) -> str:
        return f"{self._namespace}/{self._name}"

    def reference(self) -> ObjectReference:
        """The Lease as last seen, for events about it: ``kubectl describe`` finds those only by the uid."""
        known = self._metadata
        return ObjectReference(
            kind=LEASES.kind,
            namespace=self._namespace,
            name=self._name,
            uid=known.uid or "",
            api_version=LEASES.api_version,
            resource_version=known.resource_version or "",
        )

    @property
    def held_by_our_kind(self) -> bool:
        """Whether the holder last seen is this program, be it another replica: it says so in an annotation, which others do not change."""
        annotated = self._metadata.annotations or {}
        return annotated.get(HOLDER_ANNOTATION, "") == (self._holder or "")

    def get(self, timeout: float) -> LeaderRecord:
        """The record on the server. Raises NotFoundError when there is no Lease yet, other ClientErrors."""
        path = LEASES.object(self._namespace, self._name)
        return self._remember(self._rest.request("GET", path, timeout=timeout).body)

    def create(self, record: LeaderRecord, timeout: float) -> None:
        """Create the Lease. Raises ConflictError when somebody else just did."""
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {
                "name": self._name,
                "namespace": self._namespace,
                "annotations": {HOLDER_ANNOTATION: record.holder_identity},
            },
            "spec": _spec(record),
        }
        path = LEASES.collection(self._namespace)
        self._remember(self._rest.request("POST", path, body=lease, timeout=timeout).body)

    def update(self, record: LeaderRecord, timeout: float) -> None:
        """Replace the record of the Lease as last seen. Raises ConflictError when it has changed since."""
        path = LEASES.object(self._namespace, self._name)
        metadata = {**self._lease.get("metadata", {})}
        metadata["annotations"] = {
            **(metadata.get("annotations") or {}),
            HOLDER_ANNOTATION: record.holder_identity,
        }
        body = {**self._lease, "metadata": metadata, "spec": _spec(record)}
        self._remember(self._rest.request("PUT", path, body=body, timeout=timeout).body)

    def _remember(self, body: bytes) -> LeaderRecord:
        try:
            lease = msgspec.json.decode(body, type=dict[str, Any])
            record = _record(msgspec.convert(lease.get("spec") or {}, _LeaseSpec))
            metadata = msgspec.convert(lease.get("metadata") or {}, _Metadata)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswerError(f"lease {self}: the answer does not parse: {error}") from None
        self._lease, self._metadata, self._holder = lease, metadata, record.holder_identity
        return record


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class _LeaseSpec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None
    preferred_holder: str | None = None
    strategy: str | None = None


def _record(spec: _LeaseSpec) -> LeaderRecord:
    return LeaderRecord(
        spec.holder_identity or "",
        spec.lease_duration_seconds or 0,
        spec.acquire_time or "",
        spec.renew_time or "",
        spec.lease_transitions or 0,
        spec.preferred_holder or "",
        spec.strategy or "",
    )


def _spec(record: LeaderRecord) -> dict[str, Any]:
    """The record on the wire; what it does not have is left out, as a coordinator's record has no times at first."""
    spec = {
        "holderIdentity": record.holder_identity,
        "leaseDurationSeconds": record.lease_duration_seconds,
        "leaseTransitions": record.leader_transitions,
    }
    optional = {
        "acquireTime": record.acquire_time,
        "renewTime": record.renew_time,
        "preferredHolder": record.preferred_holder,
        "strategy": record.strategy,
    }
    return spec | {name: text for name, text in optional.items() if text}
