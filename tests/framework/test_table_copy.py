"""A copy of the table can be changed at will; the table stays as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from tests.builders import make_node, make_pod


def table() -> NodeTable:
    made = NodeTable()
    for name in "abc":
        node = make_node(name).capacity(cpu="4", memory="8Gi").label("zone", name).image("busybox", size=7)
        made.set_node(node.taint(name).obj())
    made.add_pod(1, make_pod("p").req(cpu="1").host_port(80).info())
    return made


def facts(nodes: Nodes) -> dict[str, Any]:
    """Everything that plugins can read."""
    return {
        "names": list(nodes.names),
        "objects": list(nodes.objects),
        "pods": [[pod.uid for pod in nodes.pods(row)] for row in range(len(nodes))],
        "total": nodes.total,
        "cpu": nodes.allocatable("cpu").tolist(),
        "requested": nodes.requested("cpu").tolist(),
        "count": nodes.pod_count.tolist(),
        "zones": [nodes.label_values("zone")[number] for number in nodes.label_ids("zone")],
        "taints": [nodes.taint_sets[number] for number in nodes.taint_set_ids],
        "ports": [nodes.port_sets[number] for number in nodes.port_set_ids],
        "images": dict(nodes.images),
        "rows": [nodes.row_of(name) for name in nodes.names],
    }


def test_a_copy_has_what_the_table_has() -> None:
    assert facts(NodeTable.copy_of(table())) == facts(table())


def test_a_selection_can_be_copied() -> None:
    selection = table().take(np.array([2, 1], np.intp))
    assert facts(NodeTable.copy_of(selection)) == facts(selection) | {"total": 2}


def test_changes_of_the_copy_stay_in_it() -> None:
    original = table()
    copy = NodeTable.copy_of(original)
    copy.set_node(make_node("b").capacity(cpu="1").label("zone", "new").taint("new").obj())
    copy.set_node(make_node("d").capacity({"example.com/gpu": 1}).image("other", size=1).obj())
    copy.add_pod(0, make_pod("q").req(cpu="2").host_port(81).info())
    copy.remove_node("c")
    assert facts(original) == facts(table())


def test_a_changed_copy_is_what_the_table_would_be() -> None:
    changed = table()
    copy = NodeTable.copy_of(table())
    for nodes in (changed, copy):
        nodes.set_node(make_node("b").capacity(memory="1Gi").label("zone", "new").obj())
        for number in range(100):
            nodes.set_node(make_node(f"n{number}").capacity(cpu="2").image("other", size=1).obj())
        nodes.add_pod(50, make_pod("q").req(cpu="2").info())
        nodes.remove_node("a")
    assert facts(copy) == facts(changed)


def test_changes_of_the_table_do_not_reach_the_copy() -> None:
    original = table()
    copy = NodeTable.copy_of(original)
    original.add_pod(0, make_pod("q").req(cpu="2").info())
    with pytest.raises(KeyError):
        copy.remove_pod(0, make_pod("q").info())
    assert facts(copy) == facts(table())
