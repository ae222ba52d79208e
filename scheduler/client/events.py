"""The event recorder: what the scheduler tells users about their pods, as events.k8s.io/v1 Events.

Recording only puts the event into a bounded queue, so a slow or absent server never holds up scheduling; when the queue
is full the event is dropped and counted. One thread aggregates (:mod:`.series`) and sends. An event that the network
ate is tried again after about ten seconds, up to twelve times; one that the server refused is not.
"""

import heapq
import itertools
import logging
import queue
import random
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from scheduler.client.errors import ApiError, ClientError, ConflictError, NotFoundError, ServerError
from scheduler.client.event_objects import INSTANCE_LIMIT, event_name, event_object, series_object, shorten
from scheduler.client.references import ObjectReference
from scheduler.client.resources import EVENTS
from scheduler.client.rest import STRATEGIC_MERGE_PATCH, Rest
from scheduler.client.series import Event, Sending, SeriesCache

logger = logging.getLogger(__name__)

QUEUE_LIMIT = 1000
"""Events waiting to be sent at most, as in client-go (``maxQueuedEvents``)."""
MAX_TRIES = 12
RETRY_SECONDS = 10.0
RETRY_JITTER = 0.25
"""A pause before another try is stretched by up to so much of itself."""
TEND_SECONDS = 60.0
"""How often at least the running series are looked after."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class EventRecorder:
    """Records events in the name of one controller (a profile's ``schedulerName``). Thread-safe."""

    def __init__(self, broadcaster: "EventBroadcaster", controller: str, hostname: str) -> None:
        self._broadcaster = broadcaster
        self._controller = controller
        self._instance = f"{controller}-{hostname}"[:INSTANCE_LIMIT]

    def eventf(
        self,
        regarding: ObjectReference,
        type: str,  # noqa: A002 - the API's word
        reason: str,
        action: str,
        note: str,
        *,
        related: ObjectReference | None = None,
    ) -> None:
        """Record an event; never blocks. ``type``: ``Normal`` or ``Warning``. A long note is cut to what the API takes."""
        moment = self._broadcaster.wall()
        event = Event(
            name=event_name(regarding.name, self._broadcaster.unique_nanoseconds(moment)),
            namespace=regarding.namespace or "default",
            time=moment,
            type=type,
            reason=reason,
            action=action,
            note=shorten(note),
            controller=self._controller,
            instance=self._instance,
            regarding=regarding,
            related=related,
        )
        self._broadcaster.offer(event)


class EventBroadcaster:
    """The queue and the thread behind all recorders.

    ``wall``: aware wall clock; ``now``: monotonic seconds; ``retry_seconds``: the pause before a lost event is sent again.
    """

    def __init__(
        self,
        rest: Rest,
        *,
        now: Callable[[], float] = time.monotonic,
        wall: Callable[[], datetime] = lambda: datetime.now(UTC),
        rng: random.Random | None = None,
        queue_limit: int = QUEUE_LIMIT,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self.wall = wall
        self._rest = rest
        self._now = now
        self._rng = rng or random.Random()
        self._retry_seconds = retry_seconds
        self._queue: queue.Queue[Event | None] = queue.Queue(queue_limit)
        self._cache = SeriesCache()
        self._retries: list[tuple[float, int, int, Sending]] = []
        self._order = itertools.count()
        self._dropped = 0
        self._unsettled = 0
        self._last_nanoseconds = 0
        self._settled = threading.Condition()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def dropped(self) -> int:
        """Events that found the queue full, or that could not be sent."""
        return self._dropped

    def recorder(self, controller: str, *, hostname: str | None = None) -> EventRecorder:
        """A recorder for one controller on this host."""
        return EventRecorder(self, controller, hostname or socket.gethostname())

    def start(self) -> None:
        """Start sending; what was recorded before is sent now."""
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self._thread.start()

    def flush(self, timeout: float) -> bool:
        """Wait until every event recorded so far was sent, merged or given up; False when that takes too long."""
        with self._settled:
            return self._settled.wait_for(lambda: self._unsettled == 0, timeout)

    def stop(self, timeout: float = 5.0) -> None:
        """Send what is queued, for at most ``timeout`` seconds, and end the thread."""
        self._stopping.set()
        try:
            self._queue.put_nowait(None)
        except queue.Full:
            logger.debug("the event queue is full; the sender stops after it")
        if self._thread is not None:
            self._thread.join(timeout)

    def offer(self, event: Event) -> None:
        """Queue an event, or drop it when the queue is full."""
        with self._settled:
            self._unsettled += 1
        try:
            self._queue.put_nowait(event)
        except queue.Full:
            self._drop("the queue is full")

    def unique_nanoseconds(self, moment: datetime) -> int:
        """Nanoseconds since 1970, moved on a little where two events would get the same and hence the same name."""
        nanoseconds = (moment - _EPOCH) // timedelta(microseconds=1) * 1000
        with self._settled:
            self._last_nanoseconds = max(nanoseconds, self._last_nanoseconds + 1)
            return self._last_nanoseconds

    def _run(self) -> None:
        while True:
            try:
                event = self._queue.get(timeout=self._pause())
            except queue.Empty:
                event = None
            if event is not None:
                self._take_in(event)
            elif self._stopping.is_set():
                return
            if not self._stopping.is_set():
                self._send_due()

    def _pause(self) -> float:
        """How long to wait for the next event before something else is due."""
        if self._stopping.is_set():
            return 0.001
        if not self._retries:
            return TEND_SECONDS
        return min(TEND_SECONDS, max(0.001, self._retries[0][0] - self._now()))

    def _take_in(self, event: Event) -> None:
        sending = self._cache.record(event)
        if sending is None:
            self._settle()
        else:
            self._send(sending, tries=1)

    def _send_due(self) -> None:
        while self._retries and self._retries[0][0] <= self._now():
            _, _, tries, sending = heapq.heappop(self._retries)
            self._send(sending, tries)
        for sending in self._cache.tend(self.wall()):
            with self._settled:
                self._unsettled += 1
            self._send(sending, tries=1)

    def _send(self, sending: Sending, tries: int) -> None:
        try:
            self._put(sending)
        except ClientError as error:
            if _is_there_already(error, sending, tries):
                self._settle()
            elif not _may_retry(error, sending):
                logger.warning("the server rejected an event (will not retry): %s", error)
                self._settle(dropped=True)
            elif tries >= MAX_TRIES or len(self._retries) >= QUEUE_LIMIT:
                self._drop(str(error))
            else:
                delay = self._retry_seconds * (1 + self._rng.random() * RETRY_JITTER)
                heapq.heappush(self._retries, (self._now() + delay, next(self._order), tries + 1, sending))
        else:
            self._settle()

    def _put(self, sending: Sending) -> None:
        event = sending.event
        if sending.count > 1:
            path = EVENTS.object(event.namespace, event.name)
            patch = {"series": series_object(sending)}
            try:
                self._rest.request("PATCH", path, body=patch, content_type=STRATEGIC_MERGE_PATCH)
            except NotFoundError:
                logger.debug("event %s is gone; creating it again", event.name)
            else:
                return
        self._rest.request("POST", EVENTS.collection(event.namespace), body=event_object(sending))

    def _drop(self, why: str) -> None:
        if self._dropped == 0:
            logger.warning("an event is dropped: %s (told once)", why)
        self._settle(dropped=True)

    def _settle(self, *, dropped: bool = False) -> None:
        with self._settled:
            self._dropped += dropped
            self._unsettled -= 1
            self._settled.notify_all()


def _is_there_already(error: ClientError, sending: Sending, tries: int) -> bool:
    """An earlier try arrived although its answer was lost, or the event's series was faster and created it."""
    return isinstance(error, ConflictError) and sending.count == 1 and tries > 1


def _may_retry(error: ClientError, sending: Sending) -> bool:
    """The network's failures are worth another try, the server's refusals are not.

    A series whose event was created by somebody in between (409) is, as in client-go.
    """
    if isinstance(error, ConflictError):
        return sending.count > 1
    return isinstance(error, ServerError) or not isinstance(error, ApiError)
