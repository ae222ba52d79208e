"""Answers that are kept for a while: whoever asks the same again meanwhile gets the same, and who asks at the same time waits for one answer."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """At most ``size`` answers; what was not asked for the longest goes first. Thread-safe.

    ``now``: monotonic seconds.
    """

    def __init__(self, size: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._size = size
        self._now = now
        self._lock = threading.Lock()
        self._kept: OrderedDict[K, tuple[V, float]] = OrderedDict()
        self._coming: dict[K, Future[V]] = {}

    def get(self, key: K, ask: Callable[[], tuple[V, float]]) -> V:
        """The answer for ``key``: one that is kept, one that is on its way, or what ``ask`` answers with the seconds to keep it.

        What ``ask`` raises is raised here, to everybody who waits for it, and not kept.
        """
        with self._lock:
            found = self._kept.get(key)
            if found is not None and self._now() < found[1]:
                self._kept.move_to_end(key)
                return found[0]
            coming = self._coming.get(key)
            mine: Future[V] | None = None
            if coming is None:
                coming = mine = self._coming[key] = Future()
        if mine is not None:
            self._fetch(key, mine, ask)
        return coming.result()

    def _fetch(self, key: K, future: "Future[V]", ask: Callable[[], tuple[V, float]]) -> None:
        try:
            value, seconds = ask()
        except BaseException as error:
            self._forget_coming(key)
            future.set_exception(error)
            return
        with self._lock:
            self._kept.pop(key, None)
            if seconds > 0:
                self._kept[key] = (value, self._now() + seconds)
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        self._forget_coming(key)
        future.set_result(value)

    def _forget_coming(self, key: K) -> None:
        with self._lock:
            del self._coming[key]
