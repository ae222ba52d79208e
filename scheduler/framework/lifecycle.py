"""The points that act on a decision: PostFilter, Reserve, Permit, PreBind, Bind and PostBind.

A refusal keeps the plugin's own code and reasons; anything else that is not Success is an Error that names point and plugin
(upstream: ``RunReservePluginsReserve`` and its siblings).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import FilterOutcome, PostFilterResult, PreBindPreFlight, Wait
from scheduler.framework.nodes import Nodes
from scheduler.framework.runner import PluginError, Runner, owned, quoted
from scheduler.framework.status import SKIP, SUCCESS, Code, Status

_MAX_PERMIT_TIMEOUT = 15 * 60.0


class Lifecycle(Runner):
    """Runs what follows the choice of a node."""

    def post_filter(self, cycle: Cycle, nodes: Nodes, outcome: FilterOutcome) -> PostFilterResult:
        """Run PostFilter until a plugin succeeds, or one says that nothing can help (upstream: ``RunPostFilterPlugins``).

        Raises:
            PluginError: a plugin raised.
        """
        nominated: str | None = None
        reasons: list[str] = []
        rejector = ""
        with self.timed("PostFilter") as timing:
            for plugin in self.plugins_at("postFilter"):
                result: PostFilterResult = self.call(
                    plugin, "PostFilter", cycle, plugin.post_filter, cycle, nodes, outcome
                )
                code = result.status.code
                if not result.status.rejected or code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    timing.code = code
                    return PostFilterResult(result.status.by(plugin.name), result.nominated_node)
                nominated = result.nominated_node if result.nominated_node is not None else nominated
                reasons += result.status.reasons
                rejector = rejector or plugin.name
            timing.code = Code.UNSCHEDULABLE
        return PostFilterResult(Status(Code.UNSCHEDULABLE, tuple(reasons), rejector), nominated)

    def reserve(self, cycle: Cycle, node: str) -> Status:
        """Run Reserve; the caller unreserves when it fails."""
        return self._each("Reserve", self.plugins_at("reserve"), "reserve", cycle, node)

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Run Unreserve of every plugin, last first; one that raises is logged and does not stop the others."""
        for plugin in reversed(self.plugins_at("reserve")):
            self.guard(plugin, "Unreserve", plugin.unreserve, cycle, node)

    def permit(self, cycle: Cycle, node: str) -> tuple[Status, Mapping[str, float]]:
        """Run Permit: Success, a refusal, or Wait with the plugins that hold the pod and for how many seconds at most."""
        waits: dict[str, float] = {}
        with self.timed("Permit") as timing:
            for plugin in self.plugins_at("permit"):
                answer = self.call(plugin, "Permit", cycle, plugin.permit, cycle, node)
                if isinstance(answer, Wait):
                    waits[plugin.name] = min(answer.timeout, _MAX_PERMIT_TIMEOUT)
                elif answer is not None and not answer.ok:
                    timing.code = answer.code
                    return owned(answer, plugin.name, "Permit"), {}
            if waits:
                timing.code = Code.WAIT
                return Status(
                    Code.WAIT, ("one or more plugins asked to wait and no plugin rejected pod",)
                ), waits
        return SUCCESS, {}

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status:
        """Success when some PreBind plugin has work to do for this pod, Skip when none has."""
        worked = False
        for plugin in self.plugins_at("preBind"):
            if isinstance(plugin, PreBindPreFlight):
                status = self.guard(plugin, "PreBindPreFlight", plugin.pre_bind_pre_flight, cycle, node)
                if not status.ok and status.code is not Code.SKIP:
                    return status
                worked = worked or status.ok
            else:
                worked = True
        return SUCCESS if worked else SKIP

    def pre_bind(self, cycle: Cycle, node: str) -> Status:
        """Run PreBind, in order."""
        return self._each("PreBind", self.plugins_at("preBind"), "pre_bind", cycle, node)

    def bind(self, cycle: Cycle, node: str) -> Status:
        """Ask the bind plugins in order until one does not skip."""
        with self.timed("Bind") as timing:
            status = SKIP
            for plugin in self.plugins_at("bind"):
                status = self.guard(plugin, "Bind", plugin.bind, cycle, node)
                if status.code is not Code.SKIP:
                    break
            timing.code = status.code
        if status.code is Code.SKIP:
            return Status.failure(
                PluginError(f"no bind plugin took the pod: {', '.join(self._names('bind'))}")
            )
        return status

    def post_bind(self, cycle: Cycle, node: str) -> None:
        """Tell every PostBind plugin; one that raises is logged and does not stop the others."""
        with self.timed("PostBind"):
            for plugin in self.plugins_at("postBind"):
                self.guard(plugin, "PostBind", plugin.post_bind, cycle, node)

    def _each(self, point: str, plugins: Iterable[Any], method: str, cycle: Cycle, node: str) -> Status:
        with self.timed(point) as timing:
            for plugin in plugins:
                status = self.guard(plugin, point, getattr(plugin, method), cycle, node)
                if not status.ok:
                    timing.code = status.code
                    return status
        return SUCCESS

    def _names(self, point: str) -> list[str]:
        return [quoted(plugin.name) for plugin in self.plugins_at(point)]
