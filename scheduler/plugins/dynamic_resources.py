"""DynamicResources: pods that need devices through resource claims. It decides about pods *without* claims only, so far.

* A pod without claims is none of its business: PreFilter skips it, its score is 0, nothing is reserved or bound for it.
* A pod **with** claims is refused, in words, on every node: claims are not allocated yet, and a pod that was placed as if it had none
  would wait on its node for devices for ever.
* PostFilter has nothing to free, and says so in kube-scheduler's words. Its text stands in front of preemption's in the event of every
  pod that fits nowhere.

Upstream quirk, which real clusters show and which is kept: a plugin in front that refuses the pod at PreFilter leaves this one without its
note, PostFilter then fails with ``not found``, and preemption is not reached (``pod has unbound immediate PersistentVolumeClaims. not found``).

Upstream: ``plugins/dynamicresources``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ClusterEventWithHint
from scheduler.framework.interface import Handle, PostFilterResult, WhatIf
from scheduler.framework.nodes import Nodes
from scheduler.framework.outcome import FilterOutcome
from scheduler.framework.rejections import Column, Reason, Rejections
from scheduler.framework.status import SKIP, Code, Status
from scheduler.plugins.helper.normalize import default_normalize
from scheduler.plugins.helper.notes import without_note

_UNSUPPORTED = Reason("resource claims are not supported yet", Code.UNSCHEDULABLE_AND_UNRESOLVABLE)
_NOTHING_TO_FREE = Status.unschedulable("no new claims to deallocate")
_STILL_REFUSED = Status.unschedulable("still not schedulable")
_NO_NOTE = Status(Code.ERROR, ("not found",))


class DynamicResources:
    """Lets pods without claims pass, refuses the others."""

    name: Final = "DynamicResources"

    def __init__(self, args: Any, handle: Handle) -> None:
        """The time limits of the arguments concern claims only."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """No event helps a pod that is refused for having claims."""
        return ()

    def pre_enqueue(self, pod: Pod) -> Status | None:  # the protocol's
        """Let every pod in: one with claims shall learn from an event why it is refused."""
        return None

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status | None:  # the protocol's
        """Skip pods without claims, refuse the others; note that it was asked."""
        cycle.state[self.name] = has_claims(cycle.pod)
        return Status.unresolvable(_UNSUPPORTED.message) if has_claims(cycle.pod) else SKIP

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """Refuse pods with claims."""
        if self.name not in cycle.state:
            return without_note(nodes, _NO_NOTE.message)
        return Rejections.where(np.full(len(nodes), has_claims(cycle.pod)), _UNSUPPORTED)

    def post_filter(
        self,
        cycle: Cycle,
        nodes: Nodes,  # the protocol's, as the next two
        outcome: FilterOutcome,
        what_if: WhatIf,
    ) -> PostFilterResult:
        """There is no claim to deallocate; an error when the attempt ended before ``pre_filter``."""
        if self.name not in cycle.state:
            return PostFilterResult(_NO_NOTE)
        return PostFilterResult(_STILL_REFUSED if has_claims(cycle.pod) else _NOTHING_TO_FREE)

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:  # the protocol's
        """int64[rows]: zeros."""
        if self.name not in cycle.state:
            raise ValueError(_NO_NOTE.message)
        return np.zeros(len(nodes), np.int64)

    def normalize(self, cycle: Cycle, scores: Column) -> Column:  # the protocol's
        """int64[rows]: zeros."""
        return default_normalize(scores, reverse=False)

    def reserve(self, cycle: Cycle, node: str) -> Status | None:  # the protocol's
        """Nothing to reserve, and never a pod with claims."""
        return Status.unresolvable(_UNSUPPORTED.message) if has_claims(cycle.pod) else None

    def unreserve(self, cycle: Cycle, node: str) -> None:
        """Nothing to give back."""

    def pre_bind_pre_flight(self, cycle: Cycle, node: str) -> Status | None:  # the protocol's
        """There will be nothing to do."""
        return SKIP

    def pre_bind(self, cycle: Cycle, node: str) -> Status | None:  # the protocol's
        """Nothing to write."""
        return None


def has_claims(pod: Pod) -> bool:
    """Whether the pod asks for devices through claims."""
    return bool(pod.spec.resource_claims)
