"""Which request keeps a copy of the cluster current: the decisions of client-go's Reflector, without its sockets.

::

             list complete                 stream ended: watch again from the last resourceVersion
      ┌────────────────────────▶ WATCH ◀─┐ (at once; after a back-off when it could not be opened,
      │                            │  └──┘  or the server asked for a pause)
    LIST ◀─────────────────────────┘
     ▲ │  410 Gone, a malformed event, a stream that ends at once: list again, after a back-off
     └─┘
    any failure: list again after a back-off

Nothing is missed across a gap, because a list replaces the whole store and its difference to the old store is told as
adds, updates and deletes (:mod:`.store`), and because a watch continues exactly where the last event stood.

resourceVersion of a list, as upstream (``relistResourceVersion``): "0" (any version, from the server's cache) the first
time; then the last one seen (at least as fresh); "" (a consistent read) when the server said that it no longer, or not
yet, knows that version. Pages are asked for with "0" and "", else only if the server paged the first list, since a
limit with a set version would turn the server's cache off.
"""

import random
from dataclasses import dataclass

from scheduler.client.backoff import Backoff
from scheduler.client.errors import (
    ApiError,
    ClientError,
    GoneError,
    ServerError,
    TooManyRequestsError,
    TransportError,
)
from scheduler.client.errors import resource_version_too_large as too_large

MIN_WATCH_SECONDS = 300
MAX_WATCH_SECONDS = 600
SHORT_WATCH_SECONDS = 1.0
"""A watch without events that ends sooner counts as failed (upstream ``VeryShortWatchError``)."""


@dataclass(frozen=True, slots=True)
class ListRequest:
    """Ask for a page with this query."""

    query: dict[str, str]


@dataclass(frozen=True, slots=True)
class WatchRequest:
    """Open a watch with this query; the server ends it by itself after ``seconds``."""

    query: dict[str, str]
    seconds: int


class Reflector:
    """Decides the next request from what became of the last one. Owned by one thread.

    ``page_size`` 0 asks for whole lists. ``selectors``: the ``fieldSelector`` and ``labelSelector`` of every request.
    """

    def __init__(
        self, *, page_size: int, selectors: dict[str, str], backoff: Backoff, rng: random.Random
    ) -> None:
        self._page_size = page_size
        self._selectors = selectors
        self._backoff = backoff
        self._rng = rng
        self._watching = False
        self._version = ""
        self._version_unavailable = False
        self._server_pages = False
        self._continue = ""
        self._whole_list = False

    @property
    def resource_version(self) -> str:
        """The version up to which everything has been seen; "" before the first list."""
        return self._version

    def next_request(self) -> ListRequest | WatchRequest:
        """What to send now."""
        if self._watching:
            seconds = self._rng.randint(MIN_WATCH_SECONDS, MAX_WATCH_SECONDS)
            query = {
                "watch": "true",
                "allowWatchBookmarks": "true",
                "resourceVersion": self._version,
                "timeoutSeconds": str(seconds),
            }
            return WatchRequest(self._selectors | query, seconds)
        return ListRequest(self._selectors | self._list_query())

    def _list_query(self) -> dict[str, str]:
        if self._continue:
            return {"limit": str(self._page_size), "continue": self._continue}
        version = self._list_version()
        query = {"resourceVersion": version} if version else {}
        paged = version in ("", "0") or self._server_pages
        if self._page_size and paged and not self._whole_list:
            query["limit"] = str(self._page_size)
        return query

    def _list_version(self) -> str:
        if self._version_unavailable:
            return ""
        return self._version or "0"

    def page_received(self, resource_version: str, continue_: str) -> bool:
        """A page came. True when the list is complete and watching begins from its version."""
        if continue_ and self._list_version() == "0":
            self._server_pages = True
        self._continue = continue_
        if continue_:
            return False
        self._version = resource_version
        self._version_unavailable = False
        self._whole_list = False
        self._watching = True
        return True

    def list_failed(self, error: ClientError) -> float:
        """A page could not be had: drop the pages so far and list anew after the returned seconds."""
        within_pages = bool(self._continue)
        self._continue = ""
        if isinstance(error, GoneError) and within_pages:
            self._whole_list = True
            return 0.0
        if (isinstance(error, GoneError) or too_large(error)) and not self._version_unavailable:
            self._version_unavailable = True
            return 0.0
        self._whole_list = False
        return self._pause(error)

    def event_seen(self, resource_version: str) -> None:
        """An event or bookmark was taken over: a new watch starts after it."""
        if resource_version:
            self._version = resource_version

    def watch_ended(self, error: ClientError | None, *, events: int, lasted: float) -> float:
        """The watch could not be opened, or ended (``error`` None: regularly). The seconds to wait before going on."""
        if error is None or (isinstance(error, TransportError) and events):
            if events or lasted >= SHORT_WATCH_SECONDS:
                return 0.0
            self._watching = False
            return self._backoff.delay()
        if isinstance(error, TransportError) and not error.refused and lasted >= SHORT_WATCH_SECONDS:
            return 0.0
        retriable = isinstance(error, TransportError | TooManyRequestsError | ServerError)
        self._watching = retriable and not too_large(error)
        return self._pause(error)

    def _pause(self, error: ClientError) -> float:
        """The back-off, or what the server asks for if that is longer."""
        asked = error.retry_after if isinstance(error, ApiError) else None
        return max(self._backoff.delay(), asked or 0.0)
