"""Writing a configuration back: what was read is what is written, in kube-scheduler's own form."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.config import default, dump, load, tree
from scheduler.features import Features
from tests.apis.config.loading import loaded

ALL_ALPHA = Features.parse(["AllAlpha=true"])[0]
TERM = {
    "matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}],
    "matchFields": [{"key": "metadata.name", "operator": "NotIn", "values": ["n"]}],
}


def written_args(name: str, args: Any, features: Features | None = None) -> dict[str, Any]:
    """A plugin's arguments as they are written back, without their kind and version."""
    config = loaded(features, profiles=[{"pluginConfig": [{"name": name, "args": args}]}])
    configs = {entry["name"]: entry["args"] for entry in tree(config)["profiles"][0]["pluginConfig"]}
    found: dict[str, Any] = configs[name]
    assert found.pop("kind") == f"{name}Args"
    assert found.pop("apiVersion") == "kubescheduler.config.k8s.io/v1"
    return found


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("NodeAffinity", {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [TERM]}, "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "preference": TERM}]}}),
        ("NodeAffinity", {"addedAffinity": {}}),
        ("NodeResourcesFit", {"ignoredResources": ["a.b/c"], "ignoredResourceGroups": ["a.b"], "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 5}]}}),
        ("NodeResourcesFit", {"scoringStrategy": {"type": "RequestedToCapacityRatio", "resources": [{"name": "cpu", "weight": 1}], "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]}}}),
        ("PodTopologySpread", {"defaultingType": "List", "defaultConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 0, "nodeAffinityPolicy": "Ignore", "nodeTaintsPolicy": "", "matchLabelKeys": ["a"]}]}),
        ("DynamicResources", {"filterTimeout": "0s", "bindingTimeout": "1m0s"}),
        ("DefaultPreemption", {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}),
        ("InterPodAffinity", {"hardPodAffinityWeight": 0, "ignorePreferredTermsOfExistingPods": True}),
        ("NodeResourcesBalancedAllocation", {"resources": [{"name": "a", "weight": 1}]}),
        ("VolumeBinding", {"bindTimeoutSeconds": 0}),
    ],
)  # fmt: skip
def test_canonical_arguments_are_written_as_they_were_read(name: str, args: dict[str, Any]) -> None:
    assert written_args(name, args) == args


def test_gates_show_in_what_is_written() -> None:
    off = Features.default().with_gates(DRASchedulerFilterTimeout=False, DRADeviceBindingConditions=False)
    assert written_args("DynamicResources", {}, off) == {"filterTimeout": None}
    shape = [{"utilization": 0, "score": 10}, {"utilization": 100, "score": 0}]
    assert written_args("VolumeBinding", {}, ALL_ALPHA) == {"bindTimeoutSeconds": 600, "shape": shape}


def test_an_extender_is_written_as_it_was_read() -> None:
    extender = {
        "urlPrefix": "https://x",
        "filterVerb": "f",
        "preemptVerb": "p",
        "prioritizeVerb": "q",
        "weight": 5,
        "bindVerb": "b",
        "enableHTTPS": True,
        "tlsConfig": {"insecure": True, "serverName": "s", "keyData": "a2V5"},
        "httpTimeout": "100ms",
        "nodeCacheCapable": True,
        "managedResources": [{"name": "a.b/c", "ignoredByScheduler": True}, {"name": "a.b/d"}],
        "ignorable": True,
    }
    assert tree(loaded(extenders=[extender]))["extenders"] == [extender]
    assert tree(loaded(extenders=[{}]))["extenders"] == [{"urlPrefix": "", "httpTimeout": "5s"}]


def test_only_plugins_that_are_built_are_written_with_arguments() -> None:
    profile = {
        "plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}], "enabled": [{"name": "Mine"}]}},
        "pluginConfig": [
            {"name": "Mine", "args": {"a": 1}},
            {"name": "Gone", "args": {}},
            {"name": "VolumeBinding"},
        ],
        "percentageOfNodesToScore": 0,
    }
    found = tree(loaded(profiles=[profile]))["profiles"][0]
    names = [entry["name"] for entry in found["pluginConfig"]]
    assert names == sorted(names)
    assert "Mine" in names
    assert {"Gone", "VolumeBinding"}.isdisjoint(names)
    assert found["percentageOfNodesToScore"] == 0


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({}, '  kubeconfig: ""'),
        ({}, "  qps: 50"),
        ({"clientConnection": {"qps": 0.1}}, "  qps: 0.1"),
        ({"clientConnection": {"qps": 16777217.5}}, "  qps: 16777218"),
        ({"clientConnection": {"kubeconfig": "yes"}}, '  kubeconfig: "yes"'),
        ({"clientConnection": {"kubeconfig": "010"}}, '  kubeconfig: "010"'),
        ({"delayCacheUntilActive": True}, "delayCacheUntilActive: true"),
        ({"profiles": [{"plugins": {"permit": {"disabled": [{"name": "*"}]}}}]}, "      - name: '*'"),
    ],
)
def test_lines_look_like_upstream_writes_them(fields: dict[str, Any], line: str) -> None:
    assert line in dump(loaded(**fields)).splitlines()


def test_a_disabled_plugin_loses_its_weight() -> None:
    sets = {"score": {"disabled": [{"name": "NodeAffinity", "weight": 5}]}}
    written = tree(loaded(profiles=[{"plugins": sets}]))["profiles"][0]["plugins"]["score"]
    assert written == {"disabled": [{"name": "NodeAffinity", "weight": 0}]}


@pytest.mark.parametrize(
    "features", [Features.default(), ALL_ALPHA, Features.default("1.35")], ids=["1.36", "alpha", "1.35"]
)
def test_the_default_configuration_survives_being_written_and_read(features: Features) -> None:
    config = default(features)
    again = load(dump(config), source="f", features=features)
    assert again.errors == []
    assert again.config == config


@given(st.text(st.characters(codec="utf-8", exclude_categories=["C"]), min_size=1, max_size=12))
def test_any_name_survives_being_written_and_read(name: str) -> None:
    config = loaded(profiles=[{"schedulerName": name}])
    assert config.profiles[0].scheduler_name == name
    again = load(dump(config), source="f", features=Features.default())
    assert again.config == config
    assert yaml.safe_load(dump(config)) == tree(config)
