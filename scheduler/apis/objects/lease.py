"""Lease: the record that leader election keeps at the API server (coordination.k8s.io/v1)."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Int32, ObjectMeta


class LeaseSpec(Base, frozen=True):
    """Who holds the lease and until when; times are RFC 3339 with microseconds, ``""`` when unset."""

    holder_identity: str = ""
    lease_duration_seconds: Int32 | None = None
    acquire_time: str = ""
    renew_time: str = ""
    lease_transitions: Int32 = 0


class Lease(Base, frozen=True):
    """A lease."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: LeaseSpec = msgspec.field(default_factory=LeaseSpec)
