"""Runner: how a plugin is called, whatever the point: timed, named in every failure, never trusted.

Plugins may come from anywhere. Whatever one raises or answers instead of what its protocol says becomes a ``PluginError`` that names
plugin and point; ``guard`` makes an Error status of it for the points that answer one. So a plugin's bug fails pods, never the process.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Self

from scheduler.framework.cycle import Cycle
from scheduler.framework.extenders import Overtaken
from scheduler.framework.interface import PostFilterResult, Wait
from scheduler.framework.profile import Plugins
from scheduler.framework.status import SKIP, SUCCESS, Code, Status
from scheduler.metrics import Metrics

logger = logging.getLogger(__name__)

_TOGETHER = {"Score": "Score", "ScoreExtensionNormalize": "Normalize on Score"}
"""Points whose plugins run side by side in kube-scheduler, which its errors say."""
_MAY_SKIP = frozenset({"PreFilter", "PreScore", "PreBindPreFlight", "Bind"})


class PluginError(Exception):
    """A plugin failed: a bug or IO in it. The text names plugin and point, ``plugin`` the plugin; the cause is chained."""

    def __init__(self, text: str, plugin: str = "") -> None:
        super().__init__(text)
        self.plugin = plugin


class Timing:
    """Records how long a block takes: ``with`` it. What the block leaves in ``code`` labels the duration; Error when it raises.

    A class, since a generator behind ``contextmanager`` costs twice as much, and every pod passes a dozen of these.
    """

    __slots__ = ("_metrics", "_point", "_profile_name", "_start", "code")

    def __init__(self, metrics: Metrics, point: str, profile_name: str) -> None:
        self._metrics = metrics
        self._point = point
        self._profile_name = profile_name
        self.code = Code.SUCCESS

    def __enter__(self) -> Self:
        self._start = perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        code = self.code if kind is None else Code.ERROR
        self._metrics.extension_point(
            self._point, code.label, self._profile_name, perf_counter() - self._start
        )


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
            PluginError: it raised, be it ``SystemExit``. Only Ctrl-C passes, which is the user's, and ``Overtaken``, which is no failure.
        """
        try:
            if cycle.record_plugin_metrics:
                return self._timed_call(plugin, point, method, arguments)
            return method(*arguments)
        except (PluginError, KeyboardInterrupt, Overtaken):
            raise
        except BaseException as error:
            logger.debug("plugin %s failed at %s", plugin.name, point, exc_info=True)
            raise failed(plugin.name, point, described(error)) from error

    def _timed_call(
        self, plugin: Any, point: str, method: Callable[..., Any], arguments: tuple[Any, ...]
    ) -> Any:
        start = perf_counter()
        code = Code.ERROR
        try:
            answer = method(*arguments)
            code = _code_of(answer)
        finally:
            self.metrics.plugin_executed(plugin.name, point, code.label, perf_counter() - start)
        return answer

    def guard(
        self, plugin: Any, point: str, cycle: Cycle, method: Callable[..., Any], *arguments: Any
    ) -> Status:
        """Call a plugin that answers a status; a failure becomes one that it owns."""
        try:
            return as_status(self.call(plugin, point, cycle, method, *arguments), plugin.name, point)
        except PluginError as error:
            return Status.failure(error).by(plugin.name)

    def timed(self, point: str) -> Timing:
        """Record how long an extension point takes, all its plugins together."""
        return Timing(self.metrics, point, self.profile_name)


def as_status(answer: object, plugin: str, point: str) -> Status:
    """What a plugin answered, as Success, Skip where the point knows it, or a rejection that the plugin owns.

    Raises:
        PluginError: it is anything else.
    """
    if answer is None:
        return SUCCESS
    if not isinstance(answer, Status):
        raise failed(plugin, point, f"it returned {type(answer).__name__}, not a Status")
    if answer.ok or answer.rejected:
        return answer.by(plugin)
    if answer.code is Code.SKIP and point in _MAY_SKIP:
        return SKIP
    raise failed(plugin, point, answer.message or f"unexpected status {answer.code.label}") from answer.error


def failed(plugin: str, point: str, reason: str) -> PluginError:
    """The error of a plugin that failed at a point."""
    if point in _TOGETHER:
        return PluginError(
            f"running {_TOGETHER[point]} plugins: plugin {quoted(plugin)} failed with: {reason}", plugin
        )
    return PluginError(f"running {point} plugin {quoted(plugin)}: {reason}", plugin)


def quoted(name: str) -> str:
    """A name as Go's ``%q`` shows it."""
    return f'"{name}"'


def _code_of(answer: object) -> Code:
    """The code for metrics: most answers that are no status are a success."""
    if isinstance(answer, PostFilterResult):
        answer = answer.status
    if isinstance(answer, Status):
        return answer.code
    return Code.WAIT if isinstance(answer, Wait) else Code.SUCCESS


def described(error: BaseException) -> str:
    """The text of what a plugin raised; with its type where the text alone says nothing."""
    kind, text = type(error).__name__, str(error)
    telling = text and isinstance(error, Exception) and not isinstance(error, LookupError)
    return text if telling else f"{kind}: {text}".removesuffix(": ")
