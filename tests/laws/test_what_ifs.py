"""The law of what-ifs: a note that add_pod and remove_pod brought up to date says what a note made anew would say.

Each row of a what-if sees its own changes only, which is how pods are moved in thought; the attempt's own note stays as it was.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.config import args
from scheduler.apis.objects import LabelSelector
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.status import SKIP, SUCCESS, Status
from scheduler.plugins import IN_TREE
from tests.laws.strategies import CLUSTERS, LAW, NEIGHBOURS, PODS

ARGS: dict[str, Any] = {"PodTopologySpread": args.PodTopologySpreadArgs()}


def _statuses(plugin: Any, cycle: Cycle, nodes: Nodes) -> list[Status]:
    found = plugin.filter(cycle, nodes)
    return [SUCCESS if found is None else found.status(row) for row in range(len(nodes))]


def _anew(plugin: Any, pod: PodInfo, nodes: Nodes) -> list[Status]:
    cycle = Cycle(pod)
    assert plugin.pre_filter(cycle, nodes) is None
    return _statuses(plugin, cycle, nodes)


def _counts_everything(pod: PodInfo) -> bool:
    """What-ifs count pods under a selector of everything, fresh notes do not (see ``pod_topology_spread.required``)."""
    return any(each.label_selector == LabelSelector() for each in pod.pod.spec.topology_spread_constraints)


@pytest.mark.parametrize("name", ARGS)
@LAW
@given(cluster=CLUSTERS, pod=PODS, newcomer=NEIGHBOURS, data=st.data())
def test_a_note_brought_up_to_date_equals_a_new_one(
    name: str, cluster: NodeTable, pod: PodInfo, newcomer: PodInfo, data: st.DataObject
) -> None:
    handle: Any = SimpleNamespace(features=Features.default(), port=None, catalog=Catalog())
    plugin, cycle = IN_TREE[name](ARGS[name], handle), Cycle(pod)
    if _counts_everything(pod) or plugin.pre_filter(cycle, cluster) is SKIP:
        return
    before = _statuses(plugin, cycle, cluster)
    rows = data.draw(st.permutations(range(len(cluster))))
    after = []
    taken, hypothesis = cluster.take(np.array(rows, np.intp)), cycle.clone()
    for place, row in enumerate(rows):
        grown = NodeTable.copy_of(cluster)
        grown.add_pod(row, newcomer)
        after.append(_anew(plugin, pod, grown)[row])
        plugin.add_pod(hypothesis, newcomer, taken, place)

    assert _statuses(plugin, hypothesis, taken) == after
    assert _statuses(plugin, cycle, cluster) == before
    for place in range(len(rows)):
        plugin.remove_pod(hypothesis, newcomer, taken, place)
    assert _statuses(plugin, hypothesis, taken) == [before[row] for row in rows]
