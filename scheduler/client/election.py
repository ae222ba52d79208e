"""Who leads, decided from what was observed and when: client-go's leader election without clocks, threads or sockets.

Clocks of different machines are never compared. A candidate notes by its *own* clock when it last saw the record change;
the holder's claim is valid for the record's lease duration after that. So a crashed leader is replaced one lease
duration after its last renewal was seen, however wrong anybody's clock is.

::

    no record ─────────────────────────────▶ CREATE
    held by us ────────────────────────────▶ RENEW   (keeps acquire time and transitions)
    held by another, claim valid ──────────▶ WAIT
    held by nobody, or claim run out ──────▶ TAKE    (transitions + 1)

In a coordinated election nobody takes anything: the API server's coordinator gives the lease to the candidate that it chose, which renews it
until it is told that its term is over (``preferredHolder``)::

    held by us, claim valid, no successor named ──▶ RENEW
    held by us, a successor is named ────────────▶ END     stop leading, then release
    anything else ───────────────────────────────▶ WAIT
"""

import enum
import socket
import uuid
from dataclasses import dataclass, replace

from scheduler.client.leases import LeaderRecord

JITTER_FACTOR = 1.2
"""A candidate's pauses are stretched by up to so many times the retry period."""


@dataclass(frozen=True, slots=True)
class ElectionTimes:
    """``leaderElection`` of the configuration, in seconds.

    Raises ValueError unless lease_duration > renew_deadline > 1.2 × retry_period > 0 and lease_duration >= 1, as client-go demands.
    """

    lease_duration: float = 15.0
    renew_deadline: float = 10.0
    retry_period: float = 2.0

    def __post_init__(self) -> None:
        if self.lease_duration <= self.renew_deadline:
            raise ValueError("leaseDuration must be greater than renewDeadline")
        if self.renew_deadline <= JITTER_FACTOR * self.retry_period:
            raise ValueError("renewDeadline must be greater than retryPeriod*JitterFactor")
        if self.lease_duration < 1:
            raise ValueError("leaseDuration must be at least one second")
        if self.retry_period <= 0:
            raise ValueError("retryPeriod must be greater than zero")


class Verdict(enum.Enum):
    """What a candidate does about the record that it has just read."""

    CREATE = "create"
    RENEW = "renew"
    TAKE = "take"
    WAIT = "wait"
    END = "end"


class Election:
    """The view of one candidate. ``now`` is monotonic seconds, ``time`` a MicroTime by the local wall clock.

    ``coordinated``: a coordinator hands out the lease. Not thread-safe; but ``observed`` and ``observed_at`` may be read by any thread.
    """

    def __init__(self, identity: str, times: ElectionTimes, *, coordinated: bool = False) -> None:
        if not identity:
            raise ValueError("a candidate needs an identity")
        self.identity = identity
        self.times = times
        self.coordinated = coordinated
        self.observed = LeaderRecord()
        self.observed_at = 0.0

    @property
    def is_leader(self) -> bool:
        """Whether the record, as last observed, names us."""
        return self.observed.holder_identity == self.identity

    def observe(self, record: LeaderRecord, now: float) -> None:
        """A record was read: only a change of it proves that its holder lives."""
        if record != self.observed:
            self.record_written(record, now)

    def record_written(self, record: LeaderRecord, now: float) -> None:
        """We wrote this record."""
        self.observed = record
        self.observed_at = now

    def is_valid(self, now: float) -> bool:
        """Whether the observed holder's claim still stands."""
        return self.observed_at + self.observed.lease_duration_seconds > now

    def may_renew_unread(self, now: float) -> bool:
        """The fast path: we lead and the claim stands, so write over the record as last seen without reading it.

        Never in a coordinated election: the coordinator may have written that the term is over.
        """
        return not self.coordinated and self.is_leader and self.is_valid(now)

    def decide(self, now: float) -> Verdict:
        """What to do about the observed record."""
        if self.coordinated:
            return self._decide_coordinated(now)
        if self.is_leader:
            return Verdict.RENEW
        if self.observed.holder_identity and self.is_valid(now):
            return Verdict.WAIT
        return Verdict.TAKE

    def next_record(self, verdict: Verdict, time: str) -> LeaderRecord:
        """The record to write for CREATE, RENEW or TAKE."""
        fresh = LeaderRecord(self.identity, int(self.times.lease_duration), time, time)
        if verdict is Verdict.RENEW:
            return replace(
                fresh,
                acquire_time=self.observed.acquire_time,
                leader_transitions=self.observed.leader_transitions,
                strategy=self.observed.strategy if self.coordinated else "",
            )
        if verdict is Verdict.TAKE:
            return replace(fresh, leader_transitions=self.observed.leader_transitions + 1)
        return fresh

    def released_record(self, time: str) -> LeaderRecord:
        """The record that gives the lead away: nobody's, for one second, so that others take over at once."""
        return LeaderRecord("", 1, time, time, self.observed.leader_transitions)

    def overdue(self, now: float, tolerance: float) -> bool:
        """Whether we claim to lead although the claim ran out more than ``tolerance`` seconds ago."""
        return self.is_leader and now - self.observed_at > self.times.lease_duration + tolerance

    def _decide_coordinated(self, now: float) -> Verdict:
        if not self.is_leader or not self.is_valid(now):
            return Verdict.WAIT
        return Verdict.END if self.observed.preferred_holder else Verdict.RENEW


def default_identity() -> str:
    """``hostname_uuid``, as kube-scheduler: two processes on one host differ."""
    return f"{socket.gethostname()}_{uuid.uuid4()}"
