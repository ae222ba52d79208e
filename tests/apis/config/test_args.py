"""Arguments of the in-tree plugins: defaults, faults, and what feature gates change about them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config.args import (
    DefaultPreemptionArgs,
    DynamicResourcesArgs,
    InterPodAffinityArgs,
    NodeResourcesFitArgs,
    ResourceSpec,
    UtilizationShapePoint,
)
from scheduler.apis.config.args_schema import PLUGINS_WITH_ARGS
from scheduler.apis.objects import NodeAffinity
from scheduler.features import Features
from tests.apis.config.loading import args_faults, args_of, faults, loaded

SECOND = 1_000_000_000
CAPACITY = Features.default().with_gates(StorageCapacityScoring=True)
RATIO = "RequestedToCapacityRatio"


@pytest.mark.parametrize("name", PLUGINS_WITH_ARGS)
@pytest.mark.parametrize("args", [None, {}, {"kind": None}])
def test_empty_arguments_are_the_defaults(name: str, args: Any) -> None:
    assert args_of(name, args) == loaded().profiles[0].plugin_config[name]


@pytest.mark.parametrize("name", PLUGINS_WITH_ARGS)
def test_arguments_may_name_their_own_kind_only(name: str) -> None:
    args_of(name, {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": f"{name}Args"})
    lines = args_faults(name, {"apiVersion": "v1", "kind": "OtherArgs"})
    assert [line.split(": ")[0] for line in lines] == ["apiVersion", "kind"]


def test_arguments_arrive_typed() -> None:
    assert args_of("InterPodAffinity", {"hardPodAffinityWeight": 5}) == InterPodAffinityArgs(5)
    assert args_of("DefaultPreemption", {"minCandidateNodesAbsolute": 7}) == DefaultPreemptionArgs(10, 7)
    assert args_of("DynamicResources", {"bindingTimeout": "1s"}) == DynamicResourcesArgs(10 * SECOND, SECOND)
    fit = args_of(
        "NodeResourcesFit", {"scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "a"}]}}
    )
    assert isinstance(fit, NodeResourcesFitArgs)
    assert fit.scoring_strategy.resources == (ResourceSpec("a", 1),)


def test_arguments_of_other_plugins_stay_as_they_are() -> None:
    assert args_of("OutOfTree", {"a": [1, None, {"b": "c"}]}) == {"a": [1, None, {"b": "c"}]}


def test_added_affinity_arrives_as_the_object_that_pods_carry() -> None:
    term = {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}
    added = {
        "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]},
        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "preference": term}],
    }
    affinity = args_of("NodeAffinity", {"addedAffinity": added}).added_affinity
    assert isinstance(affinity, NodeAffinity)
    assert affinity.required is not None
    assert affinity.required.node_selector_terms[0].match_expressions[0].values == ("a",)
    assert affinity.preferred[0].weight == 5


def constraint(**changes: Any) -> dict[str, Any]:
    """List defaulting with one valid constraint, changed."""
    valid = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
    return {"defaultingType": "List", "defaultConstraints": [valid | changes]}


def strategy(**fields: Any) -> dict[str, Any]:
    """A scoring strategy with these fields."""
    return {"scoringStrategy": fields}


def shaped(*points: tuple[int, int]) -> dict[str, Any]:
    """The strategy by ratio with these (utilization, score) points."""
    shape = [{"utilization": u, "score": s} for u, s in points]
    return strategy(type=RATIO, requestedToCapacityRatio={"shape": shape})


PLACE = "scoringStrategy.requestedToCapacityRatio"
CASES: list[tuple[str, Any, list[str]]] = [
    ("DefaultPreemption", {"minCandidateNodesPercentage": 101}, ["minCandidateNodesPercentage: Invalid value: 101: not in valid range [0, 100]"]),
    ("DefaultPreemption", {"minCandidateNodesAbsolute": -1}, ["minCandidateNodesAbsolute: Invalid value: -1: not in valid range [0, inf)"]),
    (
        "DefaultPreemption",
        {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0},
        [
            "minCandidateNodesPercentage: Invalid value: 0: cannot be zero at the same time as minCandidateNodesAbsolute",
            "minCandidateNodesAbsolute: Invalid value: 0: cannot be zero at the same time as minCandidateNodesPercentage",
        ],
    ),
    ("InterPodAffinity", {"hardPodAffinityWeight": 101}, ["hardPodAffinityWeight: Invalid value: 101: not in valid range [0, 100]"]),
    ("NodeResourcesBalancedAllocation", {"resources": [{"name": "a", "weight": 2}]}, ["resources[0].weight: Invalid value: 2: must be 1"]),
    ("NodeResourcesBalancedAllocation", {"resources": [{"name": "a"}, {"name": "a"}]}, ['resources[1].name: Duplicate value: "a"']),
    ("NodeResourcesFit", {"ignoredResourceGroups": ["a/b"]}, ['ignoredResourceGroups[0]: Invalid value: "a/b": resource group name can\'t contain \'/\'']),
    ("NodeResourcesFit", strategy(type="MostAllocated", resources=[{"name": "a", "weight": 101}]), ["scoringStrategy.resources[0].weight: Invalid value: 101: resource weight of a not in valid range (0, 100]"]),
    ("NodeResourcesFit", strategy(type=RATIO), [f"{PLACE}: Required value: must be specified when type is {RATIO}"]),
    ("NodeResourcesFit", strategy(type="MostAllocated", requestedToCapacityRatio={}), [f"{PLACE}: Forbidden: must be nil when type is not {RATIO}"]),
    ("NodeResourcesFit", shaped(), [f"{PLACE}.shape: Required value: at least one point must be specified"]),
    ("NodeResourcesFit", shaped((50, 0), (50, 1)), [f"{PLACE}.shape[1].utilization: Invalid value: 50: values must be sorted in increasing order"]),
    (
        "NodeResourcesFit",
        shaped((-1, 0), (101, 11)),
        [
            f"{PLACE}.shape[0].utilization: Invalid value: -1: not in valid range [0, 100]",
            f"{PLACE}.shape[1].utilization: Invalid value: 101: not in valid range [0, 100]",
            f"{PLACE}.shape[1].score: Invalid value: 11: not in valid range [0, 10]",
        ],
    ),
    ("PodTopologySpread", {"defaultingType": "Other"}, ['defaultingType: Unsupported value: "Other": supported values: "System", "List"']),
    ("PodTopologySpread", constraint() | {"defaultingType": "System"}, ['defaultingType: Invalid value: "System": when .defaultConstraints are not empty']),
    ("PodTopologySpread", constraint(maxSkew=0), ["defaultConstraints[0].maxSkew: Invalid value: 0: not in valid range (0, inf)"]),
    ("PodTopologySpread", constraint(topologyKey=""), ["defaultConstraints[0].topologyKey: Required value: can not be empty"]),
    ("PodTopologySpread", constraint(whenUnsatisfiable=""), ["defaultConstraints[0].whenUnsatisfiable: Required value: can not be empty"]),
    ("PodTopologySpread", constraint(whenUnsatisfiable="X"), ['defaultConstraints[0].whenUnsatisfiable: Unsupported value: "X": supported values: "DoNotSchedule", "ScheduleAnyway"']),
    ("PodTopologySpread", constraint(labelSelector={"matchLabels": {"a": "b"}}), ["defaultConstraints[0].labelSelector: Forbidden: constraint must not define a selector, as they deduced for each pod"]),
    ("PodTopologySpread", constraint(labelSelector={"matchLabels": {"a": 1}}), ['defaultConstraints[0].labelSelector.matchLabels: Invalid value: {"a":1}: must be a mapping of strings']),
    ("VolumeBinding", {"bindTimeoutSeconds": -1}, ["bindTimeoutSeconds: Invalid value: -1: invalid BindTimeoutSeconds, should not be a negative value"]),
    ("VolumeBinding", {"shape": []}, ["shape: Invalid value: []: unexpected field `shape`, remove it or turn on the feature gate StorageCapacityScoring"]),
    ("DynamicResources", {"filterTimeout": "-1s"}, ['filterTimeout: Invalid value: "-1s": must be zero or positive']),
    ("DynamicResources", {"bindingTimeout": "999ms"}, ['bindingTimeout: Invalid value: "999ms": must be at least 1 second']),
    (
        "NodeAffinity",
        {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "In"}]}]}}},
        ["addedAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty"],
    ),
    (
        "NodeAffinity",
        {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": {"matchFields": [{"key": "metadata.name", "operator": "Gt"}]}}]}},
        ['addedAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].matchFields[0].operator: Unsupported value: "Gt": supported values: "In", "NotIn"'],
    ),
    ("NodeAffinity", {"addedAffinity": {"foo": 1}}, ["addedAffinity.foo: Forbidden: unknown field"]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args", "lines"), CASES)
def test_a_wrong_argument_is_refused_with_its_place(name: str, args: Any, lines: list[str]) -> None:
    assert args_faults(name, args) == lines


@pytest.mark.parametrize("args", [3, "x", [], True])
def test_arguments_of_an_in_tree_plugin_are_a_mapping(args: Any) -> None:
    lines = faults(profiles=[{"pluginConfig": [{"name": "NodeAffinity", "args": args}]}])
    assert [line.split(": ")[0] for line in lines] == ["profiles[0].pluginConfig[0].args"]


def test_capacity_scoring_has_a_shape_while_its_gate_is_on() -> None:
    assert args_of("VolumeBinding", {}).shape is None
    default = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))
    assert args_of("VolumeBinding", {"shape": []}, CAPACITY).shape == default
    lines = args_faults("VolumeBinding", {"shape": [{"utilization": 0, "score": 11}]}, CAPACITY)
    assert lines == ["shape[0].score: Invalid value: 11: not in valid range [0, 10]"]


@pytest.mark.parametrize(
    ("gate", "field"),
    [
        ("DRASchedulerFilterTimeout", "filterTimeout"),
        ("DRADeviceBindingConditions", "bindingTimeout"),
        ("DRAResourceClaimDeviceStatus", "bindingTimeout"),
    ],
)
def test_time_limits_exist_only_while_their_gates_are_on(gate: str, field: str) -> None:
    features = Features.default().with_gates(**{gate: False})
    args = args_of("DynamicResources", {}, features)
    assert (args.filter_timeout if field == "filterTimeout" else args.binding_timeout) is None
    lines = args_faults("DynamicResources", {field: "5s"}, features)
    assert len(lines) == 1
    assert lines[0].startswith(f"{field}: Forbidden: ")


def test_resources_that_an_extender_keeps_replace_the_ignored_ones() -> None:
    extender = {
        "managedResources": [{"name": "example.com/b", "ignoredByScheduler": True}, {"name": "example.com/c"}]
    }
    profiles = [
        {"pluginConfig": [{"name": "NodeResourcesFit", "args": {"ignoredResources": ["example.com/a"]}}]}
    ]
    config = loaded(profiles=profiles, extenders=[extender])
    assert config.profiles[0].plugin_config["NodeResourcesFit"].ignored_resources == ("example.com/b",)
