"""Framework: runs the enabled plugins of one profile, point by point.

Each method runs one extension point and returns a value; what an attempt makes of it is ``algorithm``'s and the scheduling
loop's business. The points that decide are here, those that act are in ``lifecycle``; how a single plugin is called, and what its
bugs become, is in ``runner``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ClusterEventWithHint
from scheduler.framework.extenders import EXTENDER, ExtenderSet
from scheduler.framework.interface import (
    MAX_NODE_SCORE,
    MIN_NODE_SCORE,
    CatalogReader,
    EnqueueExtensions,
    NormalizePlugin,
    PreFilterExtensions,
    PreFilterResult,
    QueuedPod,
)
from scheduler.framework.lifecycle import Lifecycle
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import Failure, Scores
from scheduler.framework.pods import PodInfo
from scheduler.framework.profile import Plugins
from scheduler.framework.rejections import BoolColumn, Column, Rejections
from scheduler.framework.runner import PluginError, as_status, failed, quoted
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.metrics import Metrics


class Framework(Lifecycle):
    """The plugins of one profile, all points.

    Args:
        profile_name, plugins, metrics: see ``Runner``.
        percentage_of_nodes_to_score: stop looking once this share of the nodes passed; 0 looks at all of them.
        extenders: who is asked beside the plugins; their refusals any event may change.
    """

    def __init__(
        self,
        profile_name: str,
        plugins: Plugins,
        metrics: Metrics,
        *,
        percentage_of_nodes_to_score: int = 0,
        extenders: ExtenderSet | None = None,
    ) -> None:
        super().__init__(profile_name, plugins, metrics)
        self.extenders = extenders
        self.percentage_of_nodes_to_score = percentage_of_nodes_to_score
        # Asking a runtime protocol costs more than some plugins' work, so it is asked once.
        self._normalizing = {one.name for one in self.plugins_at("score") if isinstance(one, NormalizePlugin)}
        self._counting: list[Any] = [
            one for one in self.plugins_at("preFilter") if isinstance(one, PreFilterExtensions)
        ]
        self._mixing = [one for one in self._counting if not getattr(one, "rows_apart", False)]

    # What is enabled

    @property
    def plugins(self) -> Mapping[str, Any]:
        """Every plugin of the profile, by name."""
        return self._plugins.by_name

    @property
    def weights(self) -> Mapping[str, int]:
        """The score plugins' weights."""
        return self._plugins.weights

    def sort_key(self, queued: QueuedPod) -> Any:
        """The active queue's key for a pod."""
        return self._at["queueSort"][0].sort_key(queued)

    def events_to_register(self) -> Iterator[tuple[str, Sequence[ClusterEventWithHint] | None]]:
        """Each plugin's events; None for a plugin that does not say, which is asked again after every event."""
        for name, plugin in self._plugins.by_name.items():
            if isinstance(plugin, EnqueueExtensions):
                yield name, plugin.events_to_register()
            elif any(
                plugin in self._at[point]
                for point in ("preEnqueue", "preFilter", "filter", "reserve", "permit")
            ):
                yield name, None
        if self.extenders is not None:
            yield EXTENDER, None

    @property
    def reads(self) -> frozenset[type[Any]]:
        """The kinds that the plugins say they read in the catalog."""
        readers = (one for one in self._plugins.by_name.values() if isinstance(one, CatalogReader))
        return frozenset(kind for reader in readers for kind in reader.reads)

    # Filtering

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> tuple[Status, frozenset[str] | None, list[str]]:
        """Run PreFilter: the status, the node names left (None: all), and the plugins that narrowed them, sorted.

        An unresolvable refusal ends the run; after an Unschedulable one the others still run, since preemption will need
        their notes (upstream: ``RunPreFilterPlugins``).

        Raises:
            PluginError: a plugin failed.
        """
        names: frozenset[str] | None = None
        narrowing: list[str] = []
        skipped: set[str] = set()
        refusal = SUCCESS
        cycle.skipped_filters = skipped
        with self.timed("PreFilter") as timing:
            for plugin in self._at["preFilter"]:
                status, chosen = self._pre_filter(plugin, cycle, nodes)
                if status.code is Code.SKIP:
                    skipped.add(plugin.name)
                elif status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
                    refusal, names, narrowing = status, None, []
                    break
                elif status.rejected:
                    refusal = status
                elif chosen is not None:
                    narrowing = sorted({*narrowing, plugin.name})
                    names = chosen if names is None else names & chosen
                    if not names:
                        refusal = Status.unresolvable(_unsatisfied(narrowing))
                        break
            timing.code = refusal.code
        return refusal, names, narrowing

    def _pre_filter(self, plugin: Any, cycle: Cycle, nodes: Nodes) -> tuple[Status, frozenset[str] | None]:
        """One plugin's answer: a status, and the names that it leaves, None when it leaves all."""
        answer = self.call(plugin, "PreFilter", cycle, plugin.pre_filter, cycle, nodes)
        chosen = None
        if isinstance(answer, PreFilterResult):
            chosen, answer = answer.node_names, None
            if not isinstance(chosen, frozenset | None):
                raise failed(plugin.name, "PreFilter", "node_names must be a frozenset or None")
        status = as_status(answer, plugin.name, "PreFilter")
        if status.code is Code.PENDING:
            raise failed(plugin.name, "PreFilter", status.message or "unexpected status Pending")
        if status.code is not Code.SKIP:
            self.metrics.plugin_evaluated(plugin.name, "PreFilter", self.profile_name)
        return status, chosen

    def filter(self, cycle: Cycle, nodes: Nodes, alive: BoolColumn) -> list[Failure]:
        """Run the filters over all rows; ``alive`` (bool[rows]) is cleared where one rejects.

        The first plugin that rejects a row owns it. Rows that are dead on entry are judged but not reported.

        Raises:
            PluginError: a plugin failed.
        """
        failures: list[Failure] = []
        left = int(np.count_nonzero(alive))
        for plugin in self._at["filter"]:
            if plugin.name in cycle.skipped_filters:
                continue
            if not left:
                break
            answer = self.call(plugin, "Filter", cycle, plugin.filter, cycle, nodes)
            self.metrics.plugin_evaluated(plugin.name, "Filter", self.profile_name, left)
            if answer is None:
                continue
            rejections = _checked_rejections(plugin.name, answer, len(nodes))
            rows = np.flatnonzero(alive & rejections.rejected)
            if len(rows):
                failures.append(Failure(plugin.name, rows, rejections.take(rows)))
                alive[rows] = False
                left -= len(rows)
        return failures

    def counts_pods(self, cycle: Cycle) -> bool:
        """Whether a pod put on one row of a what-if may change the verdict on another: some plugin does not keep rows apart."""
        return any(plugin.name not in cycle.skipped_filters for plugin in self._mixing)

    def add_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status:
        """Tell the pre-filter extensions that a what-if put ``pod`` on a row."""
        return self._extensions("PreFilterExtensionAddPod", "add_pod", cycle, pod, nodes, row)

    def remove_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status:
        """Tell the pre-filter extensions that a what-if took ``pod`` off a row."""
        return self._extensions("PreFilterExtensionRemovePod", "remove_pod", cycle, pod, nodes, row)

    def _extensions(
        self, point: str, method: str, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int
    ) -> Status:
        for plugin in self._counting:
            if plugin.name in cycle.skipped_filters:
                continue
            status = self.guard(plugin, point, cycle, getattr(plugin, method), cycle, pod, nodes, row)
            if not status.ok:
                return status
        return SUCCESS

    # Scoring

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status:
        """Run PreScore over the rows that passed: Success, or an Error, which a refusal is here."""
        skipped: set[str] = set()
        with self.timed("PreScore") as timing:
            for plugin in self._at["preScore"]:
                status = self.guard(plugin, "PreScore", cycle, plugin.pre_score, cycle, nodes)
                if status.code is Code.SKIP:
                    skipped.add(plugin.name)
                    continue
                self.metrics.plugin_evaluated(plugin.name, "PreScore", self.profile_name)
                if not status.ok:
                    timing.code = Code.ERROR
                    return status if status.error else _as_error(status, plugin.name)
        cycle.skipped_scores = frozenset(skipped)
        return SUCCESS

    def score(self, cycle: Cycle, nodes: Nodes) -> Scores:
        """Run Score and Normalize, weigh and add up.

        Raises:
            PluginError: a plugin failed, or a score is outside 0..100 after normalizing.
        """
        raw: dict[str, Column] = {}
        weighted: dict[str, Column] = {}
        total = np.zeros(len(nodes), np.int64)
        with self.timed("Score"):
            for plugin in self._at["score"]:
                if plugin.name in cycle.skipped_scores:
                    continue
                column = self._scores(plugin, "Score", cycle, plugin.score, cycle, nodes)
                self.metrics.plugin_evaluated(plugin.name, "Score", self.profile_name, len(nodes))
                raw[plugin.name] = column
                if plugin.name in self._normalizing:
                    column = self._scores(
                        plugin, "ScoreExtensionNormalize", cycle, plugin.normalize, cycle, column
                    )
                _check_range(plugin.name, column)
                weighted[plugin.name] = column * self._plugins.weights[plugin.name]
                total += weighted[plugin.name]
        return Scores(nodes, total, raw, weighted)

    def _scores(
        self, plugin: Any, point: str, cycle: Cycle, method: Callable[..., Any], *arguments: Any
    ) -> Column:
        """int64[rows]: what the plugin answered, narrower integers widened."""
        answer = self.call(plugin, point, cycle, method, *arguments)
        shape = (len(arguments[-1]),)
        if not isinstance(answer, np.ndarray) or answer.shape != shape or answer.dtype.kind not in "iu":
            raise failed(plugin.name, point, f"it returned {_kind(answer)}, not int64[{shape[0]}]")
        return answer.astype(np.int64, copy=False)


def _checked_rejections(plugin: str, answer: object, rows: int) -> Rejections:
    if not isinstance(answer, Rejections):
        raise failed(plugin, "Filter", f"it returned {_kind(answer)}, not Rejections")
    if answer.bits.shape != (rows,) or answer.bits.dtype.kind not in "uibO":
        raise failed(plugin, "Filter", f"its bits are {_kind(answer.bits)}, not uint64[{rows}]")
    return answer


def _kind(answer: object) -> str:
    if isinstance(answer, np.ndarray):
        return f"{answer.dtype}[{', '.join(map(str, answer.shape))}]"
    return type(answer).__name__


def _as_error(status: Status, plugin: str) -> Status:
    return Status.failure(failed(plugin, "PreScore", status.message))


def _unsatisfied(plugins: Sequence[str]) -> str:
    if len(plugins) == 1:
        return f"node(s) didn't satisfy plugin {plugins[0]}"
    return f"node(s) didn't satisfy plugin(s) [{' '.join(plugins)}] simultaneously"


def _check_range(plugin: str, scores: Column) -> None:
    if len(scores) and (scores.max() > MAX_NODE_SCORE or scores.min() < MIN_NODE_SCORE):
        wrong = scores[(scores > MAX_NODE_SCORE) | (scores < MIN_NODE_SCORE)][0]
        raise PluginError(
            f"applying score defaultWeights on Score plugins: plugin {quoted(plugin)} returns an invalid score {wrong}, "
            f"it should in the range of [{MIN_NODE_SCORE}, {MAX_NODE_SCORE}] after normalizing"
        )
