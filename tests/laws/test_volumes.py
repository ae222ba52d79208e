"""The laws of the columnar contract for the volume plugins, which remember much from one cycle to the next.

One plugin lives through all changes of a cluster, as in a running scheduler; after each of them it must say what plain
per-node twins say that look at everything again. A selection, also one with pods added or taken away, is judged the same.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.per_node import columnar
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import Rejections
from scheduler.framework.status import SUCCESS, Code, Status
from scheduler.plugins import IN_TREE
from tests.laws import volume_reference as reference
from tests.laws.volume_strategies import CHANGES, GUESTS, PENDING, Change, empty_cluster

LAW = settings(max_examples=120, deadline=None)
NAMES = ("VolumeRestrictions", "VolumeZone", "NodeVolumeLimits")

every_plugin = pytest.mark.parametrize("name", NAMES)


def _plugin(name: str, catalog: Catalog) -> Any:
    handle: Any = SimpleNamespace(features=Features.default(), catalog=catalog)
    return IN_TREE[name](None, handle)


def _twin(name: str, catalog: Catalog, whole: Nodes) -> Any:
    if name == "VolumeRestrictions":
        return columnar(reference.VolumeRestrictions(catalog, whole))
    made = {"VolumeZone": reference.VolumeZone, "NodeVolumeLimits": reference.NodeVolumeLimits}
    return columnar(made[name](catalog))


def _statuses(found: Rejections | None, nodes: Nodes) -> list[tuple[Code, tuple[str, ...]]]:
    statuses = [SUCCESS if found is None else found.status(row) for row in range(len(nodes))]
    return [(status.code, status.reasons) for status in statuses]


def _started(plugin: Any, pod: PodInfo, table: NodeTable) -> Cycle | None:
    """The cycle after PreFilter; None when the plugin refused or skipped the pod."""
    cycle = Cycle(pod)
    answer = plugin.pre_filter(cycle, table)
    return None if isinstance(answer, Status) else cycle


@every_plugin
@LAW
@given(changes=CHANGES, pod=PENDING)
def test_what_is_remembered_never_differs_from_what_is_there(
    name: str, changes: list[Change], pod: PodInfo
) -> None:
    table, catalog = empty_cluster()
    plugin = _plugin(name, catalog)
    for change in changes:
        change(table, catalog)
        cycle = _started(plugin, pod, table)
        if cycle is None:
            continue
        expected = _twin(name, catalog, table).filter(Cycle(pod), table)
        assert _statuses(plugin.filter(cycle, table), table) == _statuses(expected, table)


@every_plugin
@LAW
@given(changes=CHANGES, pod=PENDING, data=st.data())
def test_rows_are_judged_alike_in_any_company(
    name: str, changes: list[Change], pod: PodInfo, data: st.DataObject
) -> None:
    table, catalog = empty_cluster()
    for change in changes:
        change(table, catalog)
    plugin = _plugin(name, catalog)
    cycle = _started(plugin, pod, table)
    if cycle is None:
        return
    rows = data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1, max_size=len(table)))
    some = table.take(np.array(rows, np.intp))
    statuses = _statuses(plugin.filter(cycle, table), table)
    assert _statuses(plugin.filter(cycle, some), some) == [statuses[row] for row in rows]


@pytest.mark.parametrize("name", ["VolumeZone", "NodeVolumeLimits"])
@LAW
@given(changes=CHANGES, pod=PENDING, guest=GUESTS, data=st.data())
def test_a_what_if_is_judged_by_the_pods_that_it_has(
    name: str, changes: list[Change], pod: PodInfo, guest: PodInfo, data: st.DataObject
) -> None:
    table, catalog = empty_cluster()
    for change in changes:
        change(table, catalog)
    plugin = _plugin(name, catalog)
    cycle = _started(plugin, pod, table)
    if cycle is None:
        return
    some = table.take(np.arange(len(table)))
    row = data.draw(st.integers(0, len(table) - 1))
    leaving = data.draw(st.booleans())
    if some.pods(row) and leaving:
        some.remove_pod(row, some.pods(row)[0])
    some.add_pod(row, guest)
    expected = _twin(name, catalog, table).filter(Cycle(pod), some)
    assert _statuses(plugin.filter(cycle, some), some) == _statuses(expected, some)
    assert _statuses(plugin.filter(cycle, table), table) == _statuses(
        _twin(name, catalog, table).filter(Cycle(pod), table), table
    )
