"""Electing: how a process takes part in the election that its configuration asks for, and who else might be scheduling.

::

    leaderElect ──> elector ─────────────────────> leads, or waits
        │ CoordinatedLeaderElection ──> candidacy ──> the coordinator gives the lease
    at start ──> neighbour: does another program keep kube-scheduler's lease? Then one line says what that means
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from scheduler.apis import duration
from scheduler.apis.config.types import DEFAULT_SCHEDULER_NAME
from scheduler.app.config import Config
from scheduler.client.candidate import Candidacy, Standing
from scheduler.client.election import ElectionTimes
from scheduler.client.errors import ClientError
from scheduler.client.events import EventBroadcaster
from scheduler.client.leaderelection import LeaderCallbacks, LeaderElector
from scheduler.client.leases import LeaderRecord, LeaseLock

logger = logging.getLogger(__name__)

MakeElector = Callable[[Callable[[threading.Event], None]], LeaderElector]
"""(what leads, until the event is set) -> the elector"""

_THEIRS: Final = ("kube-system", "kube-scheduler")
_ASK_SECONDS = 5.0


def is_coordinated(config: Config) -> bool:
    """Whether the API server's coordinator hands out the lease."""
    elected = config.component.leader_election.leader_elect
    return elected and config.options.features.enabled("CoordinatedLeaderElection")


def make_elector(config: Config, broadcaster: EventBroadcaster) -> MakeElector | None:
    """How to make an elector, once it is known what leading means; None when there is no election."""
    election = config.component.leader_election
    if not election.leader_elect:
        return None
    lock = LeaseLock(config.clients.leases, election.resource_namespace, election.resource_name)
    times = ElectionTimes(
        election.lease_duration / duration.SECOND,
        election.renew_deadline / duration.SECOND,
        election.retry_period / duration.SECOND,
    )
    recorder = broadcaster.recorder(config.component.profiles[0].scheduler_name)

    def make(lead: Callable[[threading.Event], None]) -> LeaderElector:
        callbacks = LeaderCallbacks(
            on_started_leading=lead,
            on_stopped_leading=lambda: None,
            on_status=lambda leading: config.metrics.leading(election.resource_name, is_leader=leading),
            on_lost=config.clients.scheduling.close,  # nothing is bound from here on
            on_slow_path=lambda: config.metrics.slow_renewal(election.resource_name),
            record_event=lambda text: recorder.eventf(
                lock.reference(), "Normal", "LeaderElection", "LeaderElection", text
            ),
        )
        return LeaderElector(
            lock, config.identity, callbacks, times=times, coordinated=is_coordinated(config)
        )

    return make


def make_candidacy(config: Config) -> Candidacy | None:
    """What stands for a coordinated election; None when there is none."""
    if not is_coordinated(config):
        return None
    election = config.component.leader_election
    standing = Standing(
        election.resource_namespace,
        election.resource_name,
        config.identity,
        binary_version=config.version.removeprefix("v").split("-")[0].split("+")[0],
        emulation_version=f"{config.options.features.version}.0",
    )
    return Candidacy(config.clients.leases, standing, wall=config.clocks.wall)


class Neighbour:
    """Looks once, at start, whether a program that is not this one keeps kube-scheduler's lease, and says what follows from it.

    Only where anything does: when that lease is ours too, or when we place the default scheduler's pods without it.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._lock = LeaseLock(config.clients.leases, *_THEIRS)
        self._thread = threading.Thread(target=self._look, name="neighbour", daemon=True)

    def start(self) -> None:
        """Look, without holding up anything."""
        election = self._config.component.leader_election
        names = {profile.scheduler_name for profile in self._config.component.profiles}
        if self._shares_the_lease() or DEFAULT_SCHEDULER_NAME in names:
            logger.debug("looking for others that hold %s, with the election %s", self._lock, election)
            self._thread.start()

    def stop(self) -> None:
        """Nothing to end: the question has a time limit."""

    def _shares_the_lease(self) -> bool:
        election = self._config.component.leader_election
        place = (election.resource_namespace, election.resource_name)
        return election.leader_elect and place == _THEIRS

    def _look(self) -> None:
        try:
            record = self._lock.get(_ASK_SECONDS)
        except ClientError as error:
            logger.debug("%s cannot be looked at: %s", self._lock, error)
            return
        if self._lock.held_by_our_kind or not _stands(record, self._config.clocks.wall()):
            return
        if self._shares_the_lease():
            logger.warning(
                "%s is held by %s, which is not Wharfinger: nothing is scheduled here until it lets go. To run beside it, give this process a "
                "lease and profiles of its own (leaderElection.resourceName, profiles[].schedulerName)",
                self._lock,
                record.holder_identity,
            )
        else:
            logger.warning(
                "%s is held by %s, which is not Wharfinger: both place the pods of %s. Take part in its election "
                "(leaderElection.resourceName: %s), or give the profile another schedulerName",
                self._lock,
                record.holder_identity,
                DEFAULT_SCHEDULER_NAME,
                _THEIRS[1],
            )


def _stands(record: LeaderRecord, now: datetime) -> bool:
    """Whether somebody holds the lease and seems to be alive; clocks of machines may differ a little, and this is but a warning."""
    if not record.holder_identity or not record.renew_time:
        return False
    try:
        renewed = datetime.fromisoformat(record.renew_time)
    except ValueError:
        return False
    if renewed.tzinfo is None:
        renewed = renewed.replace(tzinfo=UTC)
    return renewed + timedelta(seconds=record.lease_duration_seconds) > now
