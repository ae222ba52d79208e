"""WaitingPods: pods that Permit holds until every plugin that asked to wait has allowed them.

::

    add ──> waiting ──allow() by the last plugin──> Success
               │
               ├──reject() by any plugin──> Unschedulable, owned by it
               └──its time is up──────────> Unschedulable, owned by the plugin with the shortest time

A binding thread waits in ``wait``; plugins allow and reject from any thread. The clock that measures the waiting is the
condition's own, so nothing polls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from scheduler.apis import duration
from scheduler.apis.objects import Pod
from scheduler.framework.status import SUCCESS, Code, Status

_NANOSECONDS = 1_000_000_000


class WaitingPod:
    """One pod that is held."""

    def __init__(self, pod: Pod, waits: Mapping[str, float], now: Callable[[], float]) -> None:
        self.pod = pod
        self._now = now
        self._condition = threading.Condition()
        self._timeouts = dict(waits)
        self._deadlines = {plugin: now() + timeout for plugin, timeout in waits.items()}
        self._verdict: Status | None = None

    @property
    def pending_plugins(self) -> list[str]:
        """The plugins that have not allowed it yet."""
        with self._condition:
            return list(self._deadlines)

    def allow(self, plugin: str) -> None:
        """``plugin`` lets the pod go; it goes when the last one does."""
        with self._condition:
            self._deadlines.pop(plugin, None)
            if not self._deadlines and self._verdict is None:
                self._settle(SUCCESS)

    def reject(self, plugin: str, message: str, code: Code = Code.UNSCHEDULABLE) -> bool:
        """``plugin`` refuses the pod; False when it was too late to matter."""
        with self._condition:
            if self._verdict is not None:
                return False
            self._settle(Status(code, (message,), plugin))
            return True

    def wait(self) -> Status:
        """Block until allowed, rejected or out of time."""
        with self._condition:
            while self._verdict is None:
                plugin, deadline = min(self._deadlines.items(), key=lambda item: item[1])
                left = deadline - self._now()
                if left <= 0:
                    waited = duration.format(round(self._timeouts[plugin] * _NANOSECONDS))
                    message = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
                    self._settle(Status(Code.UNSCHEDULABLE, (message,), plugin))
                else:
                    self._condition.wait(left)
            return self._verdict

    def _settle(self, verdict: Status) -> None:
        self._verdict = verdict
        self._condition.notify_all()


class WaitingPods:
    """The pods held now, by uid."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._pods: dict[str, WaitingPod] = {}

    def add(self, pod: Pod, waits: Mapping[str, float]) -> WaitingPod:
        """Hold a pod, at most ``waits[plugin]`` seconds for each plugin."""
        waiting = WaitingPod(pod, waits, self._now)
        with self._lock:
            self._pods[pod.metadata.uid] = waiting
        return waiting

    def get(self, uid: str) -> WaitingPod | None:
        """The held pod of that uid."""
        with self._lock:
            return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        """The pod is held no more."""
        with self._lock:
            self._pods.pop(uid, None)

    def __iter__(self) -> Iterator[WaitingPod]:
        with self._lock:
            return iter(list(self._pods.values()))
