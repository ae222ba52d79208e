"""Informers: a thread per kind that keeps a copy of the cluster's objects and tells handlers what changed.

The thread carries out what :class:`.reflector.Reflector` decides and feeds :class:`.store.Store`. It ends only when told
to: a server that is down, answers nonsense or cuts connections is tried again for ever, with one line in the log when
the trouble starts and one when it is over.
"""

import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

import msgspec

from scheduler.client.backoff import Backoff
from scheduler.client.errors import ClientError, GoneError, MalformedAnswerError, api_error
from scheduler.client.reflector import ListRequest, Reflector, WatchRequest
from scheduler.client.resources import Resource
from scheduler.client.rest import Rest
from scheduler.client.store import Handler, Object, Store, key_of
from scheduler.client.transport import Body
from scheduler.client.watch import WatchStream
from scheduler.client.wire import identify, parse_event, parse_page

logger = logging.getLogger(__name__)

PAGE_SIZE = 500
"""Objects per page, client-go's default."""
WATCH_GRACE_SECONDS = 15.0
"""How much longer than its own time limit a watch may stay silent."""

_JOIN_POLL_SECONDS = 0.1

T = TypeVar("T", bound=Object)


class Informer(Generic[T]):
    """A live copy of the objects of one resource.

    ``decode`` turns the bytes of one object into ``T`` and raises ValueError when they are of the wrong shape; it must
    not keep views of the bytes. Selectors are query-string text. Handlers are added before :meth:`start`.
    """

    def __init__(
        self,
        rest: Rest,
        resource: Resource,
        decode: Callable[[msgspec.Raw], T],
        *,
        field_selector: str = "",
        label_selector: str = "",
        namespace: str = "",
        page_size: int = PAGE_SIZE,
        backoff: Backoff | None = None,
        now: Callable[[], float] = time.monotonic,
        rng: random.Random | None = None,
    ) -> None:
        rng = rng or random.Random()
        selectors = {"fieldSelector": field_selector, "labelSelector": label_selector}
        self._rest = rest
        self._decode = decode
        self._path = resource.collection(namespace)
        self._now = now
        self._reflector = Reflector(
            page_size=page_size,
            selectors={name: text for name, text in selectors.items() if text},
            backoff=backoff or Backoff(now=now, rng=rng),
            rng=rng,
        )
        self.name = resource.name
        self.store: Store[T] = Store(self._notify)
        self._handlers: list[Handler[T]] = []
        self._listed: dict[str, T] = {}
        self._synced = threading.Event()
        self._stopping = threading.Event()
        self._in_flight: WatchStream | Body | None = None
        self._in_trouble = False
        self._thread: threading.Thread | None = None

    @property
    def has_synced(self) -> bool:
        """Whether the first list is complete and all its objects were told to the handlers."""
        return self._synced.is_set()

    @property
    def is_stopped(self) -> bool:
        """Whether the thread has ended."""
        return self._thread is not None and not self._thread.is_alive()

    @property
    def resource_version(self) -> str:
        """The version up to which the copy is known to be complete; "" before the first list."""
        return self._reflector.resource_version

    def wait_for_sync(self, timeout: float | None = None) -> bool:
        """Wait until :attr:`has_synced`; False when that takes longer than ``timeout`` seconds."""
        return self._synced.wait(timeout)

    def add_handler(self, handler: Handler[T]) -> None:
        """Tell ``handler`` everything from the first object on. Raises RuntimeError after :meth:`start`."""
        if self._thread is not None:
            raise RuntimeError(f"{self.name}: handlers must be added before the informer starts")
        self._handlers.append(handler)

    def start(self) -> None:
        """Start the thread; at most once."""
        if self._thread is not None:
            raise RuntimeError(f"{self.name}: the informer was started before")
        self._thread = threading.Thread(target=self._run, name=f"informer-{self.name}", daemon=True)
        self._thread.start()

    def request_stop(self) -> None:
        """Tell the thread to end, and cut what it is reading."""
        self._stopping.set()
        in_flight = self._in_flight
        if in_flight is not None:
            in_flight.close()

    def stop(self, timeout: float = 5.0) -> None:
        """End the thread: no handler is called after this returns, unless the thread needs longer than ``timeout``."""
        self.request_stop()
        if self._thread is not None:
            self._thread.join(timeout)

    def _run(self) -> None:
        while not self._stopping.is_set():
            request = self._reflector.next_request()
            delay = self._list(request) if isinstance(request, ListRequest) else self._watch(request)
            if delay > 0:
                self._stopping.wait(delay)

    # Listing

    def _list(self, request: ListRequest) -> float:
        """Fetch one page; the seconds to pause."""
        try:
            page = parse_page(self._fetch(request.query))
        except ClientError as error:
            self._listed = {}
            self._report("list", error)
            return 0.0 if self._stopping.is_set() else self._reflector.list_failed(error)
        if self._stopping.is_set():
            return 0.0
        if "continue" not in request.query:
            self._listed = {}
        for raw in page.items:
            obj = self._decoded(raw)
            if obj is not None:
                self._listed[key_of(obj)] = obj
        if self._reflector.page_received(page.resource_version, page.continue_):
            self._take_over_list()
        return 0.0

    def _fetch(self, query: dict[str, str]) -> bytes:
        body = self._rest.open(self._path, query=query)
        self._hold(body)
        try:
            return body.read()
        finally:
            self._in_flight = None

    def _take_over_list(self) -> None:
        listed, self._listed = self._listed, {}
        self._report("list", None)
        self.store.replace(listed, initial=not self._synced.is_set())
        self._synced.set()

    # Watching

    def _watch(self, request: WatchRequest) -> float:
        """Follow one watch to its end; the seconds to pause."""
        started = self._now()
        events = 0
        error: ClientError | None = None
        try:
            with self._open_watch(request) as stream:
                for line in stream:
                    if self._stopping.is_set():
                        break
                    if line:
                        self._apply(line)
                        events += 1
        except ClientError as caught:
            error = caught
        finally:
            self._in_flight = None
        if self._stopping.is_set():
            return 0.0
        delay = self._reflector.watch_ended(error, events=events, lasted=self._now() - started)
        if isinstance(error, GoneError):
            logger.info("%s: the watch fell behind, listing again: %s", self.name, error)
        elif delay > 0 and error is not None:
            self._report("watch", error)
        return delay

    def _open_watch(self, request: WatchRequest) -> WatchStream:
        silence = request.seconds + WATCH_GRACE_SECONDS
        stream = self._rest.watch(self._path, query=request.query, timeout=silence)
        self._hold(stream)
        self._report("watch", None)
        return stream

    def _apply(self, line: bytes) -> None:
        """Take over one event. Raises the error that an ERROR event carries."""
        event = parse_event(line)
        if event.type == "ERROR":
            raise api_error(0, event.object)
        identity = identify(event.object)
        if event.type == "DELETED":
            self.store.remove(identity.key, self._decoded(event.object))
        elif event.type in ("ADDED", "MODIFIED"):
            obj = self._decoded(event.object)
            if obj is None:
                self.store.remove(identity.key)
            else:
                self.store.put(obj)
        elif event.type != "BOOKMARK":
            logger.warning("%s: unknown watch event %.40r ignored", self.name, event.type)
        self._reflector.event_seen(identity.resource_version)

    # Shared

    def _hold(self, answer: WatchStream | Body) -> None:
        """Let :meth:`stop` reach what is being read, even if it came just before."""
        self._in_flight = answer
        if self._stopping.is_set():
            answer.close()

    def _decoded(self, raw: msgspec.Raw) -> T | None:
        """The object, or None after a line in the log that names it: one bad object must not hide all others."""
        try:
            return self._decode(raw)
        except ValueError as error:
            try:
                key = identify(raw).key
            except MalformedAnswerError:
                key = "an object without a name"
            logger.warning(
                "%s: %s is skipped, it does not decode: %s", self.name, key or "an unnamed object", error
            )
            return None

    def _report(self, verb: str, error: ClientError | None) -> None:
        """One line when trouble starts, one when it ends."""
        if error is None:
            if self._in_trouble:
                logger.info("%s: in touch with %s again", self.name, self._rest.host)
            self._in_trouble = False
        elif not self._in_trouble and not self._stopping.is_set():
            self._in_trouble = True
            logger.warning("%s: cannot %s: %s; trying again", self.name, verb, error)

    def _notify(self, tell: Callable[[Handler[T]], None]) -> None:
        for handler in self._handlers:
            try:
                tell(handler)
            except Exception as error:
                # A handler's bug must not stop the copy: all others still need it.
                name = type(handler).__name__
                logger.error("%s: a bug in %s: %s: %s", self.name, name, type(error).__name__, error)
                logger.debug("%s: a bug in %s", self.name, name, exc_info=True)


class InformerSet:
    """Several informers, started, awaited and stopped together. Others may ``join`` them later."""

    def __init__(self, informers: Sequence[Informer[Any]] = ()) -> None:
        self._informers: list[Informer[Any]] = list(informers)
        self._lock = threading.Lock()
        self._started = False

    def add(self, informer: Informer[T]) -> Informer[T]:
        """Take one more; returned for chaining."""
        self._informers.append(informer)
        return informer

    def start(self) -> None:
        """Start all."""
        with self._lock:
            self._started = True
            for informer in self._informers:
                informer.start()

    def join(self, newcomers: Sequence[Informer[Any]], give_up: Callable[[], bool]) -> list[str]:
        """Take more. When the set has been started they are started too, and belong to it once they have synced.

        Returns:
            The names of those that had not synced when ``give_up``, which is asked now and then, said so: then all are stopped, and none
            is taken.
        """
        with self._lock:
            if not self._started:
                self._informers += newcomers
                return []
        late = InformerSet(newcomers)
        late.start()
        while not late.wait_for_sync(_JOIN_POLL_SECONDS):
            if give_up():
                waiting = late.unsynced()
                late.stop()
                return waiting
        with self._lock:
            self._informers += newcomers
        return []

    def wait_for_sync(self, timeout: float | None = None) -> bool:
        """Wait until all have synced; False when that takes longer than ``timeout`` seconds in all."""
        deadline = None if timeout is None else time.monotonic() + timeout
        for informer in self._informers:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not informer.wait_for_sync(left):
                return False
        return True

    def unsynced(self) -> list[str]:
        """The names of those that have not synced yet: what a readiness check tells."""
        return [informer.name for informer in self._informers if not informer.has_synced]

    def stop(self, timeout: float = 5.0) -> None:
        """Stop all; blocks until their threads have ended, or ``timeout`` seconds in all: one may wait for a server that is silent."""
        for informer in self._informers:
            informer.request_stop()
        deadline = time.monotonic() + timeout
        for informer in self._informers:
            informer.stop(max(0.0, deadline - time.monotonic()))
