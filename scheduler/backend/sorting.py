"""The order of the queue: a plugin's key, which may fail."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from scheduler.backend.queued import QueuedPodInfo

logger = logging.getLogger(__name__)

SortKey = Callable[[QueuedPodInfo], Any]

_LAST = (1,)


def last_if_it_fails(sort_key: SortKey) -> SortKey:
    """A key that never raises: a pod whose own key does comes after all others, and among its like in the order of arrival."""

    def key(queued: QueuedPodInfo) -> Any:
        try:
            return 0, sort_key(queued)
        except KeyboardInterrupt:
            raise
        except BaseException:
            logger.exception("the queue-sort plugin failed for pod %s, which is sorted last", queued.name)
            return _LAST

    return key
