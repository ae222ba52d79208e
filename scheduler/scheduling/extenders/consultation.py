"""Consultation: the extenders asked about one pod, with the lock released while they think.

::

    decide ──names──> gather what to send ──release the lock──> ask ──take the lock──> decide goes on
                                               │                          └─ the cluster was changed: Overtaken
                                               └─ meanwhile webhook, explanations and health go on

An answer is kept as long as the attempt lasts. When the decision is made again, over a cluster that is not what it was, the kept
answer is applied to what is there now: nodes that were not asked about are left out of this attempt, as if they had come a moment
later. So an attempt asks each question once, and ends, however busy the cluster is.

Upstream: ``findNodesThatPassExtenders``, ``prioritizeNodes``, ``callExtenders``.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from scheduler.apis.objects import original_of
from scheduler.framework.extenders import Away, Sifted, Victims
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.runner import PluginError, quoted
from scheduler.framework.status import Status
from scheduler.metrics import Metrics
from scheduler.scheduling.extenders.extender import ExtenderError, HTTPExtender, Originals
from scheduler.scheduling.extenders.wire import FilterResult

logger = logging.getLogger(__name__)

T = TypeVar("T")


@dataclass(slots=True)
class _Kept:
    """What has been answered so far; an error is an answer, too."""

    sifted: dict[bool, Sifted | PluginError] = field(default_factory=dict)
    scores: list[tuple[str, Mapping[str, int]]] | None = None
    victims: list[Victims] | PluginError | None = None


class Consultation:
    """Asks extenders about one pod (see ``framework.extenders.Extenders``). For the scheduling thread, under the lock.

    Args:
        extenders: in the order in which they are asked.
    """

    def __init__(self, extenders: Sequence[HTTPExtender], away: Away, metrics: Metrics) -> None:
        self._extenders = extenders
        self._away = away
        self._metrics = metrics
        self._kept = _Kept()
        self.filters = any(one.filters for one in extenders)
        self.scores = any(one.prioritizes for one in extenders)

    def filter(self, pod: PodInfo, nodes: Nodes, names: Sequence[str], *, nominated: bool) -> Sifted:
        """See ``Extenders``."""
        asked = [one for one in self._extenders if one.filters and one.interested(pod.pod)]
        if not asked:
            return Sifted(names, {})
        if nominated not in self._kept.sifted:
            body, original = original_of(pod.pod), _originals(asked, nodes)
            with self._away():
                self._kept.sifted[nominated] = _sift(asked, body, names, original)
        return _among(names, _unless_failed(self._kept.sifted[nominated]))

    def prioritize(
        self, pod: PodInfo, nodes: Nodes, names: Sequence[str]
    ) -> Sequence[tuple[str, Mapping[str, int]]]:
        """See ``Extenders``. One that fails gives nothing."""
        asked = [one for one in self._extenders if one.prioritizes and one.interested(pod.pod)]
        if self._kept.scores is None and asked:
            body, original = original_of(pod.pod), _originals(asked, nodes)
            with self._away():
                self._kept.scores = self._score(asked, pod, lambda one: one.prioritize(body, names, original))
        return self._kept.scores or ()

    def preempt(self, pod: PodInfo, nodes: Nodes, candidates: Sequence[Victims]) -> Sequence[Victims]:
        """See ``Extenders``."""
        asked = [one for one in self._extenders if one.preempts and one.interested(pod.pod)]
        if not asked:
            return candidates
        if self._kept.victims is None:
            pods = dict(zip(nodes.names, nodes.pods_by_row, strict=True))
            with self._away():
                self._kept.victims = _preempt(asked, original_of(pod.pod), candidates, pods)
        return [each for each in _unless_failed(self._kept.victims) if _there(nodes, each)]

    def _score(
        self,
        asked: Sequence[HTTPExtender],
        pod: PodInfo,
        ask: Callable[[HTTPExtender], Mapping[str, int]],
    ) -> list[tuple[str, Mapping[str, int]]]:
        """Ask all of them at a time: the last in this thread, the others in threads of their own."""
        answers: list[Mapping[str, int]] = [{} for _ in asked]

        def run(place: int) -> None:
            one = asked[place]
            try:
                with self._metrics.running("prioritizing_extender"):
                    answers[place] = ask(one)
            except ExtenderError as error:
                logger.info("extender %s gives no scores for pod %s: %s", one.name, pod.pod.full_name, error)
            except Exception:
                logger.exception("a bug ended the call of extender %s", one.name)

        others = [threading.Thread(target=run, args=(place,), daemon=True) for place in range(len(asked) - 1)]
        for thread in others:
            thread.start()
        run(len(asked) - 1)
        for thread in others:
            thread.join()
        return [(one.name, answer) for one, answer in zip(asked, answers, strict=True)]


def _originals(asked: Sequence[HTTPExtender], nodes: Nodes) -> Originals:
    """The JSON of nodes by name, of the nodes as they are now: read it while the lock is released."""
    wanted = not all(one.knows_nodes for one in asked)
    objects = dict(zip(nodes.names, nodes.objects, strict=True)) if wanted else {}
    return lambda name: original_of(objects[name])


def _sift(
    asked: Sequence[HTTPExtender], pod: bytes, names: Sequence[str], original: Originals
) -> Sifted | PluginError:
    """Ask one after the other, each about what the one before left."""
    refusals: dict[str, Status] = {}
    for one in asked:
        if not names:
            break
        try:
            names, result = one.filter(pod, names, original)
        except ExtenderError as error:
            if one.ignorable:
                _skipped(one, error)
                continue
            return PluginError(str(error))
        refusals.update(_statuses(result))
    return Sifted(names, refusals)


def _statuses(result: FilterResult) -> dict[str, Status]:
    """Why nodes were refused; what no eviction can cure wins."""
    statuses = {node: Status.unschedulable(reason) for node, reason in result.failed.items()}
    statuses.update((node, Status.unresolvable(reason)) for node, reason in result.unresolvable.items())
    return statuses


def _among(names: Sequence[str], sifted: Sifted) -> Sifted:
    """The answer as far as it is about these nodes."""
    there = set(names)
    return Sifted([name for name in sifted.names if name in there], sifted.refusals)


def _preempt(
    asked: Sequence[HTTPExtender],
    pod: bytes,
    victims: Sequence[Victims],
    pods: Mapping[str, Sequence[PodInfo]],
) -> list[Victims] | PluginError:
    """Ask one after the other, each about the nodes and victims that the one before left."""
    left = list(victims)
    for one in asked:
        try:
            left = _with_victims(one, one.preempt(pod, left, pods, lambda info: original_of(info.pod)))
        except ExtenderError as error:
            if one.ignorable:
                _skipped(one, error)
                continue
            return PluginError(str(error))
        if not left:
            break
    return left


def _with_victims(extender: HTTPExtender, answer: Sequence[Victims]) -> list[Victims]:
    for each in answer:
        if not each.pods and not extender.ignorable:
            raise ExtenderError(f"expected at least one victim pod on node {quoted(each.node)}")
    return [each for each in answer if each.pods]


def _there(nodes: Nodes, victims: Victims) -> bool:
    """Whether the node and all victims are still there."""
    row = nodes.row_of(victims.node)
    if row is None:
        return False
    uids = {pod.uid for pod in nodes.pods(row)}
    return all(pod.uid in uids for pod in victims.pods)


def _skipped(extender: HTTPExtender, error: ExtenderError) -> None:
    logger.warning("extender %s failed and is ignored: %s", extender.name, error)


def _unless_failed(answer: T | PluginError) -> T:
    if isinstance(answer, PluginError):
        raise answer
    return answer
