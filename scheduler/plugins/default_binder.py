"""DefaultBinder: binds the pod through the API server.

Upstream: ``plugins/defaultbinder``.
"""

from __future__ import annotations

from typing import Any, Final

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import Handle
from scheduler.framework.status import Status


class DefaultBinder:
    """Binds every pod."""

    name: Final = "DefaultBinder"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""
        self._binder = handle.port

    def bind(self, cycle: Cycle, node: str) -> Status | None:
        """Bind; whatever goes wrong becomes an Error status, and the pod is tried again."""
        metadata = cycle.pod.metadata
        try:
            self._binder.bind(metadata.namespace, metadata.name, metadata.uid, node)
        except Exception as error:  # whatever fails in the transport means: not bound
            return Status.failure(error)
        return None
