"""The points that act on a decision: PostFilter, Reserve, Permit, PreBind, Bind and PostBind.

A refusal keeps the plugin's own code and reasons; anything else that is not Success is an Error that names point and plugin
(upstream: ``RunReservePluginsReserve`` and its siblings).
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PostFilterResult, PreBindPreFlight, Wait, WhatIf
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome
from scheduler.framework.runner import PluginError, Runner, as_status, failed, quoted
from scheduler.framework.status import SKIP, SUCCESS, Code, Status

logger = logging.getLogger(__name__)

_MAX_PERMIT_TIMEOUT = 15 * 60.0
_WAIT = Status(Code.WAIT, ("one or more plugins asked to wait and no plugin rejected pod",))


class Lifecycle(Runner):
    """Runs what follows the choice of a node."""

    def post_filter(
        self, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome, what_if: WhatIf
    ) -> PostFilterResult:
        """Run PostFilter until a plugin succeeds, or one says that nothing can help (upstream: ``RunPostFilterPlugins``).

        A plugin's failure is an Error status here too: the pod stays refused for what the filters said.
        """
        nominated: str | None = None
        reasons: list[str] = []
        rejector = ""
        with self.timed("PostFilter") as timing:
            for plugin in self.plugins_at("postFilter"):
                result = self._post_filter(plugin, cycle, nodes, outcome, what_if)
                timing.code = result.status.code
                if not result.status.rejected or timing.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    return result
                nominated = result.nominated_node if result.nominated_node is not None else nominated
                reasons += result.status.reasons
                rejector = rejector or plugin.name
            timing.code = Code.UNSCHEDULABLE
        return PostFilterResult(Status(Code.UNSCHEDULABLE, tuple(reasons), rejector), nominated)

    def _post_filter(
        self, plugin: Any, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome, what_if: WhatIf
    ) -> PostFilterResult:
        try:
            result = self.call(
                plugin, "PostFilter", cycle, plugin.post_filter, cycle, nodes, outcome, what_if
            )
            if not isinstance(result, PostFilterResult):
                raise failed(plugin.name, "PostFilter", f"it returned {type(result).__name__}")
            if isinstance(result.status, Status) and result.status.code is Code.ERROR:
                # Its text ends the pod's event, where upstream shows it as the plugin wrote it.
                return PostFilterResult(result.status.by(plugin.name))
            return PostFilterResult(
                as_status(result.status, plugin.name, "PostFilter"), result.nominated_node
            )
        except PluginError as error:
            logger.error("%s", error)
            return PostFilterResult(Status.failure(error).by(plugin.name))

    def reserve(self, cycle: Cycle, node: str) -> Status:
        """Run Reserve; the caller unreserves when it fails."""
        return self._each("Reserve", self.plugins_at("reserve"), "reserve", cycle, node)

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Run Unreserve of every plugin, last first; one that raises is logged and does not stop the others."""
        self._tell("Unreserve", reversed(self.plugins_at("reserve")), "unreserve", cycle, node)

    def permit(self, cycle: Cycle, node: str) -> tuple[Status, Mapping[str, float]]:
        """Run Permit: Success, a refusal, or Wait with the plugins that hold the pod and for how many seconds at most."""
        waits: dict[str, float] = {}
        with self.timed("Permit") as timing:
            for plugin in self.plugins_at("permit"):
                status, seconds = self._permit(plugin, cycle, node)
                if status.code is Code.WAIT:
                    waits[plugin.name] = seconds
                elif not status.ok:
                    timing.code = status.code
                    return status, {}
            if waits:
                timing.code = Code.WAIT
                return _WAIT, waits
        return SUCCESS, {}

    def _permit(self, plugin: Any, cycle: Cycle, node: str) -> tuple[Status, float]:
        """One plugin's answer, and for how many seconds it holds the pod if that is Wait."""
        try:
            answer = self.call(plugin, "Permit", cycle, plugin.permit, cycle, node)
            if isinstance(answer, Wait):
                return _WAIT, _seconds(plugin.name, answer)
            return as_status(answer, plugin.name, "Permit"), 0.0
        except PluginError as error:
            return Status.failure(error).by(plugin.name), 0.0

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status:
        """Success when some PreBind plugin has work to do for this pod, Skip when none has; who has none is not called then.

        A refusal is an Error here: it comes too late (upstream: ``RunPreBindPreFlights``).
        """
        idle: set[str] = set()
        plugins = self.plugins_at("preBind")
        with self.timed("PreBindPreFlight") as timing:
            for plugin in (one for one in plugins if isinstance(one, PreBindPreFlight)):
                status = self.guard(
                    plugin, "PreBindPreFlight", cycle, plugin.pre_bind_pre_flight, cycle, node
                )
                if status.code is Code.SKIP:
                    idle.add(plugin.name)
                elif not status.ok:
                    timing.code = Code.ERROR
                    return status if status.error else _unsupported(status, plugin.name)
            cycle.skipped_pre_binds = frozenset(idle)
            timing.code = Code.SUCCESS if len(idle) < len(plugins) else Code.SKIP
        return SUCCESS if timing.code is Code.SUCCESS else SKIP

    def pre_bind(self, cycle: Cycle, node: str) -> Status:
        """Run PreBind, in order, of the plugins that the pre-flight left."""
        plugins = [one for one in self.plugins_at("preBind") if one.name not in cycle.skipped_pre_binds]
        return self._each("PreBind", plugins, "pre_bind", cycle, node)

    def bind(self, cycle: Cycle, node: str) -> Status:
        """Ask the bind plugins in order until one does not skip."""
        with self.timed("Bind") as timing:
            status = SKIP
            for plugin in self.plugins_at("bind"):
                status = self.guard(plugin, "Bind", cycle, plugin.bind, cycle, node)
                if status.code is not Code.SKIP:
                    break
            timing.code = status.code
        if status.code is Code.SKIP:
            names = ", ".join(quoted(plugin.name) for plugin in self.plugins_at("bind"))
            return Status.failure(PluginError(f"no bind plugin took the pod: {names}"))
        return status

    def post_bind(self, cycle: Cycle, node: str) -> None:
        """Tell every PostBind plugin; one that raises is logged and does not stop the others."""
        self._tell("PostBind", self.plugins_at("postBind"), "post_bind", cycle, node)

    def _each(self, point: str, plugins: Iterable[Any], method: str, cycle: Cycle, node: str) -> Status:
        """Ask in order until one does not answer Success."""
        with self.timed(point) as timing:
            for plugin in plugins:
                status = self.guard(plugin, point, cycle, getattr(plugin, method), cycle, node)
                if not status.ok:
                    timing.code = status.code
                    return status
        return SUCCESS

    def _tell(self, point: str, plugins: Iterable[Any], method: str, cycle: Cycle, node: str) -> None:
        """Call all of them, whatever they answer."""
        with self.timed(point):
            for plugin in plugins:
                status = self.guard(plugin, point, cycle, getattr(plugin, method), cycle, node)
                if not status.ok:
                    logger.error("pod %s: %s", cycle.pod.full_name, status.message)


def _seconds(plugin: str, wait: Wait) -> float:
    if not isinstance(wait.timeout, int | float) or math.isnan(wait.timeout):
        raise failed(plugin, "Permit", f"it asked to wait for {wait.timeout!r} seconds")
    return min(wait.timeout, _MAX_PERMIT_TIMEOUT)


def _unsupported(status: Status, plugin: str) -> Status:
    return Status.failure(
        PluginError(
            f"PreBindPreFlight {plugin} returned {quoted(status.code.label)}, which is unsupported. "
            "It is supposed to return Success, Skip, or Error status"
        )
    ).by(plugin)
