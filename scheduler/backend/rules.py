"""QueueRules: what the profiles say about waiting pods. A queue follows one set of rules at a time (see ``SchedulingQueue.follow``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from scheduler.backend.hints import Registration
from scheduler.backend.queued import QueueTimes
from scheduler.backend.sorting import SortKey
from scheduler.framework.interface import PreEnqueuePlugin


class QueueRules(NamedTuple):
    """The rules of all profiles.

    Attributes:
        sort_key: the queue-sort plugin's key.
        pre_enqueue: the PreEnqueue plugins in order, by profile (``schedulerName``): every profile is a key.
        hints: who wants to hear of which events, by profile.
        times: back-off and timeout.
    """

    sort_key: SortKey
    pre_enqueue: Mapping[str, Sequence[PreEnqueuePlugin]]
    hints: Mapping[str, Sequence[Registration]]
    times: QueueTimes
