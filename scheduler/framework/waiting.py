"""WaitingPods: pods that Permit holds until every plugin that asked to wait has allowed them.

::

    hold ──> waiting ──allow() by the last plugin──> Success
                │
                ├──reject() by any plugin──> its code, owned by it
                └──expire(): time is up────> Unschedulable, owned by the plugin with the shortest time

Nothing blocks: whoever holds a pod says what to call when it is settled, and the owner of the clock calls ``expire``. A
hundred pods that wait for one another cost a hundred entries here and no thread. Plugins allow and reject from any thread.

Upstream: ``runtime/waiting_pods_map.go``.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

from scheduler.apis import duration
from scheduler.apis.objects import Pod
from scheduler.framework.status import SUCCESS, Code, Status

Settled = Callable[[Status], None]
"""Called once, from whatever thread settled the pod, with the verdict."""


class WaitingPod:
    """One pod that is held.

    Args:
        pod: the pod.
        waits: the plugins that hold it, each with the seconds that it may.
        now: the time, in seconds of the owner's clock.
        settled: told the verdict.
    """

    def __init__(self, pod: Pod, waits: Mapping[str, float], now: float, settled: Settled) -> None:
        self.pod = pod
        self._lock = threading.Lock()
        self._timeouts = dict(waits)
        self._pending = {plugin: now + timeout for plugin, timeout in waits.items()}
        self._settled = settled
        self._done = False

    @property
    def pending_plugins(self) -> list[str]:
        """The plugins that have not allowed it yet."""
        with self._lock:
            return list(self._pending)

    @property
    def deadline(self) -> float:
        """When it expires, in seconds of the owner's clock."""
        with self._lock:
            return min(self._pending.values(), default=float("inf"))

    def allow(self, plugin: str) -> None:
        """``plugin`` lets the pod go; it goes when the last one does."""
        with self._lock:
            self._pending.pop(plugin, None)
            if self._pending:
                return
        self._settle(SUCCESS)

    def reject(self, plugin: str, message: str, code: Code = Code.UNSCHEDULABLE) -> bool:
        """``plugin`` refuses the pod; False when it was settled before."""
        return self._settle(Status(code, (message,), plugin))

    def expire(self, now: float) -> None:
        """Refuse the pod when its time is up; ``now`` in seconds of the owner's clock."""
        with self._lock:
            plugin, deadline = min(
                self._pending.items(), key=lambda item: item[1], default=("", float("inf"))
            )
        if deadline <= now:
            waited = duration.format(round(self._timeouts[plugin] * duration.SECOND))
            self.reject(plugin, f"rejected due to timeout after waiting {waited} at plugin {plugin}")

    def _settle(self, verdict: Status) -> bool:
        with self._lock:
            if self._done:
                return False
            self._done = True
        self._settled(verdict)
        return True


class WaitingPods:
    """The pods held now, by uid.

    Args:
        now: the clock, in seconds.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._pods: dict[str, WaitingPod] = {}
        self._earliest = float("inf")

    def hold(self, pod: Pod, waits: Mapping[str, float], settled: Settled) -> None:
        """Hold a pod, at most ``waits[plugin]`` seconds for each plugin, and tell ``settled`` what came of it."""
        uid = pod.metadata.uid

        def finish(verdict: Status) -> None:
            with self._lock:
                self._pods.pop(uid, None)
            settled(verdict)

        waiting = WaitingPod(pod, waits, self._now(), finish)
        with self._lock:
            self._pods[uid] = waiting
            self._earliest = min(self._earliest, waiting.deadline)

    def get(self, uid: str) -> WaitingPod | None:
        """The held pod of that uid."""
        with self._lock:
            return self._pods.get(uid)

    def reject(self, uid: str, plugin: str, message: str) -> bool:
        """Refuse a held pod; False when it is not held."""
        waiting = self.get(uid)
        return waiting is not None and waiting.reject(plugin, message)

    def expire(self) -> None:
        """Refuse the pods whose time is up. Costs nothing as long as none can be."""
        now = self._now()
        if now < self._earliest:
            return
        for waiting in self:
            waiting.expire(now)
        with self._lock:
            self._earliest = min((one.deadline for one in self._pods.values()), default=float("inf"))

    def next_deadline(self) -> float | None:
        """When ``expire`` may have something to do next, in seconds of the clock; None when no pod is held."""
        return self._earliest if self._pods else None

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[WaitingPod]:
        with self._lock:
            return iter(list(self._pods.values()))
