"""Fault injection: rules that disturb chosen requests, and switches that disturb open watches.

    sandbox.faults.add(method="POST", path=r"/binding$", status=429, retry_after=1, times=3)
    sandbox.faults.add(path=r"/pods$", delay=0.2)
    sandbox.faults.add(method="POST", path=r"/binding$", drop="after", times=1)   # it happened, the client never learns
    sandbox.faults.cut_watches(path="/nodes")

Rules are tried in the order they were added; the first that matches and has hits left decides. All methods may be called from any thread.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from scheduler.sandbox.wire.http import Request

Drop = Literal["", "before", "after"]
_REASONS = {
    429: "TooManyRequests",
    500: "InternalError",
    503: "ServiceUnavailable",
    504: "Timeout",
    409: "Conflict",
    410: "Expired",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
}


@dataclass(slots=True, eq=False)
class Rule:
    """One fault. `times` None means for ever; `hits` counts how often it struck.

    `delay` seconds pass before the reply is written (a watch is opened as if there were no delay and no `drop="after"`). `status` replaces the
    reply, the request is not carried out. `drop="before"` closes the connection without carrying it out, `"after"` carries it out and closes
    without a reply. `retry_after` is in seconds.
    """

    method: str
    path: re.Pattern[str]
    times: int | None
    skip: int
    delay: float
    status: int
    reason: str
    message: str
    retry_after: int | None
    drop: Drop
    watch: bool | None
    hits: int = 0
    struck: threading.Event = field(default_factory=threading.Event)

    def matches(self, request: Request) -> bool:
        """Whether the rule is about this request."""
        if self.watch is not None and self.watch != request.asks("watch"):
            return False
        return self.method in ("", request.method) and self.path.search(request.path) is not None


class Faults:
    """The rules of one sandbox, and its switches for watches (`on_watches` is set by the server)."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rules: list[Rule] = []
        self.on_watches: Callable[[re.Pattern[str], str], None] = lambda _path, _action: None

    def add(
        self,
        *,
        method: str = "",
        path: str = "",
        times: int | None = None,
        skip: int = 0,
        delay: float = 0.0,
        status: int = 0,
        reason: str = "",
        message: str = "",
        retry_after: int | None = None,
        drop: Drop = "",
        watch: bool | None = None,
    ) -> Rule:
        """Add a rule and return it.

        `method` "" means any, `path` is a regular expression searched in the path, `skip` lets that many matching requests pass first,
        `watch` restricts to watches (True) or to everything else (False). Raises `re.error` for a bad expression.
        """
        reason = reason or _REASONS.get(status, "InternalError")
        message = message or f"injected fault: {status} {reason}"
        rule = Rule(
            method.upper(),
            re.compile(path),
            times,
            skip,
            delay,
            status,
            reason,
            message,
            retry_after,
            drop,
            watch,
        )
        with self._lock:
            self._rules.append(rule)
        return rule

    def remove(self, rule: Rule) -> None:
        """Take a rule away; one that is gone already is no error."""
        with self._lock:
            if rule in self._rules:
                self._rules.remove(rule)

    def clear(self) -> None:
        """Take all rules away."""
        with self._lock:
            self._rules.clear()

    def strike(self, request: Request) -> Rule | None:
        """The rule that decides this request, counted."""
        if not self._rules:
            return None
        with self._lock:
            for rule in self._rules:
                if (rule.times is None or rule.hits < rule.times) and rule.matches(request):
                    if rule.skip > 0:
                        rule.skip -= 1
                        continue
                    rule.hits += 1
                    rule.struck.set()
                    return rule
        return None

    def cut_watches(self, path: str = "", *, abort: bool = True) -> None:
        """End every open watch whose path matches: by dropping the connection, or (`abort=False`) with a proper end."""
        self.on_watches(re.compile(path), "abort" if abort else "end")

    def expire_watches(self, path: str = "") -> None:
        """Send every open watch whose path matches an ERROR event with 410 Gone, then end it."""
        self.on_watches(re.compile(path), "expire")

    def send_bookmarks(self, path: str = "") -> None:
        """Send a BOOKMARK now to every open watch whose path matches and that allows them."""
        self.on_watches(re.compile(path), "bookmark")
