"""Filter and prioritize: plain functions over the cluster's state and one request.

``examine`` and ``rate`` run under the lock of the state; what they return is read without it. Which table they look at is told by
``scene``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from extender.scene import set_scene
from scheduler.apis.objects import Node
from scheduler.framework.algorithm import judge, prioritize
from scheduler.framework.columns import Rows
from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import MAX_NODE_SCORE
from scheduler.framework.outcome import Failure, FilterOutcome, Scores
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Column
from scheduler.framework.runner import PluginError
from scheduler.framework.runtime import Framework
from scheduler.framework.status import Code, Status
from scheduler.scheduling.world import State

MAX_EXTENDER_PRIORITY = 10
UNKNOWN_NODE = "node is not known to this scheduler"


class UnknownProfileError(LookupError):
    """No profile of that name; the text lists those there are."""


@dataclass(frozen=True, slots=True)
class Examination:
    """What the filters said.

    Attributes:
        judged: the nodes asked about that are known.
        outcome: of these.
        unreadable: nodes that were sent and could not be read, each with the reason.
    """

    judged: Sequence[str]
    outcome: FilterOutcome
    unreadable: Mapping[str, str]


@dataclass(slots=True)
class Verdict:
    """A filter's answer.

    Attributes:
        passed: names, in the order asked.
        failed: the reasons of nodes where evictions, or time, may help.
        unresolvable: the reasons of nodes where evictions would not help.
        rejected: how many nodes each plugin rejected; the empty name: nodes that are unknown, or cannot be read.
    """

    passed: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    unresolvable: dict[str, str] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)


def framework_of(state: State, asked: str | None, scheduler_name: str, default: str | None) -> Framework:
    """The profile that judges: the one asked for, else the pod's own, else the default, else the first.

    Raises:
        UnknownProfileError: the profile asked for, or the default, is not among this process's.
    """
    frameworks = state.frameworks
    name = asked
    if name is None:
        name = scheduler_name if scheduler_name in frameworks else default or next(iter(frameworks), "")
    if name not in frameworks:
        known = ", ".join(map(repr, frameworks)) or "none"
        raise UnknownProfileError(f"there is no profile {name!r} here; the profiles are: {known}")
    return frameworks[name]


def examine(
    state: State, framework: Framework, pod: PodInfo, names: Sequence[str], sent: Sequence[Node] = ()
) -> Examination:
    """Run PreFilter and the filters for the nodes named; ``sent`` are those that look otherwise here.

    Raises:
        PluginError: a plugin failed.
    """
    nodes, rows, unreadable = set_scene(state, pod, names, sent)
    known = nodes.names
    judged = [known[row] for row in rows.tolist()]
    if judged:
        outcome = judge(framework, Cycle(pod), nodes, rows, state.nominated)
    else:
        outcome = FilterOutcome(nodes.take(rows), nodes.total, np.zeros(0, np.bool_))
    return Examination(judged, outcome, unreadable)


def verdict(examination: Examination, names: Sequence[str]) -> Verdict:
    """Sort the nodes by what was said of them, in kube-scheduler's words."""
    answer = Verdict()
    for status, refused in _refusals(examination, names):
        beyond_help = status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
        reasons = answer.unresolvable if beyond_help else answer.failed
        reasons.update(dict.fromkeys(refused, status.message))
        answer.rejected[status.plugin] += len(refused)
    refused_names = answer.failed.keys() | answer.unresolvable.keys()
    answer.passed = [name for name in names if name not in refused_names]
    return answer


def rate(
    state: State, framework: Framework, pod: PodInfo, names: Sequence[str], sent: Sequence[Node] = ()
) -> Sequence[int]:
    """Score the nodes named, 0 to 10, in the order of the names; the filters' verdict is not asked for again. Unknown nodes get 0.

    PreFilter runs, since scores read what it notes; with a pod that it refuses all get 0.

    Raises:
        PluginError: a plugin failed.
    """
    nodes, rows, _ = set_scene(state, pod, names, sent)
    cycle = Cycle(pod)
    status, _, _ = framework.pre_filter(cycle, nodes)
    if not (status.ok or status.rejected):
        raise PluginError(status.message) from status.error
    if status.rejected or not len(rows):
        return [0] * len(names)
    scores = prioritize(framework, cycle, nodes.take(rows))
    scaled: list[int] = on_extender_scale(scores, framework.weights).tolist()
    if len(scaled) == len(names):
        return scaled
    known = dict(zip(scores.nodes.names, scaled, strict=True))
    return [known.get(name, 0) for name in names]


def on_extender_scale(scores: Scores, weights: Mapping[str, int]) -> Column:
    """int64[rows]: the weighted average of the plugins' scores, 0..100, brought to 0..10 and truncated.

    Eleven steps hold little, so plugins that score all these nodes alike, which changes no order, are left out of the
    average: it uses the plugins that tell the nodes apart, on their full scale. When none does, all of them count.
    """
    telling = {plugin: column for plugin, column in scores.weighted.items() if np.ptp(column)}
    telling = telling or dict(scores.weighted)
    if not telling:
        return np.zeros(len(scores.nodes), np.int64)
    total: Column = np.stack(list(telling.values())).sum(axis=0)
    step = MAX_NODE_SCORE // MAX_EXTENDER_PRIORITY * sum(weights[plugin] for plugin in telling)
    priorities: Column = total // step
    return priorities


def _refusals(examination: Examination, names: Sequence[str]) -> Iterator[tuple[Status, Collection[str]]]:
    """The nodes that did not pass, by status; the outcome has no rows of those that PreFilter left out."""
    judged, outcome = examination.judged, examination.outcome
    if len(judged) < len(names):
        yield from _unjudged(examination, names)
    if not judged:
        return
    if not (outcome.alive.any() or outcome.failures):
        yield outcome.absent, judged
        return
    looked_at = list(outcome.nodes.names)
    if len(looked_at) < len(judged):
        passed_on = set(looked_at)
        yield outcome.absent, [name for name in judged if name not in passed_on]
    for failure in outcome.failures:
        for rows, status in _alike(failure):
            yield status, [looked_at[row] for row in rows.tolist()]


def _unjudged(examination: Examination, names: Sequence[str]) -> Iterator[tuple[Status, Collection[str]]]:
    """Nodes that are not known, or cannot be read."""
    known = set(examination.judged)
    for name in names:
        if name not in known:
            yield Status.unschedulable(examination.unreadable.get(name, UNKNOWN_NODE)), [name]


def _alike(failure: Failure) -> Iterator[tuple[Rows, Status]]:
    """The rows, those with the same reasons together."""
    order = np.argsort(failure.bits, kind="stable")
    bits = failure.bits[order]
    for places in np.split(order, np.flatnonzero(bits[1:] != bits[:-1]) + 1):
        if len(places):
            yield failure.rows[places], failure.rejections.status(int(places[0]), failure.plugin)
