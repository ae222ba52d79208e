"""NodeAffinity: the node's labels and name must be what the pod requires, and how many preferences they meet is a score.

``spec.nodeSelector`` and the required node affinity must both match; of the affinity's terms one suffices. A profile may
require and prefer more for all of its pods (``addedAffinity``).

Quirks: a required term that cannot be parsed matches nothing, and nobody is told; a preferred one fails the attempt. Required
terms that all name nodes (``matchFields`` on ``metadata.name``) narrow the search to these nodes; when their names exclude
each other, the pod is refused without looking.

Upstream: ``plugins/nodeaffinity``, ``component-helpers/scheduling/corev1/nodeaffinity``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler.apis.config.args import NodeAffinityArgs
from scheduler.apis.fielderror import FieldError, aggregate
from scheduler.apis.node_selectors import NODE_NAME_FIELD
from scheduler.apis.objects import Node, NodeSelector, Pod, PreferredSchedulingTerm
from scheduler.apis.objects import NodeAffinity as NodeAffinitySpec
from scheduler.apis.selectors import (
    CompiledNodeSelector,
    Selector,
    WeightedTerm,
    compile_node_selector,
    compile_preferred_terms,
    selector_from_set,
)
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.interface import Handle, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import BoolColumn, Column, Reason, Rejections
from scheduler.framework.status import Code, Status
from scheduler.plugins.helper.node_selection import matching_any, matching_labels, matching_term
from scheduler.plugins.helper.normalize import default_normalize

ENFORCED: Final = Reason(
    "node(s) didn't match scheduler-enforced node affinity", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)
MISMATCH: Final = Reason(
    "node(s) didn't match Pod's node affinity/selector", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)
CONFLICT: Final = "pod affinity terms conflict"
_REQUIRED: Final = "NodeAffinity/required"
_PREFERRED: Final = "NodeAffinity/preferred"


class NodeAffinity:
    """Rejects and ranks nodes by their labels and names."""

    name: Final = "NodeAffinity"

    def __init__(self, args: NodeAffinityArgs, handle: Handle) -> None:
        """The added affinity comes from the arguments.

        Raises:
            ValueError: the added affinity cannot be parsed.
        """
        self._added: CompiledNodeSelector | None = None
        self._added_preferred: Sequence[WeightedTerm] | None = None
        added = args.added_affinity
        if added is not None and added.required is not None:
            self._added = compile_node_selector(added.required)
            _refuse("required", self._added.errors)
        if added is not None and added.preferred:
            self._added_preferred, errors = compile_preferred_terms(added.preferred)
            _refuse("preferred", errors)

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node appeared or its labels changed."""
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        return (ClusterEventWithHint(node, self.after_node_change),)

    def after_node_change(self, pod: Pod, old: Node | None, new: Node) -> QueueingHint:
        """The node matches, and it is new or did not match before; what cannot be parsed is tried again."""
        labels, name = new.metadata.labels, new.metadata.name
        if self._added is not None and not self._added.match(labels, name)[0]:
            return QueueingHint.SKIP
        required = required_affinity(pod)
        matches, errors = required.match(labels, name)
        if not matches:
            return QueueingHint.QUEUE if errors else QueueingHint.SKIP
        if old is None:
            return QueueingHint.QUEUE
        matched, _ = required.match(old.metadata.labels, old.metadata.name)
        return QueueingHint.SKIP if matched else QueueingHint.QUEUE

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """Skip pods that require nothing; narrow the search to the nodes that the terms name."""
        required = required_affinity(cycle.pod)
        if self._added is None and not required.restricts:
            return Status.skip()
        cycle.state[_REQUIRED] = required
        names = named_nodes(cycle.pod)
        if names is None:
            return None
        return PreFilterResult(names) if names else Status.unresolvable(CONFLICT)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows that do not match the added affinity, and those that do not match the pod's."""
        required: RequiredAffinity = cycle.state.get(_REQUIRED) or required_affinity(cycle.pod)
        mismatched = ~required.matching(nodes)
        if self._added is None:
            return Rejections.where(mismatched, MISMATCH)
        excluded = ~matching_any(nodes, self._added.terms)
        return Rejections.collect(((excluded, ENFORCED), (mismatched & ~excluded, MISMATCH)))

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Skip pods that prefer nothing; an unreadable preference is an error."""
        if not _preferred(cycle.pod) and self._added_preferred is None:
            return Status.skip()
        try:
            cycle.state[_PREFERRED] = preferred_terms(cycle.pod)
        except ValueError as error:
            return Status.failure(error)
        return None

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: the weights of the matching preferences, added up."""
        terms: Sequence[WeightedTerm] = cycle.state.get(_PREFERRED) or preferred_terms(cycle.pod)
        total = np.zeros(len(nodes), np.int64)
        for wanted in (*(self._added_preferred or ()), *terms):
            total += matching_term(nodes, wanted.term) * np.int64(wanted.weight)
        return total

    def normalize(self, cycle: Cycle, scores: Column) -> Column:
        """int64[rows]: 100 for the largest sum."""
        return default_normalize(scores, reverse=False)


@dataclass(frozen=True, slots=True)
class RequiredAffinity:
    """What a pod requires of its node: ``spec.nodeSelector`` and the required affinity, None without one."""

    labels: Selector
    affinity: CompiledNodeSelector | None

    @property
    def restricts(self) -> bool:
        """Whether anything is required."""
        return self.affinity is not None or not self.labels.empty

    def match(self, labels: Mapping[str, str], name: str) -> tuple[bool, tuple[FieldError, ...]]:
        """Whether one node matches; the faults of the terms when none does."""
        if not self.labels.matches(labels):
            return False, ()
        return (True, ()) if self.affinity is None else self.affinity.match(labels, name)

    def matching(self, nodes: Nodes) -> BoolColumn:
        """bool[rows]: the nodes that match."""
        found = matching_labels(nodes, self.labels.requirements)
        return found if self.affinity is None else found & matching_any(nodes, self.affinity.terms)


def required_affinity(pod: Pod) -> RequiredAffinity:
    """What the pod requires (upstream: ``GetRequiredNodeAffinity``)."""
    required = _required(pod)
    return RequiredAffinity(
        selector_from_set(pod.spec.node_selector),
        None if required is None else compile_node_selector(required),
    )


def preferred_terms(pod: Pod) -> Sequence[WeightedTerm]:
    """What the pod prefers.

    Raises:
        ValueError: a preference cannot be parsed.
    """
    terms, errors = compile_preferred_terms(_preferred(pod))
    if errors:
        raise ValueError(aggregate(errors))
    return terms


def named_nodes(pod: Pod) -> frozenset[str] | None:
    """The nodes that the required terms name; None when some term names none, or there is no term."""
    required = _required(pod)
    terms = () if required is None else required.node_selector_terms
    names: set[str] = set()
    for term in terms:
        wanted = [
            frozenset(field.values)
            for field in term.match_fields
            if field.key == NODE_NAME_FIELD and field.operator == "In"
        ]
        if not wanted:
            return None
        names |= frozenset.intersection(*wanted)
    return frozenset(names) if terms else None


def _node_affinity(pod: Pod) -> NodeAffinitySpec | None:
    return pod.spec.affinity.node_affinity if pod.spec.affinity else None


def _required(pod: Pod) -> NodeSelector | None:
    affinity = _node_affinity(pod)
    return None if affinity is None else affinity.required


def _preferred(pod: Pod) -> Sequence[PreferredSchedulingTerm]:
    affinity = _node_affinity(pod)
    return () if affinity is None else affinity.preferred


def _refuse(field: str, errors: Sequence[FieldError]) -> None:
    if errors:
        raise ValueError(
            f"parsing addedAffinity.{field}DuringSchedulingIgnoredDuringExecution: {aggregate(errors)}"
        )
