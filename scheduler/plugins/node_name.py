"""NodeName: a pod that names its node runs there or nowhere.

Such pods usually never come here, since they count as bound; an extender's caller may still ask about one.

Upstream: ``plugins/nodename``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code

OTHER_NODE: Final = Reason(
    "node(s) didn't match the requested node name", Code.UNSCHEDULABLE_AND_UNRESOLVABLE
)


class NodeName:
    """Rejects every node but the one that the pod names."""

    name: Final = "NodeName"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A node appeared."""
        return (ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),)

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """All rows but that of ``spec.nodeName``."""
        wanted = cycle.pod.spec.node_name
        if not wanted:
            return None
        others = np.ones(len(nodes), np.bool_)
        row = nodes.row_of(wanted)
        if row is not None:
            others[row] = False
        return Rejections.where(others, OTHER_NODE)
