"""What NodeVolumeLimits remembers of nodes is forgotten when pods, nodes or objects change; what-ifs are counted anew."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler.apis.objects import CSINode, PersistentVolumeClaim
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from tests.builders import make_node
from tests.plugins.harness import Handle, make_plugin, table
from tests.plugins.volumes import (
    attachment,
    catalog_of,
    claim,
    csi_node,
    csi_volume,
    of_claim,
    pod_with,
    storage_class,
)

WANTED = pod_with(of_claim("mine")).info()
OTHER = pod_with(of_claim("other"), name="other").info()


def cluster() -> tuple[NodeTable, Catalog, Any]:
    """Nodes a and b with room for one volume each; claims ``mine`` and ``other``, each with a volume."""
    objects: list[Any] = [csi_node(name, d=1) for name in "ab"]
    for name in ("mine", "other"):
        objects += [claim(name, f"pv-{name}"), csi_volume(f"pv-{name}")]
    catalog = catalog_of(*objects)
    return (
        table(make_node("a"), make_node("b")),
        catalog,
        make_plugin("NodeVolumeLimits", handle=Handle(catalog=catalog)),
    )


def full(plugin: Any, nodes: Nodes) -> list[str]:
    """The names of the nodes that have no room for the wanted pod."""
    cycle = Cycle(WANTED)
    assert plugin.pre_filter(cycle, nodes.whole) is None
    found = plugin.filter(cycle, nodes)
    return [] if found is None else [name for row, name in enumerate(nodes.names) if found.rejected[row]]


def test_pods_come_and_go() -> None:
    nodes, _, plugin = cluster()
    assert full(plugin, nodes) == []
    nodes.add_pod(1, OTHER)
    assert full(plugin, nodes) == ["b"]
    nodes.remove_pod(1, OTHER)
    nodes.add_pod(0, OTHER)
    assert full(plugin, nodes) == ["a"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(claim("other", "gone"), [], id="a claim is bound to another volume"),
        pytest.param(csi_volume("pv-other", driver="e"), [], id="a volume is another driver's"),
        pytest.param(csi_volume("pv-other", handle="pv-mine"), [], id="a volume is the pod's own"),
        pytest.param(csi_node("b", d=2), [], id="a node takes more"),
        pytest.param(csi_node("a", d=0), ["a", "b"], id="a node takes less"),
        pytest.param(attachment("x", "a", "pv-other"), ["a", "b"], id="a volume is attached"),
        pytest.param(storage_class("unrelated"), ["b"], id="something else changes"),
    ],
)
def test_objects_change(change: Any, expected: list[str]) -> None:
    nodes, catalog, plugin = cluster()
    nodes.add_pod(1, OTHER)
    assert full(plugin, nodes) == ["b"]
    catalog.of(type(change)).put(change)
    assert full(plugin, nodes) == expected


def test_objects_appear_late_and_vanish() -> None:
    nodes, catalog, plugin = cluster()
    nodes.add_pod(1, OTHER)
    catalog.of(PersistentVolumeClaim).remove(claim("other"))
    assert full(plugin, nodes) == []
    catalog.persistent_volume_claims.put(claim("other", storageClassName="s"))
    assert full(plugin, nodes) == []
    catalog.storage_classes.put(storage_class("s"))
    assert full(plugin, nodes) == ["b"]
    catalog.of(CSINode).remove(csi_node("b"))
    assert full(plugin, nodes) == []
    catalog.volume_attachments.put(attachment("x", "a", "pv-other"))
    assert full(plugin, nodes) == ["a"]
    catalog.volume_attachments.remove(attachment("x", "a", "pv-other"))
    assert full(plugin, nodes) == []


def test_more_changes_than_anybody_remembers() -> None:
    nodes, catalog, plugin = cluster()
    nodes.add_pod(1, OTHER)
    assert full(plugin, nodes) == ["b"]
    catalog.persistent_volume_claims.put(claim("other"))
    for number in range(5000):
        catalog.persistent_volume_claims.put(claim(f"c{number}"))
    assert full(plugin, nodes) == []


def test_an_empty_node_takes_the_row_of_another() -> None:
    nodes, catalog, plugin = cluster()
    catalog.csi_nodes.put(csi_node("b", d=0))
    assert full(plugin, nodes) == ["b"]
    nodes.remove_node("a")
    assert full(plugin, nodes) == ["b"]
    nodes.set_node(make_node("a").obj())
    assert full(plugin, nodes) == ["b"]
    nodes.set_node(make_node("c").obj())
    assert full(plugin, nodes) == ["b"]


def test_a_what_if_is_counted_by_itself() -> None:
    nodes, _, plugin = cluster()
    nodes.add_pod(1, OTHER)
    some = nodes.take(np.array([1, 0]))
    some.remove_pod(0, OTHER)
    assert full(plugin, some) == []
    some.add_pod(1, OTHER)
    assert full(plugin, some) == ["a"]
    assert full(plugin, nodes) == ["b"]


def test_a_copy_of_the_table_is_followed_and_left_again() -> None:
    nodes, _, plugin = cluster()
    copy = NodeTable.copy_of(nodes)
    copy.add_pod(0, OTHER)
    copy.set_node(make_node("c").obj())
    assert full(plugin, copy) == ["a"]
    assert full(plugin, nodes) == []
    assert full(plugin, copy) == ["a"]
