"""StatusWriter: writes the status of pods, as fast as the API server takes it, and never more than the latest.

A thousand pods that fit nowhere fail again every few seconds, faster than the client's rate limit lets patches through. So a pod has
at most one patch waiting: a newer one takes its place, and one that is not needed any more is dropped. What waits is bounded by the
number of pods, however long the server takes.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from scheduler.apis.objects import Pod
from scheduler.client.errors import ClientError, NotFoundError
from scheduler.framework.port import Port

logger = logging.getLogger(__name__)

Submit = Callable[[Callable[[], None]], object]
"""Runs a function on a worker thread."""


class StatusWriter:
    """Patches pods' statuses on worker threads.

    Args:
        submit: runs a function on a worker thread.
    """

    def __init__(self, port: Port, submit: Submit) -> None:
        self._port = port
        self._submit = submit
        self._lock = Lock()
        self._waiting: dict[str, tuple[Pod, Mapping[str, Any]]] = {}

    def write(self, pod: Pod, patch: Mapping[str, Any]) -> None:
        """Have the patch written instead of any that waits for this pod; an empty one: the status is as it should be."""
        uid = pod.metadata.uid
        with self._lock:
            known = uid in self._waiting
            if patch:
                self._waiting[uid] = (pod, patch)
            else:
                self._waiting.pop(uid, None)
        if patch and not known:
            self._submit(lambda: self._send(uid))

    def write_now(self, pod: Pod, patch: Mapping[str, Any]) -> None:
        """Write the patch; a failure is logged."""
        try:
            self._port.patch_pod_status(pod.metadata.namespace, pod.metadata.name, patch)
        except NotFoundError:
            logger.debug("pod %s is gone; its status is not updated", pod.full_name)
        except ClientError as error:
            logger.warning("the status of pod %s could not be updated: %s", pod.full_name, error)

    def _send(self, uid: str) -> None:
        with self._lock:
            waiting = self._waiting.pop(uid, None)
        if waiting is not None:
            self.write_now(*waiting)
