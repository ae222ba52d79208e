"""The plugin: required terms filter nodes, preferred ones score them; both count for the waiting pod and against it.

A node is rejected for the first of these reasons that holds: the pod misses required company (no eviction brings it, so the
code is unresolvable), it would stand next to pods that it avoids, or next to pods that avoid it.

Quirks: a pod whose terms cannot be parsed is unresolvable before any node is looked at. Pods that require nothing and that
nobody avoids are skipped. The score is skipped when no preference touches any domain; a preference of weight 0 touches.
``ignorePreferredTermsOfExistingPods`` concerns only pods without preferences of their own.

Upstream: ``plugins/interpodaffinity``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler.apis.config.args import InterPodAffinityArgs
from scheduler.apis.fielderror import aggregate
from scheduler.apis.objects import Namespace, Node, Pod
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.interface import MAX_NODE_SCORE, Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Column, Reason, Rejections
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.inter_pod_affinity import hints
from scheduler.plugins.inter_pod_affinity.domains import Domains
from scheduler.plugins.inter_pod_affinity.existing import TermIndex
from scheduler.plugins.inter_pod_affinity.filtering import Census, Requirements, take_census
from scheduler.plugins.inter_pod_affinity.namespaces import Namespaces
from scheduler.plugins.inter_pod_affinity.scoring import Weights
from scheduler.plugins.inter_pod_affinity.terms import (
    AffinityTerm,
    PodTerms,
    WeightedTerm,
    compiled_terms,
    has_preferences,
    preferences,
    required_affinity,
    required_anti_affinity,
)

AFFINITY: Final = Reason("node(s) didn't match pod affinity rules", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
ANTI_AFFINITY: Final = Reason("node(s) didn't match pod anti-affinity rules")
EXISTING_ANTI_AFFINITY: Final = Reason("node(s) didn't satisfy existing pods anti-affinity rules")
_NO_CENSUS: Final = Reason('error reading "PreFilterInterPodAffinity" from cycleState: not found', Code.ERROR)
"""What upstream answers when a profile runs the filter without its PreFilter."""

_CENSUS: Final = "InterPodAffinity/census"
_WEIGHTS: Final = "InterPodAffinity/weights"


class InterPodAffinity:
    """Rejects and ranks nodes by the pods that run in the same place."""

    name: Final = "InterPodAffinity"
    reads: Final = (Namespace,)
    rows_apart: Final = True

    def __init__(self, args: InterPodAffinityArgs, handle: Handle) -> None:
        """The weight of required affinity in the score, and whose preferences count, come from the arguments."""
        self._args = args
        self._namespaces = Namespaces(handle.catalog.namespaces)
        self._matching = MatchingPods()
        self._averse = TermIndex(required_anti_affinity, _itself, self._namespaces)
        self._attached = TermIndex(required_affinity, _itself, self._namespaces)
        self._preferring = TermIndex(preferences, _term_of, self._namespaces)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """Pods came, went or got other labels; a node appeared or got other labels."""
        pod = ClusterEvent(
            EventResource.POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE
        )
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (
            ClusterEventWithHint(pod, self.after_pod_event),
            ClusterEventWithHint(node, self.after_node_change),
        )

    def after_pod_event(self, pod: Pod, old: Pod | None, new: Pod | None) -> QueueingHint:
        """See ``hints.after_pod_event``."""
        return hints.after_pod_event(self._namespaces, pod, old, new)

    def after_node_change(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        """See ``hints.after_node_change``."""
        return hints.after_node_change(pod, old, new)

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Count pods by domain; skip the pod when no required term of anybody concerns it."""
        terms = compiled_terms(cycle.pod_info)
        if terms.errors:
            return Status.unresolvable(f"parsing pod: {aggregate(terms.errors)}")
        requirements = Requirements.of(cycle.pod, terms, self._namespaces)
        census = take_census(nodes, requirements, self._matching, self._averse)
        if not requirements.restricts and not census.averse:
            return Status.skip()
        cycle.state[_CENSUS] = census
        return None

    def add_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status | None:
        """Count the pod in."""
        cycle.state[_CENSUS].change(pod, nodes, row, 1)
        return None

    def remove_pod(self, cycle: Cycle, pod: PodInfo, nodes: Nodes, row: int) -> Status | None:
        """Count the pod out."""
        cycle.state[_CENSUS].change(pod, nodes, row, -1)
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows where a required term is not kept, each with the first reason."""
        census: Census | None = cycle.state.get(_CENSUS)
        if census is None:
            return Rejections.where(np.ones(len(nodes), np.bool_), _NO_CENSUS)
        judged = (
            (census.lonely(nodes), AFFINITY),
            (census.apart.positive_in_any(nodes), ANTI_AFFINITY),
            (census.averse.positive_in_any(nodes), EXISTING_ANTI_AFFINITY),
        )
        return Rejections.collect(_first_of([(mask, reason) for mask, reason in judged if mask is not None]))

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Add up weights by domain; skip the pod when no preference of anybody concerns it."""
        if self._args.ignore_preferred_terms_of_existing_pods and not has_preferences(cycle.pod):
            return Status.skip()
        terms = compiled_terms(cycle.pod_info)
        if terms.errors:
            return Status.failure(ValueError(f"failed to parse pod: {aggregate(terms.errors)}"))
        weights = self._weights(cycle.pod, terms, nodes)
        if not weights.touched:
            return Status.skip()
        cycle.state[_WEIGHTS] = weights.by_domain()
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: the weights of the row's domains."""
        weights: Domains | None = cycle.state.get(_WEIGHTS)
        if weights is None:
            raise RuntimeError('failed to read "PreScoreInterPodAffinity" from cycleState: not found')
        return weights.sums(nodes)

    def normalize(self, cycle: Cycle, scores: Column) -> Column:
        """int64[rows]: 0 for the lowest sum, 100 for the highest, in upstream's floats; all 0 when they are equal."""
        if not len(scores):
            return scores
        lowest = scores.min()
        span = scores.max() - lowest
        if span <= 0:
            return np.zeros(len(scores), np.int64)
        shares: Column = (
            float(MAX_NODE_SCORE) * ((scores - lowest).astype(np.float64) / np.float64(span))
        ).astype(np.int64)
        return shares

    def _weights(self, pod: Pod, terms: PodTerms, nodes: Nodes) -> Weights:
        weights = Weights(nodes)
        weights.add_liked(terms.preferred, self._namespaces, self._matching)
        weights.add_liking(*self._preferring.meaning(pod, nodes), _worth)
        hard = self._args.hard_pod_affinity_weight
        if hard > 0:
            weights.add_liking(*self._attached.meaning(pod, nodes), lambda term: (term.topology_key, hard))
        return weights


def _itself(term: AffinityTerm) -> AffinityTerm:
    return term


def _term_of(weighted: WeightedTerm) -> AffinityTerm:
    return weighted.term


def _worth(weighted: WeightedTerm) -> tuple[str, int]:
    return weighted.term.topology_key, weighted.weight


def _first_of(judged: Sequence[tuple[BoolColumn, Reason]]) -> Sequence[tuple[BoolColumn, Reason]]:
    """The same, each row only under the first reason that rejects it."""
    left: list[tuple[BoolColumn, Reason]] = []
    taken: BoolColumn | None = None
    for mask, reason in judged:
        left.append((mask if taken is None else mask & ~taken, reason))
        taken = mask if taken is None else taken | mask
    return left
