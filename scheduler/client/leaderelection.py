"""Leader election: one of several schedulers holds the Lease, renews it, and gives it up in an orderly way.

::

    ACQUIRE ── taken, created, given ──▶ LEAD ── renewed every retry period ──┐
      │  ▲                               │ ▲─────────────────────────────────┘
      │  └─ wait, retry period           ├── stop requested, or the term is over ──▶ the led work is told to stop; when it has ended
      │     (jittered)                   │                                           the lease is released; stopped
      └── stop requested ──▶ stopped     └── not renewed within the renew deadline, or another holds it ──▶ lost: fenced off at once

:class:`.election.Election` decides; this module has the clock, the lock and the thread of the led work. Losing the lead
ends :meth:`LeaderElector.run`: the process is expected to exit, since a scheduler that lost the lead knows too much.

Three differences from client-go, all on the safe side: the led work ends before the lease is released, never after; a lease that another is seen to
hold is lost at once, not at the renew deadline; and at the end of a term in a coordinated election the lease is released as soon as the work has
ended, instead of being left to run out.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from scheduler.client.election import JITTER_FACTOR, Election, ElectionTimes, Verdict
from scheduler.client.errors import ClientError, NotFoundError, TransportError
from scheduler.client.leases import LeaseLock
from scheduler.client.times import micro_time
from scheduler.logkeys import keys

logger = logging.getLogger(__name__)

WATCHDOG_TOLERANCE = 20.0
"""Seconds that an expired lease is tolerated by the health check, as in kube-scheduler."""


def _nothing(*_: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class LeaderCallbacks:
    """What happens around leading.

    ``on_started_leading(stop)`` runs in a thread of its own and returns soon after ``stop`` is set: when the lead is lost
    or given up. ``on_stopped_leading`` is called at the end of every run, also of one that never led.
    ``on_new_leader(identity)``: somebody (we included) was seen to lead. ``on_status(leading)``: for
    ``leader_election_master_status``. ``on_lost()``: the lead was lost, others may act from now on: called before anything else, to
    keep what is under way from having an effect. ``on_slow_path()``: for ``leader_election_slowpath_total``. ``record_event(text)``:
    ``<identity> became leader`` and ``<identity> stopped leading``.
    """

    on_started_leading: Callable[[threading.Event], None]
    on_stopped_leading: Callable[[], None]
    on_new_leader: Callable[[str], None] = _nothing
    on_status: Callable[[bool], None] = _nothing
    on_lost: Callable[[], None] = _nothing
    on_slow_path: Callable[[], None] = _nothing
    record_event: Callable[[str], None] = _nothing


class LeaderElector:
    """A candidate. ``release_on_cancel``: give the lease back when asked to stop, as kube-scheduler does. ``coordinated``: the lease is
    given by a coordinator, never taken (``CoordinatedLeaderElection``; see :mod:`.candidate` for how to become a candidate).

    ``now``: monotonic seconds; ``wall``: aware wall clock, written into the record for people to read.
    """

    def __init__(
        self,
        lock: LeaseLock,
        identity: str,
        callbacks: LeaderCallbacks,
        *,
        times: ElectionTimes | None = None,
        release_on_cancel: bool = True,
        coordinated: bool = False,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        rng: random.Random | None = None,
    ) -> None:
        self._lock = lock
        self._callbacks = callbacks
        self._times = times or ElectionTimes()
        self._election = Election(identity, self._times, coordinated=coordinated)
        self._release_on_cancel = release_on_cancel
        self._now = now
        self._wall = wall
        self._rng = rng or random.Random()
        self._reported_leader = ""
        self._deadline = 0.0
        self._ends = False
        callbacks.on_status(False)

    @property
    def is_leader(self) -> bool:
        """Whether we lead, as far as we know."""
        return self._election.is_leader

    @property
    def leader(self) -> str:
        """The identity of the leader last seen; "" when none was."""
        return self._election.observed.holder_identity

    def check(self, tolerance: float = WATCHDOG_TOLERANCE) -> str | None:
        """The health check: None, or why we are ill: we think we lead but have not renewed for far too long."""
        if self._election.overdue(self._now(), tolerance):
            return f"failed election to renew leadership on lease {self._lock}"
        return None

    def run(self, stop: threading.Event) -> None:
        """Become the leader, lead until ``stop`` or until the lead is lost, and clean up. Blocks."""
        try:
            if not self._acquire(stop):
                return
            lost = threading.Event()
            work = threading.Thread(
                target=self._callbacks.on_started_leading, args=(lost,), name="leading", daemon=True
            )
            work.start()
            if self._renew(stop, work):
                lost.set()
                self._hand_over(work)
            else:
                self._callbacks.on_lost()
                lost.set()
        finally:
            self._callbacks.on_stopped_leading()

    def _acquire(self, stop: threading.Event) -> bool:
        logger.info("Attempting to acquire leader lease...", extra=keys(lock=self._lock))
        while not stop.is_set():
            if self._try_acquire_or_renew(self._now() + self._times.renew_deadline):
                self._callbacks.record_event(f"{self._election.identity} became leader")
                self._callbacks.on_status(True)
                logger.info("Successfully acquired lease", extra=keys(lock=self._lock))
                return True
            stop.wait(self._times.retry_period * (1 + self._rng.random() * JITTER_FACTOR))
        return False

    def _renew(self, stop: threading.Event, work: threading.Thread) -> bool:
        """Renew until told to stop, until the led work ends by itself, until the term is over, or until the renew deadline passed in vain.

        False in the last case: then the lead is lost; in the others it is still ours, to be handed over.
        """
        ours = True
        deadline = self._now() + self._times.renew_deadline
        while work.is_alive() and not stop.is_set():
            if self._try_acquire_or_renew(deadline):
                deadline = self._now() + self._times.retry_period + self._times.renew_deadline
            elif self._ends:
                logger.info("Lease is marked as 'end of term'", extra=keys(lock=self._lock))
                break
            elif self._now() >= deadline or not self.is_leader:
                logger.error("Failed to renew lease", extra=keys(lock=self._lock))
                ours = False
                break
            stop.wait(self._times.retry_period)
        self._callbacks.on_status(False)
        self._callbacks.record_event(f"{self._election.identity} stopped leading")
        return ours

    def _hand_over(self, work: threading.Thread) -> None:
        """Release the lease, but never before the led work has ended: two schedulers must not act at once."""
        work.join(self._times.renew_deadline)
        if work.is_alive():
            logger.warning(
                "The lease is left to expire, the work has not ended yet", extra=keys(lock=self._lock)
            )
        elif self._release_on_cancel:
            self._release()

    def _release(self) -> None:
        self._deadline = self._now() + self._times.renew_deadline
        try:
            self._observe_server()
            if not self._election.is_leader:
                return
            record = self._election.released_record(micro_time(self._wall()))
            self._lock.update(record, self._seconds_left())
            self._election.record_written(record, self._now())
            logger.info("Released the lease", extra=keys(lock=self._lock))
        except ClientError as error:
            logger.warning("Failed to release lease: %s", error, extra=keys(lock=self._lock))

    def _try_acquire_or_renew(self, deadline: float) -> bool:
        """One attempt that ends before ``deadline``, by when others may take over; True when we lead now."""
        self._deadline = deadline
        try:
            led = self._renew_fast() or self._acquire_or_renew_slow()
        except ClientError as error:
            logger.warning("Failed to update lease: %s", error, extra=keys(lock=self._lock))
            led = False
        self._report_leader()
        return led

    def _renew_fast(self) -> bool:
        if not self._election.may_renew_unread(self._now()):
            return False
        try:
            self._write(Verdict.RENEW)
        except ClientError as error:
            logger.debug(
                "Failed to update lease optimistically, falling back: %s", error, extra=keys(lock=self._lock)
            )
            return False
        return True

    def _acquire_or_renew_slow(self) -> bool:
        try:
            self._observe_server()
        except NotFoundError:
            if self._election.coordinated:
                return False
            self._write(Verdict.CREATE)
            return True
        verdict = self._election.decide(self._now())
        self._ends = verdict is Verdict.END
        if verdict in (Verdict.WAIT, Verdict.END):
            return False
        if verdict is Verdict.RENEW:
            self._callbacks.on_slow_path()
        self._write(verdict)
        return True

    def _observe_server(self) -> None:
        self._election.observe(self._lock.get(self._seconds_left()), self._now())

    def _seconds_left(self) -> float:
        """How long one request may take: a slow answer must not make us overstay our claim."""
        left = self._deadline - self._now()
        if left <= 0:
            raise TransportError("the renew deadline has passed", timed_out=True)
        return min(left, self._times.renew_deadline / 2)

    def _write(self, verdict: Verdict) -> None:
        record = self._election.next_record(verdict, micro_time(self._wall()))
        if verdict is Verdict.CREATE:
            self._lock.create(record, self._seconds_left())
        else:
            self._lock.update(record, self._seconds_left())
        self._election.record_written(record, self._now())

    def _report_leader(self) -> None:
        leader = self.leader
        if leader != self._reported_leader:
            self._reported_leader = leader
            self._callbacks.on_new_leader(leader)
