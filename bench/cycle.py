"""What one decision costs: filter and score of every in-tree plugin over a plain cluster, and all of them together.

Plain means what most clusters look like: three zones, a few tainted nodes, images on every node, some pods everywhere, and a
pod that asks for cpu and memory and nothing else. Medians in microseconds.
"""

import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from bench.wiring import COMPONENT, handle_of
from scheduler.apis.objects import Node, Pod, convert
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.status import Code, Status
from scheduler.framework.waiting import WaitingPods
from scheduler.plugins import IN_TREE

SIZES = (5_000, 100_000)
ROUNDS = 50


def run() -> list[tuple[str, float, str]]:
    """(name, median, unit) per plugin and cluster size."""
    results: list[tuple[str, float, str]] = []
    for size in SIZES:
        results += measured(size)
    return results


def measured(size: int) -> list[tuple[str, float, str]]:
    """The medians for one size of cluster."""
    nodes = cluster(size)
    handle, arguments = handle_of(WaitingPods(time.monotonic)), COMPONENT.profiles[0].plugin_config
    plugins = [factory(arguments.get(name), handle) for name, factory in IN_TREE.items()]
    plugins = [plugin for plugin in plugins if hasattr(plugin, "filter") or hasattr(plugin, "score")]
    groups = {**{plugin.name: [plugin] for plugin in plugins}, "all plugins": plugins}
    return [(f"{name}, {size} nodes", median(group, nodes), "µs") for name, group in groups.items()]


def median(plugins: Sequence[Any], nodes: Nodes) -> float:
    """The median time of one attempt with these plugins, in microseconds."""
    pod = plain_pod("pending")
    times = []
    for _ in range(ROUNDS):
        cycle = Cycle(pod)
        start = time.perf_counter_ns()
        attempt(plugins, cycle, nodes)
        times.append((time.perf_counter_ns() - start) / 1000)
    return statistics.median(times)


def attempt(plugins: Sequence[Any], cycle: Cycle, nodes: Nodes) -> None:
    """Filter and score as the runtime does; every node of a plain cluster fits, or nearly so."""
    for filters in passing(plugins, "pre_filter", "filter", cycle, nodes):
        filters(cycle, nodes)
    for plugin in plugins:
        for scores in passing([plugin], "pre_score", "score", cycle, nodes):
            column = scores(cycle, nodes)
            if hasattr(plugin, "normalize"):
                plugin.normalize(cycle, column)


def passing(
    plugins: Sequence[Any], before: str, method: str, cycle: Cycle, nodes: Nodes
) -> Iterator[Callable[[Cycle, Nodes], Any]]:
    """The methods of the plugins that do not skip this pod."""
    for plugin in plugins:
        prepare = getattr(plugin, before, None)
        answer = prepare(cycle, nodes) if prepare else None
        if hasattr(plugin, method) and not (isinstance(answer, Status) and answer.code is Code.SKIP):
            yield getattr(plugin, method)


def cluster(size: int) -> NodeTable:
    """A table of plain nodes, each with two pods."""
    table = NodeTable()
    for index in range(size):
        row = table.set_node(convert(Node, node(index)))
        for name in ("a", "b"):
            table.add_pod(row, plain_pod(f"{name}-{index}"))
    return table


def node(index: int) -> dict[str, Any]:
    """A node's manifest."""
    taints = [{"key": "dedicated", "value": "batch", "effect": "PreferNoSchedule"}]
    return {
        "metadata": {
            "name": f"node-{index:06}",
            "labels": {
                "kubernetes.io/hostname": f"node-{index:06}",
                "topology.kubernetes.io/zone": f"zone-{index % 3}",
            },
        },
        "spec": {"taints": taints if index % 50 == 0 else []},
        "status": {
            "allocatable": {"cpu": "32", "memory": "128Gi", "ephemeral-storage": "200Gi", "pods": "110"},
            "images": [
                {"names": [f"registry.example/app-{index % 5}:v1"], "sizeBytes": 200_000_000},
                {"names": ["registry.example/base:v1"], "sizeBytes": 90_000_000},
            ],
        },
    }


def plain_pod(name: str) -> PodInfo:
    """A pod that asks for cpu and memory."""
    container = {
        "name": "c",
        "image": "registry.example/app-1:v1",
        "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
    }
    manifest = {
        "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"containers": [container]},
    }
    return PodInfo(convert(Pod, manifest))
