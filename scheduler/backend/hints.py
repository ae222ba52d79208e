"""Queueing hints: is this event worth another attempt for that pod?

Only the plugins that rejected a pod are asked, and only about events for which they registered::

    a pending plugin says Queue          ─► IMMEDIATELY     into the active queue, back-off or not
    a rejecting plugin says Queue        ─► AFTER_BACKOFF
    nobody rejected it (an error did)    ─► AFTER_BACKOFF
    a wildcard event                     ─► AFTER_BACKOFF   when it is about all pods or about this one
    otherwise                            ─► SKIP

A hint that fails counts as Queue: better one attempt in vain than a pod that waits for ever.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple

from scheduler.apis.objects import Pod
from scheduler.backend.inflight import Happening
from scheduler.backend.queued import QueuedPodInfo, QueueMetrics
from scheduler.backend.unschedulable import Group
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
    QueueingHintFn,
)

logger = logging.getLogger(__name__)

_OBSERVABLE = (
    EventResource.POD,
    EventResource.NODE,
    EventResource.PERSISTENT_VOLUME,
    EventResource.PERSISTENT_VOLUME_CLAIM,
    EventResource.CSI_NODE,
    EventResource.CSI_DRIVER,
    EventResource.CSI_STORAGE_CAPACITY,
    EventResource.STORAGE_CLASS,
    EventResource.RESOURCE_CLAIM,
    EventResource.DEVICE_CLASS,
)
_EVERYTHING = tuple(ClusterEventWithHint(ClusterEvent(resource, ActionType.ALL)) for resource in _OBSERVABLE)


class Strategy(IntEnum):
    """What to do with a pod that waits."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


class Registration(NamedTuple):
    """A plugin wants to hear of an event, and may have a hint that looks closer."""

    event: ClusterEvent
    plugin: str
    hint: QueueingHintFn | None = None


def registrations(
    events_of_plugins: Iterable[tuple[str, Sequence[ClusterEventWithHint] | None]],
) -> tuple[Registration, ...]:
    """What the plugins of one profile want to hear of.

    Args:
        events_of_plugins: each plugin's name and its events; None for a plugin that does not say: it hears everything.

    A plugin that registers for added nodes and not for changed taints gets both (upstream: ``buildQueueingHintMap``).
    """
    found = []
    for plugin, events in events_of_plugins:
        declared = _EVERYTHING if events is None else events
        found += [Registration(one.event, plugin, one.hint) for one in declared]
        on_nodes = [one.event.action for one in declared if one.event.resource is EventResource.NODE]
        if any(action & ActionType.ADD for action in on_nodes) and not any(
            action & ActionType.UPDATE_NODE_TAINT for action in on_nodes
        ):
            found.append(Registration(ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_TAINT), plugin))
    return tuple(found)


class Hints:
    """The registrations of all profiles, and the judgement made from them.

    Args:
        by_profile: the registrations by profile (``schedulerName``).
        metrics: where each hint's duration goes.
        now: the clock, in seconds.
    """

    def __init__(
        self,
        by_profile: Mapping[str, Sequence[Registration]],
        metrics: QueueMetrics,
        now: Callable[[], float],
    ) -> None:
        self._by_profile = by_profile
        self._metrics = metrics
        self._now = now
        self._matching: dict[tuple[str, ClusterEvent], tuple[Registration, ...]] = {}

    def of_interest(self, event: ClusterEvent) -> bool:
        """Whether any plugin of any profile wants to hear of it."""
        return event.wildcard or any(self._registered(profile, event) for profile in self._by_profile)

    def may_move(self, event: ClusterEvent, group: Group) -> bool:
        """Whether the event can move pods of the group at all; if not, asking ``worth_requeuing`` is vain.

        Gated ones only move when the gating plugin wants to hear of the event.
        """
        registered = self._registered(group.profile, event)
        if group.gating_plugin and not any(one.plugin == group.gating_plugin for one in registered):
            return False
        if event.wildcard or not group.rejectors or group.profile not in self._by_profile:
            return True
        return any(one.plugin in group.rejectors for one in registered)

    def worth_requeuing(self, queued: QueuedPodInfo, event: ClusterEvent, old: Any, new: Any) -> Strategy:
        """The strategy for one pod (upstream: ``isPodWorthRequeuing``)."""
        rejectors = queued.rejectors
        if not rejectors:
            return Strategy.AFTER_BACKOFF
        if event.wildcard:
            about_another = new is not None and not _same_pod(new, queued.pod)
            return Strategy.SKIP if about_another else Strategy.AFTER_BACKOFF
        profile = queued.pod.spec.scheduler_name
        if profile not in self._by_profile:
            logger.error("no queueing hints for profile %r of pod %s", profile, queued.name)
            return Strategy.AFTER_BACKOFF
        strategy = Strategy.SKIP
        for one in self._registered(profile, event):
            if one.plugin not in rejectors or not self._asks_for_queueing(one, queued.pod, event, old, new):
                continue
            if one.plugin in queued.pending_plugins:
                return Strategy.IMMEDIATELY
            if not queued.pending_plugins:
                return Strategy.AFTER_BACKOFF
            strategy = Strategy.AFTER_BACKOFF
        return strategy

    def worth_since(self, queued: QueuedPodInfo, happenings: Sequence[Happening] | None) -> Strategy:
        """The strategy for a pod that comes back from an attempt, by what happened since its pop; None: that is unknown."""
        if not queued.rejectors:
            return Strategy.AFTER_BACKOFF
        if happenings is None:
            logger.error("pod %s came back without having been popped", queued.name)
            return Strategy.AFTER_BACKOFF
        enough = Strategy.IMMEDIATELY if queued.pending_plugins else Strategy.AFTER_BACKOFF
        best = Strategy.SKIP
        for event, old, new in happenings:
            best = max(best, self.worth_requeuing(queued, event, old, new))
            if best >= enough:
                break
        return best

    def _registered(self, profile: str, event: ClusterEvent) -> tuple[Registration, ...]:
        found = self._matching.get((profile, event))
        if found is None:
            found = tuple(one for one in self._by_profile.get(profile, ()) if event.matches(one.event))
            self._matching[profile, event] = found
        return found

    def _asks_for_queueing(
        self, one: Registration, pod: Pod, event: ClusterEvent, old: Any, new: Any
    ) -> bool:
        start = self._now()
        label = hint = QueueingHint.QUEUE.value
        if one.hint is not None:
            try:
                label = hint = one.hint(pod, old, new).value
            except KeyboardInterrupt:
                raise
            except BaseException:
                logger.exception(
                    "queueing hint of %s failed on %s for pod %s", one.plugin, event.label, pod.full_name
                )
                label = "Error"
        self._metrics.queueing_hint(one.plugin, event.label, label, self._now() - start)
        return hint == QueueingHint.QUEUE.value


def _same_pod(one: Any, other: Pod) -> bool:
    return isinstance(one, Pod) and one.metadata.uid == other.metadata.uid
