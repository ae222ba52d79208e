"""Pods by their labels: a selector is matched against each distinct set of labels, however many pods carry it.

10,000 pods of 200 workloads have about 200 sets of labels. ``MatchingPods`` remembers which of them a selector matches, and
examines later only those that appeared since::

    groups of the table                              app in (web, shop)     pods that it matches, by row
    (default, {app: web},  not deleting)   rows 0 2         yes               1  0  1  0
    (default, {app: db},   not deleting)   rows 0 1         no
    (default, {app: shop}, deleting)       row  3           yes, unless those being deleted are skipped
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

from scheduler.apis.selectors import Selector
from scheduler.framework.nodes import Nodes
from scheduler.framework.pod_index import PodIndex
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Column

_MOST_QUESTIONS: Final = 256


class LabelGroup(NamedTuple):
    """What the pods of a group have in common: namespace, labels as (key, value) pairs, whether they are being deleted."""

    namespace: str
    labels: frozenset[tuple[str, str]]
    deleting: bool


class Question(NamedTuple):
    """Which pods are asked for. ``namespaces`` None stands for all of them."""

    selector: Selector
    namespaces: frozenset[str] | None
    skip_deleting: bool

    def matches(self, group: LabelGroup) -> bool:
        """Whether the group's pods are meant."""
        if self.namespaces is not None and group.namespace not in self.namespaces:
            return False
        if self.skip_deleting and group.deleting:
            return False
        return self.selector.matches(dict(group.labels))


def label_group(pod: PodInfo) -> tuple[LabelGroup]:
    """The keys of the index of pods by labels: ``nodes.pods_by(label_group)``."""
    meta = pod.pod.metadata
    return (LabelGroup(meta.namespace, frozenset(meta.labels.items()), bool(meta.deletion_timestamp)),)


class MatchingPods:
    """Counts of the pods that selectors match. One per plugin; it remembers the last 256 questions."""

    __slots__ = ("_answers", "_index")

    def __init__(self) -> None:
        self._index: PodIndex[LabelGroup] | None = None
        self._answers: dict[Question, _Answer] = {}

    def counts(
        self, nodes: Nodes, selector: Selector, namespaces: Collection[str] | None, *, skip_deleting: bool
    ) -> Column:
        """int64[rows of ``nodes.whole``]: on each row of the whole table, how many pods the selector matches.

        Args:
            nodes: the table or a selection of it; what a what-if changed in a selection is not seen.
            selector: the empty one matches every pod.
            namespaces: where the pods are; None for everywhere.
            skip_deleting: leave out the pods that are being deleted.
        """
        index = nodes.pods_by(label_group)
        if index is not self._index:
            self._index = index
            self._answers.clear()
        question = Question(selector, None if namespaces is None else frozenset(namespaces), skip_deleting)
        return index.counts(self._answer(question).groups(index), nodes.total)

    def _answer(self, question: Question) -> _Answer:
        answer = self._answers.pop(question, None)
        if answer is None:
            answer = _Answer(question)
            if len(self._answers) >= _MOST_QUESTIONS:
                del self._answers[next(iter(self._answers))]
        self._answers[question] = answer
        return answer


class _Answer:
    """The groups that one question is about, as of the index's version when they were last asked for."""

    __slots__ = ("_groups", "_question", "_version")

    def __init__(self, question: Question) -> None:
        self._question = question
        self._groups: set[LabelGroup] = set()
        self._version = -1

    def groups(self, index: PodIndex[LabelGroup]) -> Iterable[LabelGroup]:
        """Those that exist now; what did not change since the last time is not examined again."""
        if self._version != index.version:
            changed = index.changed_since(self._version)
            if changed is None:
                self._groups.clear()
                changed = index.keys()
            for group in changed:
                if group in index and self._question.matches(group):
                    self._groups.add(group)
                else:
                    self._groups.discard(group)
            self._version = index.version
        return self._groups
