"""The values of a file: what upstream refuses when it validates and when it starts, in one pass and with paths."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from scheduler.apis.config import default, startup_errors, validate
from scheduler.apis.config.defaults import IMPLEMENTED, implements_in_tree
from scheduler.features import Features
from tests.apis.config.loading import faults, loaded

REMOVED = 'was invalid in version "kubescheduler.config.k8s.io/v1"'


def plugins(**sets: Any) -> dict[str, Any]:
    """One profile with these plugin sets."""
    return {"profiles": [{"plugins": sets}]}


def enabled(*names: str) -> dict[str, Any]:
    """A set that enables these plugins."""
    return {"enabled": [{"name": name} for name in names]}


@pytest.mark.parametrize(
    ("fields", "lines"),
    [
        ({"parallelism": 0}, ["parallelism: Invalid value: 0: should be an integer value greater than zero"]),
        ({"percentageOfNodesToScore": 101}, ["percentageOfNodesToScore: Invalid value: 101: not in valid range [0-100]"]),
        ({"profiles": [{"percentageOfNodesToScore": -1}]}, ["profiles[0].percentageOfNodesToScore: Invalid value: -1: not in valid range [0-100]"]),
        ({"podInitialBackoffSeconds": 0}, ["podInitialBackoffSeconds: Invalid value: 0: must be greater than 0"]),
        ({"podMaxBackoffSeconds": 0}, ["podMaxBackoffSeconds: Invalid value: 0: must be greater than or equal to PodInitialBackoffSeconds"]),
        ({"clientConnection": {"burst": -1}}, ["clientConnection.burst: Invalid value: -1: must be non-negative"]),
        ({"leaderElection": {"renewDeadline": "-1s"}}, ['leaderElection.renewDeadline: Invalid value: "-1s": must be greater than zero']),
        ({"leaderElection": {"leaseDuration": "10s"}}, ['leaderElection.leaseDuration: Invalid value: "10s": must be greater than `RenewDeadline`']),
        ({"leaderElection": {"resourceLock": "endpoints"}}, ['leaderElection.resourceLock: Invalid value: "endpoints": resourceLock value must be "leases"']),
        ({"profiles": [{"schedulerName": ""}]}, ["profiles[0].schedulerName: Required value"]),
        ({"profiles": [{"schedulerName": "a"}, {}]}, ["profiles[1].schedulerName: Required value"]),
        ({"profiles": [{"schedulerName": "a"}, {"schedulerName": "a"}]}, ['profiles[1].schedulerName: Duplicate value: "a"']),
        ({"profiles": [{"pluginConfig": [{"name": "X"}, {"name": "X"}]}]}, ['profiles[0].pluginConfig[1]: Duplicate value: "X"']),
        ({"extenders": [{"prioritizeVerb": "p"}]}, ["extenders[0].weight: Invalid value: 0: must have a positive weight applied to it"]),
        ({"extenders": [{"bindVerb": "b"}, {"bindVerb": "b"}]}, ['extenders: Invalid value: "found 2 extenders implementing bind": only one extender can implement bind']),
        ({"extenders": [{"managedResources": [{"name": "cpu"}]}]}, ['extenders[0].managedResources[0].name: Invalid value: "cpu": is an invalid extended resource name']),
        ({"extenders": [{"managedResources": [{"name": "x.kubernetes.io/a"}]}]}, ['extenders[0].managedResources[0].name: Invalid value: "x.kubernetes.io/a": is an invalid extended resource name']),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_with_its_place(fields: dict[str, Any], lines: list[str]) -> None:
    assert faults(**fields) == lines


@pytest.mark.parametrize(
    "fields",
    [
        {"leaderElection": {"leaderElect": False, "leaseDuration": "-1s", "resourceLock": "x"}},
        {"leaderElection": {"retryPeriod": "9s"}},
        {"extenders": [{"urlPrefix": ":::"}]},
        {"extenders": [{"weight": -5, "httpTimeout": "-1s"}]},
        plugins(score={"enabled": [{"name": "NodeResourcesFit", "weight": -3}]}),
        plugins(multiPoint={"disabled": [{"name": "NoSuch"}]}),
        plugins(multiPoint=enabled("OutOfTree")),
        plugins(score=enabled("OutOfTree")),
        {"profiles": [{"pluginConfig": [{"name": "OutOfTree", "args": 3}]}]},
    ],
)
def test_an_odd_value_that_upstream_accepts_is_accepted(fields: dict[str, Any]) -> None:
    loaded(**fields)


def test_all_wrong_values_are_told_at_once_from_every_stage() -> None:
    lines = faults(
        parallelism=0,
        profiles=[
            {
                "plugins": {"score": enabled("NodeName"), "filter": enabled("EBSLimits")},
                "pluginConfig": [
                    {"name": "NodeResourcesFit", "args": {"scoringStrategy": {}}},
                    {"name": "InterPodAffinity", "args": {"hardPodAffinityWeight": 101}},
                ],
            }
        ],
        extenders=[{"bindVerb": "a"}, {"bindVerb": "b"}],
    )
    assert [line.split(": ")[0] for line in lines] == [
        "parallelism",
        "profiles[0].plugins.filter.enabled[0]",
        "profiles[0].pluginConfig[1].args.hardPodAffinityWeight",
        "extenders",
        "profiles[0].pluginConfig[0].args.scoringStrategy.type",
        "profiles[0].plugins.score.enabled[0]",
    ]


@pytest.mark.parametrize("point", ["filter", "multiPoint"])
def test_a_removed_plugin_is_not_an_out_of_tree_plugin(point: str) -> None:
    lines = faults(**plugins(**{point: enabled("CinderLimits")}))
    assert len(lines) == 1
    assert REMOVED in lines[0]


@pytest.mark.parametrize(
    ("first", "second", "lines"),
    [
        (enabled("PrioritySort"), {}, 1),
        (enabled("PrioritySort"), enabled("PrioritySort"), 0),
        ({}, {"disabled": [{"name": "Other"}]}, 1),
    ],
)
def test_all_profiles_sort_the_queue_alike(first: Any, second: Any, lines: int) -> None:
    profiles = [
        {"schedulerName": "a", "plugins": {"queueSort": first}},
        {"schedulerName": "b", "plugins": {"queueSort": second}},
    ]
    if not lines:
        loaded(profiles=profiles)
        return
    assert [line.split(": ")[0] for line in faults(profiles=profiles)] == ["profiles[1].plugins.queueSort"]


def test_the_arguments_of_the_queue_sort_are_alike_too() -> None:
    profiles = [
        {
            "schedulerName": name,
            "plugins": {"queueSort": enabled("PrioritySort")},
            "pluginConfig": [{"name": "PrioritySort", "args": {"x": name}}],
        }
        for name in "ab"
    ]
    assert [line.split(": ")[0] for line in faults(profiles=profiles)] == ["profiles[1].pluginConfig[0].args"]


@pytest.mark.parametrize(
    ("sets", "places"),
    [
        pytest.param({"score": enabled("NodeName")}, ["score.enabled[0]"], id="no such point"),
        pytest.param(
            {"filter": enabled("NodeName", "NodeName")}, ["filter.enabled[1]"], id="twice at a point"
        ),
        pytest.param({"multiPoint": enabled("NodeName", "NodeName")}, ["multiPoint.enabled[20]"], id="twice"),
        pytest.param({"queueSort": {"disabled": [{"name": "*"}]}}, ["queueSort"], id="no queue sort"),
        pytest.param({"bind": {"disabled": [{"name": "*"}]}}, ["bind"], id="no binder"),
        pytest.param(
            {"multiPoint": {"disabled": [{"name": "*"}]}}, ["queueSort", "bind"], id="nothing at all"
        ),
        pytest.param({"score": {"enabled": [{"weight": 1}]}}, ["score.enabled[0].name"], id="no name"),
        pytest.param({"filter": enabled("*")}, ["filter.enabled[0].name"], id="star enables nothing"),
    ],
)
def test_what_upstream_finds_at_start_is_found_at_load(sets: dict[str, Any], places: list[str]) -> None:
    lines = faults(**plugins(**sets))
    assert [line.split(": ")[0] for line in lines] == [f"profiles[0].plugins.{place}" for place in places]


@pytest.mark.parametrize("second", [[], [{"name": "PrioritySort", "args": {"x": 2}}]])
def test_a_queue_sort_by_default_has_the_same_arguments_in_all_profiles(second: list[Any]) -> None:
    first = [{"name": "PrioritySort", "args": {"x": 1}}]
    profiles = [{"schedulerName": "a", "pluginConfig": first}, {"schedulerName": "b", "pluginConfig": second}]
    assert [line.split(": ")[0] for line in faults(profiles=profiles)] == ["profiles[1].pluginConfig"]
    loaded(profiles=[{"schedulerName": name, "pluginConfig": first} for name in "ab"])


def test_a_kind_is_not_the_name_of_a_plugin() -> None:
    lines = faults(profiles=[{"pluginConfig": [{"name": "NodeResourcesFitArgs", "args": {}}]}])
    assert lines == ["profiles[0].pluginConfig[0].args: Invalid value: {}: has to match plugin args"]


def test_an_out_of_tree_plugin_may_be_the_queue_sort_and_the_binder() -> None:
    sets = {"multiPoint": {"disabled": [{"name": "*"}], **enabled("Everything")}}
    loaded(**plugins(**sets))


def test_once_all_plugins_are_known_the_unknown_ones_are_found() -> None:
    config = loaded(**plugins(multiPoint=enabled("Nope"), score=enabled("Mine")))
    points = {**IMPLEMENTED, "Mine": frozenset({"score"})}
    errors = startup_errors(
        config, known=points, implements=lambda name, point: point in points.get(name, ())
    )
    assert [str(error) for error in errors] == [
        'profiles[0].plugins.multiPoint.enabled[20]: Not found: "Nope"'
    ]


def test_arguments_of_a_disabled_fit_plugin_do_not_matter() -> None:
    broken = [{"name": "NodeResourcesFit", "args": {"scoringStrategy": {"type": "Weird"}}}]
    off = {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}
    loaded(profiles=[{"plugins": off, "pluginConfig": broken}])
    assert faults(profiles=[{"pluginConfig": broken}])


def test_ignored_resources_need_the_arguments_of_the_fit_plugin() -> None:
    extender = {"managedResources": [{"name": "example.com/a", "ignoredByScheduler": True}]}
    off = {"multiPoint": {"disabled": [{"name": "NodeResourcesFit"}]}}
    lines = faults(profiles=[{"plugins": off}], extenders=[extender])
    assert [line.split(": ")[0] for line in lines] == ["profiles[0].pluginConfig"]


def test_a_changed_configuration_can_be_validated_again() -> None:
    features = Features.default()
    config = default(features)
    assert validate(config, features) == []
    election = replace(config.leader_election, resource_name="", resource_namespace="", resource_lock="")
    errors = validate(replace(config, leader_election=election, profiles=()), features)
    assert [error.path for error in errors] == [
        "leaderElection.resourceNamespace",
        "leaderElection.resourceName",
        "leaderElection.resourceLock",
        "leaderElection.resourceLock",
        "profiles",
    ]


def test_the_default_plugins_are_in_the_table_of_points() -> None:
    names = {plugin.name for plugin in default(Features.default()).profiles[0].plugins["multiPoint"].enabled}
    assert names <= set(IMPLEMENTED)
    assert implements_in_tree("NodeName", "filter")
    assert not implements_in_tree("OutOfTree", "filter")
