"""PreBindings: pods that are being prepared for their node, and may still be called back.

::

    begin ──> preparing ──finish()──> to be bound: too late to cancel
                  └──────cancel()───> called back: it returns to the queue instead

A pod in PreBind holds room, and is known to no kubelet. Preempting it need not delete it (upstream: ``podsInPreBindMap``).
"""

from __future__ import annotations

import threading


class PreBindings:
    """Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._canceled: dict[str, str] = {}

    def begin(self, uid: str) -> None:
        """The pod is being prepared."""
        with self._lock:
            self._canceled[uid] = ""

    def cancel(self, uid: str, why: str) -> bool:
        """Call the pod back. False: it is not being prepared, or not any more."""
        with self._lock:
            if uid not in self._canceled:
                return False
            self._canceled[uid] = self._canceled[uid] or why
            return True

    def why(self, uid: str) -> str:
        """Why the pod was called back, empty when it was not."""
        with self._lock:
            return self._canceled.get(uid, "")

    def finish(self, uid: str) -> str:
        """The pod is prepared: from now on it cannot be called back. Returns why it was, empty when it was not."""
        with self._lock:
            return self._canceled.pop(uid, "")
