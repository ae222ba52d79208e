"""NodeResourcesFit and NodeResourcesBalancedAllocation."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config import args
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_table import NodeTable
from scheduler.framework.status import Code, Status
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.plugins.harness import make_plugin, rejections, scores, table


def fit(**fields: Any) -> Any:
    return make_plugin("NodeResourcesFit", args.NodeResourcesFitArgs(**fields))


def scoring(kind: str, resources: dict[str, int], *shape: tuple[int, int]) -> Any:
    points = tuple(args.UtilizationShapePoint(utilization, score) for utilization, score in shape)
    specs = tuple(args.ResourceSpec(name, weight) for name, weight in resources.items())
    return fit(scoring_strategy=args.ScoringStrategy(kind, specs, args.RequestedToCapacityRatioParam(points)))


def balanced(*names: str) -> Any:
    specs = tuple(args.ResourceSpec(name, 1) for name in names)
    return make_plugin("NodeResourcesBalancedAllocation", args.NodeResourcesBalancedAllocationArgs(specs))


def loaded(node: NodeBuilder, *pods: PodBuilder) -> NodeTable:
    """A table of one node with these pods on it."""
    nodes = table(node)
    for number, pod in enumerate(pods):
        nodes.add_pod(0, pod.metadata(uid=str(number)).info())
    return nodes


FULL = loaded(
    make_node().capacity({"example.com/gpu": 2}, cpu="4", memory="8Gi", pods=2),
    make_pod().req({"example.com/gpu": 1}, cpu="3", memory="1Gi"),
)


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        pytest.param(make_pod().req(cpu="1", memory="7Gi"), None, id="exactly what is left"),
        pytest.param(make_pod().req(), None, id="asks for nothing"),
        pytest.param(make_pod().req(cpu="2"), Status.unschedulable("Insufficient cpu"), id="too little left"),
        pytest.param(
            make_pod().req(cpu="5"), Status.unresolvable("Insufficient cpu"), id="more than there is"
        ),
        pytest.param(
            make_pod().req(
                {"example.com/gpu": 2, "a.com/x": 1}, cpu="2", memory="9Gi", **{"ephemeral-storage": "1"}
            ),
            Status.unresolvable(
                "Insufficient cpu",
                "Insufficient memory",
                "Insufficient ephemeral-storage",
                "Insufficient a.com/x",
                "Insufficient example.com/gpu",
            ),
            id="every shortage, in order",
        ),
        pytest.param(make_pod().req({"a.com/x": 0, "plain": 9}), None, id="zero, and what does not count"),
    ],
)
def test_what_is_left_must_suffice(pod: PodBuilder, expected: Status | None) -> None:
    assert rejections(fit(), pod, FULL).get("node") == expected


def test_a_full_node_says_so_first() -> None:
    nodes = loaded(make_node().capacity(pods=1, cpu="1"), make_pod().req(cpu="1"))
    expected = Status.unschedulable("Too many pods", "Insufficient cpu")
    assert rejections(fit(), make_pod().req(cpu="1"), nodes) == {"node": expected}


def test_one_hopeless_shortage_makes_the_status_unresolvable() -> None:
    nodes = loaded(make_node().capacity(cpu="4", memory="1"), make_pod().req(cpu="4"))
    expected = Status.unresolvable("Insufficient cpu", "Insufficient memory")
    assert rejections(fit(), make_pod().req(cpu="1", memory="2"), nodes) == {"node": expected}


@pytest.mark.parametrize(
    ("fields", "missing"),
    [
        pytest.param({}, ["a.com/x", "b.com/y", "hugepages-2Mi"], id="nothing ignored"),
        pytest.param({"ignored_resources": ("a.com/x",)}, ["b.com/y", "hugepages-2Mi"], id="by name"),
        pytest.param({"ignored_resource_groups": ("b.com",)}, ["a.com/x", "hugepages-2Mi"], id="by domain"),
        pytest.param(
            {"ignored_resources": ("hugepages-2Mi", "cpu")},
            ["a.com/x", "b.com/y", "hugepages-2Mi"],
            id="only extended resources",
        ),
    ],
)
def test_ignored_resources(fields: dict[str, Any], missing: list[str]) -> None:
    pod = make_pod().req({"a.com/x": 1, "b.com/y": 1, "hugepages-2Mi": "2Mi"})
    found = rejections(fit(**fields), pod, table(make_node()))
    assert found["node"].reasons == tuple(f"Insufficient {name}" for name in missing)


def test_a_pod_may_lack_more_resources_than_fit_into_64_bits() -> None:
    names = [f"example.com/r{number:03}" for number in range(70)]
    nodes = table(make_node("a"), make_node("b").capacity(dict.fromkeys(names, 1)))
    found = rejections(fit(), make_pod().req(dict.fromkeys(names, 1)), nodes)
    assert found == {"a": Status.unresolvable(*(f"Insufficient {name}" for name in names))}


def test_the_filter_counts_what_the_pod_requests_as_a_whole_and_the_score_does_not() -> None:
    pod = make_pod().req(cpu="1", memory="1Gi").spec(resources={"requests": {"cpu": "5"}})
    nodes = table(make_node().capacity(cpu="4", memory="4Gi"))
    assert rejections(fit(), pod, nodes) == {"node": Status.unresolvable("Insufficient cpu")}
    assert scores(fit(), pod, nodes) == {"node": 75}


LOAD = (make_pod().req({"example.com/gpu": 1}, cpu="1", memory="1Gi"),)
NODE = make_node().capacity({"example.com/gpu": 4}, cpu="4", memory="10Gi")


@pytest.mark.parametrize(
    ("kind", "resources", "expected"),
    [
        pytest.param("LeastAllocated", {"cpu": 1, "memory": 1}, 60, id="least: mean of 50 and 70"),
        pytest.param("LeastAllocated", {"cpu": 3, "memory": 1}, 55, id="least: by weight"),
        pytest.param("MostAllocated", {"cpu": 1, "memory": 1}, 40, id="most: mean of 50 and 30"),
        pytest.param(
            "MostAllocated", {"cpu": 1, "none.com/x": 5}, 50, id="what the node lacks does not count"
        ),
        pytest.param(
            "MostAllocated", {"cpu": 1, "example.com/gpu": 5}, 50, id="nor what the pod does not ask for"
        ),
        pytest.param("MostAllocated", {"none.com/x": 5}, 0, id="nothing counts"),
        pytest.param("MostAllocated", {"pods": 1}, 0, id="a name that is not counted"),
    ],
)
def test_scoring_strategies(kind: str, resources: dict[str, int], expected: int) -> None:
    pod = make_pod().req(cpu="1", memory="2Gi")
    assert scores(scoring(kind, resources), pod, loaded(NODE, *LOAD)) == {"node": expected}


def test_pods_without_requests_count_in_the_score() -> None:
    nodes = loaded(make_node().capacity(cpu="1", memory="1000Mi"), make_pod().req())
    assert scores(scoring("MostAllocated", {"cpu": 1, "memory": 1}), make_pod().req(), nodes) == {"node": 30}


@pytest.mark.parametrize(
    ("kind", "expected"), [("LeastAllocated", 0), ("MostAllocated", 100), ("RequestedToCapacityRatio", 70)]
)
def test_more_than_there_is_counts_as_all(kind: str, expected: int) -> None:
    plugin = scoring(kind, {"cpu": 1}, (0, 0), (100, 7))
    assert scores(plugin, make_pod().req(cpu="9"), table(make_node().capacity(cpu="1"))) == {"node": expected}


@pytest.mark.parametrize(
    ("cpu", "expected"),
    [
        pytest.param("100m", 100, id="level before the first point"),
        pytest.param("300m", 75, id="between points"),
        pytest.param("310m", 73, id="truncated toward the point before"),
        pytest.param("400m", 50, id="on a point"),
        pytest.param("900m", 50, id="level after the last point"),
    ],
)
def test_the_ratios_function_is_linear_between_its_points(cpu: str, expected: int) -> None:
    plugin = scoring("RequestedToCapacityRatio", {"cpu": 1}, (20, 10), (40, 5))
    assert scores(plugin, make_pod().req(cpu=cpu), table(make_node().capacity(cpu="1"))) == {"node": expected}


def test_the_ratio_leaves_out_resources_that_score_nothing_and_rounds() -> None:
    nodes = table(make_node().capacity(cpu="1", memory="200"))
    plugin = scoring("RequestedToCapacityRatio", {"cpu": 1, "memory": 1}, (50, 0), (100, 10))
    assert scores(plugin, make_pod().req(cpu="750m", memory="1"), nodes) == {"node": 50}
    assert scores(plugin, make_pod().req(cpu="750m", memory="151"), nodes) == {"node": 50}
    assert scores(plugin, make_pod().req(cpu="760m", memory="151"), nodes) == {"node": 51}


def test_an_unknown_strategy_is_refused_at_start() -> None:
    with pytest.raises(ValueError, match="scoring strategy Odd is not supported"):
        scoring("Odd", {"cpu": 1})


@pytest.mark.parametrize(
    ("load", "pod", "expected"),
    [
        pytest.param((), make_pod().req(cpu="1", memory="1Gi"), 75, id="stays even"),
        pytest.param((), make_pod().req(cpu="4"), 50, id="tips it over"),
        pytest.param((make_pod().req(cpu="4"),), make_pod().req(memory="4Gi"), 100, id="evens it out"),
        pytest.param((), make_pod().req(cpu="2", memory="1Gi"), 68, id="tips it a little"),
    ],
)
def test_balance(load: tuple[PodBuilder, ...], pod: PodBuilder, expected: int) -> None:
    nodes = loaded(make_node().capacity(cpu="4", memory="4Gi"), *load)
    assert scores(balanced("cpu", "memory"), pod, nodes) == {"node": expected}


def test_balance_of_three_resources_and_of_nodes_that_lack_some() -> None:
    plugin = balanced("cpu", "memory", "example.com/gpu")
    nodes = table(
        make_node("all").capacity({"example.com/gpu": 1}, cpu="4", memory="4Gi"),
        make_node("two").capacity(cpu="4", memory="4Gi"),
        make_node("one").capacity(cpu="4"),
        make_node("none"),
    )
    pod = make_pod().req({"example.com/gpu": 1}, cpu="1", memory="2Gi")
    assert scores(plugin, pod, nodes) == {"all": 59, "two": 68, "one": 75, "none": 75}


def test_pods_that_request_none_of_the_resources_are_not_balanced() -> None:
    nodes = table(make_node().capacity(cpu="4", memory="4Gi"))
    assert scores(balanced("cpu", "memory"), make_pod().req(), nodes) is None
    cycle = Cycle(make_pod().req({"example.com/gpu": 1}).info())
    assert balanced("cpu", "memory").pre_score(cycle, nodes).code is Code.SKIP
