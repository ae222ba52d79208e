"""The table of nodes: rows and columns follow the nodes and pods, selections are what-ifs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.apis.quantity import QuantityError
from scheduler.framework.facts import ImageState
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from tests.builders import NodeBuilder, make_node, make_pod


def table(*nodes: NodeBuilder) -> NodeTable:
    made = NodeTable()
    for node in nodes:
        made.set_node(node.obj())
    return made


def labels(nodes: Nodes, key: str) -> list[str | None]:
    return [nodes.label_values(key)[number] for number in nodes.label_ids(key)]


def test_columns_hold_what_nodes_have() -> None:
    nodes = table(
        make_node("a")
        .capacity({"example.com/gpu": 2}, cpu="1500m", memory="1Gi")
        .label("zone", "x")
        .taint("t"),
        make_node("b").unschedulable(),
    )
    assert nodes.names == ["a", "b"]
    assert nodes.allocatable("cpu").tolist() == [1500, 0]
    assert nodes.allocatable("memory").tolist() == [1 << 30, 0]
    assert nodes.allocatable("example.com/gpu").tolist() == [2, 0]
    assert nodes.allowed_pods.tolist() == [110, 110]
    assert labels(nodes, "zone") == ["x", None]
    assert nodes.unschedulable.tolist() == [False, True]
    assert [len(nodes.taint_sets[number]) for number in nodes.taint_set_ids] == [1, 0]


def test_what_no_node_has_reads_as_nothing() -> None:
    nodes = table(make_node("a"))
    assert nodes.allocatable("example.com/none").tolist() == [0]
    assert labels(nodes, "none") == [None]
    assert nodes.row_of("none") is None
    assert nodes.rows_of(["none", "a"]).tolist() == [0]


def test_a_replaced_node_keeps_its_row_and_pods_and_loses_old_facts() -> None:
    nodes = table(
        make_node("a").capacity(cpu="4").label("zone", "x").label("rack", "1").taint("t").image("i", size=5)
    )
    nodes.add_pod(0, make_pod().req(cpu="1").info())
    assert nodes.set_node(make_node("a").capacity(memory="2").label("zone", "y").obj()) == 0
    assert nodes.allocatable("cpu").tolist() == [0]
    assert nodes.allocatable("memory").tolist() == [2]
    assert (labels(nodes, "zone"), labels(nodes, "rack")) == (["y"], [None])
    assert nodes.taint_sets[nodes.taint_set_ids[0]] == ()
    assert nodes.images == {}
    assert nodes.requested("cpu").tolist() == [1000]


def test_the_last_row_fills_the_gap_of_a_removed_node() -> None:
    nodes = table(
        *(
            make_node(name).capacity(cpu=cpu).label("name", name)
            for name, cpu in (("a", 1), ("b", 2), ("c", 3))
        )
    )
    pod = make_pod().req(cpu="1").info()
    nodes.add_pod(0, pod)
    assert nodes.remove_node("a") == (pod,)
    assert nodes.names == ["c", "b"]
    assert nodes.allocatable("cpu").tolist() == [3000, 2000]
    assert labels(nodes, "name") == ["c", "b"]
    assert nodes.requested("cpu").tolist() == [0, 0]
    assert (nodes.row_of("a"), nodes.row_of("c"), nodes.total) == (None, 0, 2)


def test_a_node_with_an_unreadable_quantity_changes_nothing() -> None:
    nodes = table(make_node("a").capacity(cpu="1"))
    with pytest.raises(QuantityError):
        nodes.set_node(make_node("a").capacity(cpu="2", memory="much").obj())
    assert nodes.allocatable("cpu").tolist() == [1000]


def test_pods_come_and_go() -> None:
    nodes = table(make_node("a"))
    first, second = (
        make_pod(name).req(cpu="1").host_port(port).info() for name, port in (("p", 80), ("q", 81))
    )
    nodes.add_pod(0, first)
    nodes.add_pod(0, second)
    assert nodes.pods(0) == (first, second)
    assert nodes.pod_count.tolist() == [2]
    assert nodes.requested("cpu").tolist() == [2000]
    assert nodes.nonzero_requested("cpu").tolist() == [2200]
    nodes.remove_pod(0, first)
    assert nodes.pods(0) == (second,)
    assert nodes.requested("cpu").tolist() == [1000]
    assert nodes.port_sets[nodes.port_set_ids[0]] == frozenset(second.host_ports)
    with pytest.raises(KeyError):
        nodes.remove_pod(0, first)


def test_a_row_has_a_new_tuple_of_pods_only_after_a_change() -> None:
    nodes = table(make_node("a"), make_node("b"))
    for row in range(2):
        nodes.add_pod(row, make_pod(f"p{row}").info())
    before = list(nodes.pods_by_row)
    some = nodes.take(np.array([1, 0]))
    assert [pods is known for pods, known in zip(some.pods_by_row, reversed(before), strict=True)] == [
        True
    ] * 2
    nodes.replace_pod(0, make_pod("p0").info())
    some.add_pod(0, make_pod("guest").info())
    assert [pods is known for pods, known in zip(nodes.pods_by_row, before, strict=True)] == [False, True]
    assert some.pods_by_row[0] is not before[1]


def test_requests_wrap_around_as_in_go() -> None:
    nodes = table(make_node("a"))
    for name in ("p", "q"):
        nodes.add_pod(0, make_pod(name).req(memory="8Ei").info())
    assert nodes.requested("memory").tolist() == [-2]


def test_changes_to_a_selection_stay_in_it() -> None:
    nodes = table(*(make_node(name).capacity(cpu="4") for name in "abc"))
    selection = nodes.take(np.array([2, 0], np.intp))
    selection.add_pod(0, make_pod().req(cpu="1").host_port(80).info())
    assert list(selection.names) == ["c", "a"]
    assert (selection.row_of("c"), selection.row_of("b"), selection.total) == (0, None, 3)
    assert selection.requested("cpu").tolist() == [1000, 0]
    assert nodes.requested("cpu").tolist() == [0, 0, 0]
    assert nodes.pods(2) == ()
    assert nodes.port_set_ids.tolist() == [0, 0, 0]


def test_a_mask_selects() -> None:
    nodes = table(*(make_node(name) for name in "abc"))
    assert list(nodes.take(np.array([True, False, True])).names) == ["a", "c"]


def test_a_selection_of_a_selection_sees_what_that_one_has_changed() -> None:
    nodes = table(*(make_node(name) for name in "abc"))
    selection = nodes.take(nodes.rows_of(["c", "b"]))
    pod = make_pod().info()
    selection.add_pod(1, pod)
    inner = selection.take(selection.rows_of(["b"]))
    assert (inner.names[0], inner.objects[-1].metadata.name, inner.pods(0)) == ("b", "b", (pod,))
    inner.remove_pod(0, pod)
    assert (inner.pods(0), list(selection.pods_by_row), nodes.pods(1)) == ((), [(), (pod,)], ())
    assert (list(selection.names[:1]), "a" in selection.names, len(inner.names)) == (["c"], False, 1)


def test_images_count_the_nodes_that_have_them_with_the_first_size_reported() -> None:
    nodes = table(
        make_node("a").image("app:v1", "app:latest", size=10).image("app:v1", size=99),
        make_node("b").image("app:v1", size=20),
    )
    assert nodes.images == {"app:v1": ImageState(10, 2), "app:latest": ImageState(10, 1)}
    nodes.remove_node("a")
    assert nodes.images == {"app:v1": ImageState(10, 1)}
    nodes.set_node(make_node("b").image("app:v1", size=20).obj())
    assert nodes.images == {"app:v1": ImageState(20, 1)}


def test_facts_that_no_node_has_any_more_are_forgotten() -> None:
    nodes = table(make_node("kept").label("zone", "x").taint("kept"))
    for number in range(200):
        nodes.set_node(
            make_node("changing").label("zone", str(number)).taint(str(number)).image(str(number)).obj()
        )
    before: dict[str, Any] = {
        "zone": labels(nodes, "zone"),
        "taints": [nodes.taint_sets[i] for i in nodes.taint_set_ids],
    }
    nodes.compact()
    assert labels(nodes, "zone") == before["zone"]
    assert [nodes.taint_sets[i] for i in nodes.taint_set_ids] == before["taints"]
    assert len(nodes.taint_sets) == 3
    assert set(nodes.label_values("zone")) == {None, "x", "199"}


def test_the_table_grows_beyond_its_first_capacity() -> None:
    nodes = table(*(make_node(str(number)).capacity(cpu=number) for number in range(200)))
    assert nodes.allocatable("cpu").tolist() == [1000 * number for number in range(200)]


def test_asking_for_what_no_node_has_leaves_nothing_behind() -> None:
    nodes = table(make_node("a"), make_node("b"))
    before = nodes._growable.names()
    assert nodes.allocatable("example.com/gpu").tolist() == [0, 0]
    assert nodes.requested("example.com/gpu").tolist() == [0, 0]
    assert nodes.label_ids("zone").tolist() == [0, 0]
    assert nodes._growable.names() == before
    with pytest.raises(ValueError, match="read-only"):
        nodes.allocatable("example.com/gpu")[0] = 1


def test_labels_and_resources_that_no_node_has_any_more_are_forgotten() -> None:
    kept = make_node("kept").label("zone", "x").label("pod_count", "a label, not the column")
    nodes = table(kept.capacity(cpu="1"))
    info = make_pod("p").req({"example.com/gone": 1}).info()
    nodes.set_node(make_node("changing").label("gone", "x").capacity({"example.com/gone": 4}).obj())
    nodes.add_pod(1, info)
    nodes.remove_pod(1, info)
    nodes.set_node(make_node("changing").obj())
    nodes.compact()
    assert not [name for name in nodes._growable.names() if "gone" in name]
    assert nodes.label_values("gone") == (None,)
    assert labels(nodes, "zone") == ["x", None]
    assert labels(nodes, "pod_count") == ["a label, not the column", None]
    nodes.set_node(make_node("changing").label("gone", "y").capacity({"example.com/gone": 2}).obj())
    assert labels(nodes, "gone") == [None, "y"]
    assert nodes.allocatable("example.com/gone").tolist() == [0, 2]
