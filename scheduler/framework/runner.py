"""Runner: how a plugin is called, whatever the point: timed, named in every failure, never trusted not to raise."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from scheduler.framework.cycle import Cycle
from scheduler.framework.profile import Plugins
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.metrics import Metrics

logger = logging.getLogger(__name__)


class PluginError(Exception):
    """A plugin failed: a bug or IO in it. The text names plugin and point; the cause is chained."""


class Timing:
    """Holds the code that an extension point ended with, for its duration metric."""

    __slots__ = ("code",)

    def __init__(self) -> None:
        self.code = Code.SUCCESS


class Runner:
    """Calls the plugins of one profile.

    Args:
        profile_name: the ``schedulerName`` of the pods it schedules.
        plugins: built by ``profile.build_plugins``.
        metrics: where durations and counts go.
    """

    def __init__(self, profile_name: str, plugins: Plugins, metrics: Metrics) -> None:
        self.profile_name = profile_name
        self.metrics = metrics
        self._plugins = plugins
        self._at = plugins.at

    def plugins_at(self, point: str) -> Sequence[Any]:
        """The plugins enabled at an extension point, in order."""
        return self._at[point]

    def call(self, plugin: Any, point: str, cycle: Cycle, method: Callable[..., Any], *arguments: Any) -> Any:
        """Call a plugin; its duration is recorded when this attempt is in the sample.

        Raises:
            PluginError: it raised.
        """
        start = perf_counter()
        try:
            answer = method(*arguments)
        except PluginError:
            raise
        except Exception as error:
            raise PluginError(f"running {quoted(plugin.name)} {point} plugin: {error}") from error
        if cycle.record_plugin_metrics:
            status = answer.code.label if isinstance(answer, Status) else Code.SUCCESS.label
            self.metrics.plugin_executed(plugin.name, point, status, perf_counter() - start)
        return answer

    def guard(self, plugin: Any, point: str, method: Callable[..., Any], *arguments: Any) -> Status:
        """Call a plugin that answers a status; a failure becomes one that it owns."""
        try:
            answer: Status | None = method(*arguments)
        except Exception as error:
            logger.debug("plugin failed", exc_info=True)
            return Status.failure(PluginError(f"running {point} plugin {quoted(plugin.name)}: {error}")).by(
                plugin.name
            )
        return SUCCESS if answer is None else owned(answer, plugin.name, point)

    @contextmanager
    def timed(self, point: str) -> Iterator[Timing]:
        timing = Timing()
        start = perf_counter()
        try:
            yield timing
        except PluginError:
            timing.code = Code.ERROR
            raise
        finally:
            self.metrics.extension_point(point, timing.code.label, self.profile_name, perf_counter() - start)


def owned(status: Status, plugin: str, point: str) -> Status:
    """The plugin's status with its name on it; an error says where it happened."""
    if status.code is not Code.ERROR:
        return status.by(plugin)
    return Status.failure(PluginError(f"running {point} plugin {quoted(plugin)}: {status.message}")).by(
        plugin
    )


def quoted(name: str) -> str:
    return f'"{name}"'
