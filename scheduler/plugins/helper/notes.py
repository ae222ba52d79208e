"""What a plugin answers at a point whose note was never written.

PreFilter and PreScore leave notes in ``cycle.state`` for the points after them. A profile enables points one by one, so Filter may run
without its PreFilter: then kube-scheduler answers Error on every node, in words that differ from plugin to plugin.
"""

from __future__ import annotations

import numpy as np

from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Code


def without_note(nodes: Nodes, words: str) -> Rejections | None:
    """An Error in these words on every row."""
    return Rejections.where(np.ones(len(nodes), np.bool_), Reason(words, Code.ERROR))
