"""Gates: the PreEnqueue plugins, asked before a pod enters the active or back-off queue.

Upstream: ``runPreEnqueuePlugins`` in ``backend/queue/scheduling_queue.go``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from scheduler.backend.queued import QueuedPodInfo, QueueMetrics
from scheduler.framework.interface import PreEnqueuePlugin
from scheduler.framework.runner import PluginError, as_status, described, failed
from scheduler.framework.status import SUCCESS, Status

logger = logging.getLogger(__name__)

_PRE_ENQUEUE = "PreEnqueue"


class Gates:
    """The PreEnqueue plugins by profile.

    Args:
        by_profile: the plugins in order, by profile (``schedulerName``).
        metrics: where the duration goes.
        now: the clock, in seconds.
    """

    def __init__(
        self,
        by_profile: Mapping[str, Sequence[PreEnqueuePlugin]],
        metrics: QueueMetrics,
        now: Callable[[], float],
    ) -> None:
        self._by_profile = by_profile
        self._metrics = metrics
        self._now = now

    def check(self, queued: QueuedPodInfo) -> None:
        """Ask the plugins and note in the pod which one gates it, if any does. The one that gated it last is asked first."""
        profile = queued.pod.spec.scheduler_name
        start = self._now()
        status = self.refusal(queued)
        self._metrics.extension_point(_PRE_ENQUEUE, status.code.label, profile, self._now() - start)
        queued.gating_plugin = status.plugin
        queued.gating_reasons = status.reasons
        if status.ok:
            return
        if status.plugin not in queued.rejectors:
            self._metrics.unschedulable(status.plugin, profile, 1)
        queued.unschedulable_plugins.add(status.plugin)

    def refusal(self, queued: QueuedPodInfo) -> Status:
        """Success, or why a plugin of the pod's profile keeps it out: the first refusal, the plugin's name on it."""
        plugins = self._by_profile.get(queued.pod.spec.scheduler_name, ())
        for plugin in sorted(plugins, key=lambda plugin: plugin.name != queued.gating_plugin):
            status = _ask(plugin, queued)
            if not status.ok:
                return status.by(plugin.name)
        return SUCCESS


def _ask(plugin: PreEnqueuePlugin, queued: QueuedPodInfo) -> Status:
    try:
        return as_status(plugin.pre_enqueue(queued.pod), plugin.name, _PRE_ENQUEUE)
    except KeyboardInterrupt:
        raise
    except PluginError as error:
        logger.error("pod %s: %s", queued.name, error)
        return Status.failure(error)
    except BaseException as error:
        logger.exception("%s failed at %s for pod %s", plugin.name, _PRE_ENQUEUE, queued.name)
        return Status.failure(failed(plugin.name, _PRE_ENQUEUE, described(error)))
