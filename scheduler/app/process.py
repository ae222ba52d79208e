"""Process: a scheduler that is set up, from its first log line to its exit code.

::

    log the version ─> events ─> serve (health, metrics, extender) ─> informers ─> wait for sync ─> elect ─> schedule
                                                                                                       │
    stop: signal ── release the lease, let bindings end, flush events, drain requests <────────────────┘

Serving comes before the election, so that replicas that wait for the lease answer health checks and the webhook all the same.
The process never ends because the API server is away: informers and election keep trying, and readiness says so meanwhile.

Exit codes are kube-scheduler's: 0 after a signal, 1 when the lease was lost. 1 too when the scheduling loop died of a bug: a process
that only looks alive is worse than one that is started again.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from scheduler.app import memory
from scheduler.client.events import EventBroadcaster
from scheduler.client.informers import InformerSet
from scheduler.client.leaderelection import LeaderElector
from scheduler.logkeys import keys
from scheduler.scheduling.scheduler import Scheduler

logger = logging.getLogger(__name__)

_SYNC_POLL_SECONDS = 0.2
_FAREWELL_SECONDS = 5.0
_LAST_WORDS_SECONDS = 1.0
_ENDLESS_SECONDS = 1.0
_PATIENCE_SECONDS = 3.0
"""How long requests that the API server does not answer may delay the end."""


class Serves(Protocol):
    """The HTTP side: ``serving.http.Server``, or nothing when gunicorn serves."""

    def start(self) -> None:
        """Listen and serve."""
        ...

    def stop(self) -> None:
        """Drain and close."""
        ...


class Process:
    """The running parts, in the order of their start.

    Args:
        elector: builds the candidate around the function that leads; None when leader election is off.
        delay_cache: a replica that waits for the lease does not watch the cluster (``delayCacheUntilActive``): it costs the API server
            nothing, takes over later, and its webhook knows no node until then.
    """

    def __init__(
        self,
        version: str,
        scheduler: Scheduler,
        informers: InformerSet,
        events: EventBroadcaster,
        elector: Callable[[Callable[[threading.Event], None]], LeaderElector] | None,
        *,
        delay_cache: bool = False,
    ) -> None:
        self._version = version
        self._scheduler = scheduler
        self._informers = informers
        self._events = events
        self._server: Serves | None = None
        self._companions: list[Serves] = []
        self._elector = elector(self._lead) if elector else None
        self._delay_cache = delay_cache and elector is not None
        self._stop = threading.Event()
        self._leads = threading.Event()
        self._died = False
        self._loop = threading.Thread(target=self._keep_scheduling, name="scheduling", daemon=True)

    def serve_with(self, server: Serves) -> None:
        """Start and stop this server with the process; without one, somebody else serves."""
        self._server = server

    def run_beside(self, companion: Serves) -> None:
        """Start and stop this thread with the process too."""
        self._companions.append(companion)

    # What health checks ask

    def unsynced(self) -> str | None:
        """Why the caches are not ready; None when they are."""
        waiting = self._informers.unsynced()
        return f"not synced yet: {', '.join(waiting)}" if waiting else None

    def shutting_down(self) -> str | None:
        """That the process is about to end; None while it is not."""
        return "process is shutting down" if self._stop.is_set() else None

    def election(self) -> str | None:
        """Why the election is ill; None when it is well, or off."""
        return self._elector.check() if self._elector else None

    def leading(self) -> bool:
        """Whether this process schedules."""
        return self._leads.is_set()

    @property
    def stopping(self) -> threading.Event:
        """Set once the process is about to end."""
        return self._stop

    # Running

    def request_stop(self) -> None:
        """Have ``run`` end. Any thread may call it, but no signal handler: it takes a lock that ``run`` may be holding."""
        self._stop.set()

    def run(self) -> int:
        """Run until told to stop, or until the lease is lost; the exit code is returned.

        Raises:
            scheduler.serving.http.ListenError: the serving port is taken.
        """
        logger.info("Starting Kubernetes Scheduler", extra=keys(version=self._version))
        self._events.start()
        try:
            if self._server is not None:
                self._server.start()
            self._loop.start()
            for companion in self._companions:
                companion.start()
            if self._delay_cache or self._fill_cache(self._stop):
                self._schedule()
        finally:
            self._shut_down()
        return 0 if self._stop.is_set() and not self._died else 1

    def _keep_scheduling(self) -> None:
        try:
            self._scheduler.run()
        except BaseException:
            logger.critical("a bug ended the scheduling loop; the process ends", exc_info=True)
            self._died = True
            self._stop.set()

    def _fill_cache(self, stop: threading.Event) -> bool:
        """Start watching and wait until all is known; False when told to stop before that."""
        self._informers.start()
        while not stop.is_set():
            if self._informers.wait_for_sync(_SYNC_POLL_SECONDS):
                memory.settle()
                return True
        return False

    def _schedule(self) -> None:
        if self._elector is None:
            self._lead(self._stop)
            return
        self._elector.run(self._stop)
        if not self._stop.is_set():
            logger.error("Leaderelection lost")

    def _lead(self, lost: threading.Event) -> None:
        self._leads.set()
        if self._delay_cache and not self._fill_cache(lost):
            return
        self._scheduler.lead()
        # In pieces: a signal that comes just as an endless wait begins would be handled when that ends, which is never.
        while not lost.wait(_ENDLESS_SECONDS):
            continue
        # A leader keeps the lease until its last binding has ended; the elector sees to it that this takes no longer than others wait.
        self._scheduler.retire(None if self._elector else _PATIENCE_SECONDS)
        self._leads.clear()

    def _shut_down(self) -> None:
        for companion in self._companions:
            companion.stop()
        self._scheduler.close()
        self._informers.stop(_PATIENCE_SECONDS)
        if self._loop.is_alive():
            self._loop.join(_PATIENCE_SECONDS)
        # Who has lost the lease is expected to be gone; its last events are worth a moment, and not for a server that is silent.
        self._events.stop(_FAREWELL_SECONDS if self._stop.is_set() else _LAST_WORDS_SECONDS)
        if self._server is not None:
            self._server.stop()
