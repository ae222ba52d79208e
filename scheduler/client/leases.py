"""The lock of a leader election: a Lease object, read and written with optimistic concurrency.

Upstream: client-go's tools/leaderelection/resourcelock/leaselock.go. The whole object of the last answer is kept and sent
back, so that labels and fields that other programs put there survive, and so that its resourceVersion makes the server
refuse a write (409) when somebody else was faster.
"""

from dataclasses import dataclass
from typing import Any

import msgspec

from scheduler.client.errors import MalformedAnswerError
from scheduler.client.references import ObjectReference
from scheduler.client.resources import LEASES
from scheduler.client.rest import Rest


@dataclass(frozen=True, slots=True)
class LeaderRecord:
    """Who leads. Times are RFC 3339 text with microseconds, as on the wire; an empty holder leads nothing."""

    holder_identity: str = ""
    lease_duration_seconds: int = 0
    acquire_time: str = ""
    renew_time: str = ""
    leader_transitions: int = 0


class LeaseLock:
    """One Lease on the server. Used by one thread. ``timeout``: seconds that a request may take."""

    def __init__(self, rest: Rest, namespace: str, name: str) -> None:
        self._rest = rest
        self._namespace = namespace
        self._name = name
        self._lease: dict[str, Any] = {}
        self._metadata = _Metadata()

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

    def get(self, timeout: float) -> LeaderRecord:
        """The record on the server. Raises NotFoundError when there is no Lease yet, other ClientErrors."""
        path = LEASES.object(self._namespace, self._name)
        return self._remember(self._rest.request("GET", path, timeout=timeout).body)

    def create(self, record: LeaderRecord, timeout: float) -> None:
        """Create the Lease. Raises ConflictError when somebody else just did."""
        lease = {
            "apiVersion": LEASES.api_version,
            "kind": LEASES.kind,
            "metadata": {"name": self._name, "namespace": self._namespace},
            "spec": _spec(record),
        }
        path = LEASES.collection(self._namespace)
        self._remember(self._rest.request("POST", path, body=lease, timeout=timeout).body)

    def update(self, record: LeaderRecord, timeout: float) -> None:
        """Replace the record of the Lease as last seen. Raises ConflictError when it has changed since."""
        spec = {**self._lease.get("spec", {}), **_spec(record)}
        path = LEASES.object(self._namespace, self._name)
        body = {**self._lease, "spec": spec}
        self._remember(self._rest.request("PUT", path, body=body, timeout=timeout).body)

    def _remember(self, body: bytes) -> LeaderRecord:
        try:
            lease = msgspec.json.decode(body, type=dict[str, Any])
            record = _record(msgspec.convert(lease.get("spec") or {}, _LeaseSpec))
            metadata = msgspec.convert(lease.get("metadata") or {}, _Metadata)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise MalformedAnswerError(f"lease {self}: the answer does not parse: {error}") from None
        self._lease, self._metadata = lease, metadata
        return record


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str | None = None
    resource_version: str | None = None


class _LeaseSpec(msgspec.Struct, rename="camel"):
    holder_identity: str | None = None
    lease_duration_seconds: int | None = None
    acquire_time: str | None = None
    renew_time: str | None = None
    lease_transitions: int | None = None


def _record(spec: _LeaseSpec) -> LeaderRecord:
    return LeaderRecord(
        spec.holder_identity or "",
        spec.lease_duration_seconds or 0,
        spec.acquire_time or "",
        spec.renew_time or "",
        spec.lease_transitions or 0,
    )


def _spec(record: LeaderRecord) -> dict[str, Any]:
    return {
        "holderIdentity": record.holder_identity,
        "leaseDurationSeconds": record.lease_duration_seconds,
        "acquireTime": record.acquire_time,
        "renewTime": record.renew_time,
        "leaseTransitions": record.leader_transitions,
    }
