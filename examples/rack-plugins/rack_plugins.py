"""Two plugins for what kube-scheduler knows nothing of: licences that a node has to give, and racks that fill up.

``Licenses`` judges one node at a time, in plain Python. ``RackRoom`` judges all of them at once, in columns: with thousands of nodes
that is the difference between milliseconds and microseconds.
"""

from __future__ import annotations

import numpy as np

from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column
from scheduler.framework.status import Status

NEEDS = "example.org/needs-license"
"""A label of pods: each takes one licence of its node."""
OFFERS = "example.org/licenses"
"""A label of nodes: how many licences are installed there."""
RACK = "example.org/rack"
"""A label of nodes: the rack that it stands in."""


class Licenses:
    """Keeps pods that need a licence off nodes where all of them are taken."""

    name = "Licenses"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        """One node's answer."""
        if NEEDS not in cycle.pod.metadata.labels:
            return None
        offered = node.labels.get(OFFERS, "0")
        if not offered.isdigit() or offered == "0":
            return Status.unresolvable("node(s) had no licenses")  # whom one would evict changes nothing
        taken = sum(NEEDS in pod.pod.metadata.labels for pod in node.pods)
        if taken >= int(offered):
            return Status.unschedulable("node(s) had all licenses taken")
        return None


class RackRoom:
    """Prefers nodes in racks with few pods, so that the failure of a rack takes few of them."""

    name = "RackRoom"

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> None:
        """Count the pods of each rack, over all nodes of the cluster, not only those that are to be scored."""
        whole = nodes.whole
        counts = np.zeros(len(whole.label_values(RACK)), np.int64)
        np.add.at(counts, whole.label_ids(RACK), whole.pod_count)
        cycle.state[self.name] = counts

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: the pods of the node's rack."""
        counts: Column = cycle.state[self.name]
        return counts[nodes.label_ids(RACK)]

    def normalize(self, cycle: Cycle, scores: Column) -> Column:
        """int64[rows]: 100 for the emptiest rack, 0 for the fullest."""
        fewest, most = scores.min(), scores.max()
        if fewest == most:
            return np.full(len(scores), 100, np.int64)
        return 100 * (most - scores) // (most - fewest)
