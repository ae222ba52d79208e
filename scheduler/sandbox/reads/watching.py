"""Opening watches, and the set of those that are open."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from scheduler.apis.fielderror import forbidden
from scheduler.sandbox import errors
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.reads.fields import Wanted
from scheduler.sandbox.reads.reading import version_number
from scheduler.sandbox.reads.views import View
from scheduler.sandbox.reads.watch import Watch
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.store import ExpiredError
from scheduler.sandbox.wire.http import Request, Stream

_DEFAULT_TIMEOUT = (1800.0, 3600.0)
Wake = Callable[[Callable[[], None]], None]


class Watches:
    """The open watches of a server. `wake` runs a call soon in the server's thread, from any thread."""

    def __init__(self, cluster: Cluster, wake: Wake) -> None:
        self._cluster = cluster
        self._wake = wake
        self._open: set[Watch] = set()

    def __len__(self) -> int:
        return len(self._open)

    def open(self, request: Request, resource: Resource, wanted: Wanted, view: View) -> Stream:
        """Answer a watch request; the caller holds the store's lock.

        Raises `StatusError` for what cannot be watched; a version that is gone becomes an ERROR event.
        """
        query = request.query
        version = version_number(query.get("resourceVersion", ""))
        streamed = _streams_list(request)
        if version > self._cluster.store.version:
            # A real server would be silent until then. This one forgets everything when it restarts, and clients should notice.
            raise errors.future_version(version, self._cluster.store.version)
        timeout = _timeout(query.get("timeoutSeconds", ""), self._cluster.rng)
        bookmarks = request.asks("allowWatchBookmarks")
        stream = Stream()
        watch = Watch(
            request.path, resource.key, wanted, view, bookmarks, self._cluster.store, self._wake, stream
        )
        self._begin(watch, version, streamed=streamed, timeout=timeout)
        return stream

    def _begin(self, watch: Watch, version: int, *, streamed: bool, timeout: float) -> None:
        self._open.add(watch)
        watch.stream.on_close = lambda: self._closed(watch)
        try:
            first = self._first(watch, version, streamed=streamed)
        except ExpiredError as error:
            watch.fail(errors.expired(str(error)).body())
            return
        watch.begin(first)
        watch.cancel_timeout = self._cluster.later(timeout, watch.end)

    def _first(self, watch: Watch, version: int, *, streamed: bool) -> list[bytes]:
        store = self._cluster.store
        if version and not streamed:
            rendered = [watch.render(event) for event in store.events_since(watch.resource_key, version)]
            return [item for item in rendered if item]
        matching = (
            entry
            for entry in store.entries(watch.resource_key)
            if watch.wanted.everything or watch.wanted.matches(entry)
        )
        first = [watch.view.event("ADDED", entry) for entry in matching]
        if streamed and watch.bookmarks:
            first.append(watch.view.bookmark(store.version, initial_end=True))
        return first

    def _closed(self, watch: Watch) -> None:
        self._open.discard(watch)
        watch.closed()

    def act(self, path: re.Pattern[str], action: str) -> None:
        """Do something to every open watch whose path matches: `abort`, `end`, `expire`, `bookmark`. Server's thread only."""
        for watch in [watch for watch in self._open if path.search(watch.path)]:
            match action:
                case "abort":
                    watch.cut()
                case "end":
                    watch.end()
                case "expire":
                    watch.fail(
                        errors.expired("The resourceVersion for the provided watch is too old.").body()
                    )
                case "bookmark":
                    watch.bookmark()


def _streams_list(request: Request) -> bool:
    if not request.asks("sendInitialEvents"):
        return False
    if request.query.get("resourceVersionMatch") != "NotOlderThan":
        fault = forbidden(
            "resourceVersionMatch",
            "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
        )
        raise errors.invalid("ListOptions", "meta.k8s.io", "", [fault])
    return True


def _timeout(text: str, rng: random.Random) -> float:
    if text.isascii() and text.isdigit() and int(text[:9]) > 0:
        return float(text[:9])
    return rng.uniform(*_DEFAULT_TIMEOUT)
