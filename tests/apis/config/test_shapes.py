"""The shape of a file: strict like Kubernetes' decoder, and every fault in one pass."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config import load
from scheduler.features import Features
from tests.apis.config.loading import faults, load_text, loaded

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        ({"parallelism": "4"}, 'parallelism: Invalid value: "4": must be an integer'),
        ({"parallelism": 1.5}, "parallelism: Invalid value: 1.5: must be an integer"),
        ({"parallelism": True}, "parallelism: Invalid value: true: must be an integer"),
        ({"parallelism": 2**31}, "parallelism: Invalid value: 2147483648: must be an integer of 32 bits"),
        ({"Parallelism": 4}, "Parallelism: Forbidden: unknown field"),
        ({"healthzBindAddress": "x"}, "healthzBindAddress: Forbidden: unknown field"),
        ({"podMaxBackoffSeconds": 2**63}, "podMaxBackoffSeconds: Invalid value: 9223372036854775808: must be an integer of 64 bits"),
        ({"enableProfiling": "true"}, 'enableProfiling: Invalid value: "true": must be a boolean'),
        ({"enableProfiling": 1}, "enableProfiling: Invalid value: 1: must be a boolean"),
        ({"profiles": 3}, "profiles: Invalid value: 3: must be a list"),
        ({"profiles": {}}, "profiles: Invalid value: {}: must be a list"),
        ({"profiles": ["x"]}, 'profiles[0]: Invalid value: "x": must be a mapping'),
        ({"profiles": [{"schedulerName": 5}]}, "profiles[0].schedulerName: Invalid value: 5: must be a string"),
        ({"profiles": [{"plugins": {"scoring": {}}}]}, "profiles[0].plugins.scoring: Forbidden: unknown field"),
        ({"profiles": [{"plugins": {"score": []}}]}, "profiles[0].plugins.score: Invalid value: []: must be a mapping"),
        ({"profiles": [{"plugins": {"score": {"enabled": [{"weight": "1"}]}}}]}, 'profiles[0].plugins.score.enabled[0].weight: Invalid value: "1": must be an integer'),
        ({"leaderElection": []}, "leaderElection: Invalid value: []: must be a mapping"),
        ({"leaderElection": {"leaseDuration": 15}}, "leaderElection.leaseDuration: Invalid value: 15: must be a duration such as 15s"),
        ({"leaderElection": {"leaseDuration": "15"}}, 'leaderElection.leaseDuration: Invalid value: "15": time: missing unit in duration "15"'),
        ({"leaderElection": {"leaseDuration": None}}, "leaderElection.leaseDuration: Invalid value: null: must be a duration such as 15s"),
        ({"clientConnection": {"qps": "50"}}, 'clientConnection.qps: Invalid value: "50": must be a number'),
        ({"clientConnection": {"qps": 1e39}}, "clientConnection.qps: Invalid value: 1e+39: must be a number of 32 bits"),
        ({"extenders": [{"enableHttps": True}]}, "extenders[0].enableHttps: Forbidden: unknown field"),
        ({"extenders": [{"tlsConfig": {"caData": "%"}}]}, 'extenders[0].tlsConfig.caData: Invalid value: "%": must be base64 text'),
        ({"extenders": [{"httpTimeout": None}]}, "extenders[0].httpTimeout: Invalid value: null: must be a duration such as 15s"),
    ],
)  # fmt: skip
def test_a_wrong_shape_is_refused_with_its_place(fields: dict[str, Any], line: str) -> None:
    assert faults(**fields) == [line]


def test_all_wrong_shapes_are_told_at_once_in_the_order_of_the_file() -> None:
    text = """
unknown: {}
parallelism: "4"
profiles:
- pluginConfig: [{name: NodeResourcesFit, args: {foo: 1, scoringStrategy: {x: 1}, bar: 2}}]
  schedulerName: 1
extenders: 3
"""
    assert [error.path for error in load_text(text).errors] == [
        "unknown",
        "parallelism",
        "profiles[0].pluginConfig[0].args.foo",
        "profiles[0].pluginConfig[0].args.scoringStrategy.x",
        "profiles[0].pluginConfig[0].args.bar",
        "profiles[0].schedulerName",
        "extenders",
    ]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("{}", ["apiVersion: Required value", "kind: Required value"]),
        ("kind: KubeSchedulerConfiguration", ["apiVersion: Required value"]),
        ("kind: Pod\napiVersion: v1\nfoo: 1", ["apiVersion: Unsupported value", "kind: Unsupported value"]),
        (
            "kind: KubeSchedulerConfiguration\napiVersion: kubescheduler.config.k8s.io/v1beta3",
            ["apiVersion: Unsupported value"],
        ),
    ],
)
def test_another_kind_of_file_is_refused_for_that_alone(text: str, lines: list[str]) -> None:
    errors = load(text, source="f", features=Features.default()).errors
    assert [str(error).rsplit(": ", str(error).count(": ") - 1)[0] for error in errors] == lines


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "empty"),
        ("# all of it is commented out\n", "empty"),
        ("null", "empty"),
        ("[1]", "a list"),
        ("- kind: KubeSchedulerConfiguration", "a list"),
        ("5", "a single value"),
        ("kind=KubeSchedulerConfiguration", "a single value"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused_for_that_alone(text: str, found: str) -> None:
    errors = load(text, source="f.yaml", features=Features.default()).errors
    assert [str(error) for error in errors] == [
        f"f.yaml: Invalid value: must be a mapping with apiVersion and kind; it is {found}"
    ]


def test_explicit_nulls_are_the_same_as_absence() -> None:
    nothing = loaded()
    nulls = loaded(
        parallelism=None,
        leaderElection={"leaderElect": None, "resourceName": None},
        clientConnection=None,
        enableProfiling=None,
        profiles=[None],
        extenders=None,
    )
    assert nulls == nothing


def test_null_items_are_zero_values() -> None:
    result = load_text("profiles:\n- pluginConfig: [null]\n  plugins: {score: {disabled: [null]}}\n")
    assert result.config is not None
    assert result.config.profiles[0].plugins["score"].disabled[0].name == ""


def test_zero_values_are_defaults_where_upstream_cannot_tell() -> None:
    config = loaded(
        leaderElection={"leaderElect": False, "leaseDuration": "0s", "resourceName": "", "resourceLock": ""},
        clientConnection={"qps": 0, "burst": 0, "contentType": ""},
    )
    assert not config.leader_election.leader_elect
    assert config.leader_election.lease_duration == 15 * SECOND
    assert config.leader_election.resource_name == "kube-scheduler"
    assert (config.client_connection.qps, config.client_connection.burst) == (50.0, 100)


@pytest.mark.parametrize(
    ("fields", "profiling", "contention"),
    [
        ({}, True, True),
        ({"enableProfiling": False}, False, False),
        ({"enableProfiling": False, "enableContentionProfiling": True}, False, True),
        ({"enableContentionProfiling": False}, True, False),
    ],
)
def test_contention_profiling_follows_profiling(
    fields: dict[str, Any], profiling: bool, contention: bool
) -> None:
    config = loaded(**fields)
    assert (config.enable_profiling, config.enable_contention_profiling) == (profiling, contention)


def test_a_whole_number_may_be_written_as_a_fraction_in_yaml_but_not_in_json() -> None:
    result = load_text("parallelism: 4.0\n")
    assert result.config is not None
    assert result.config.parallelism == 4
    head = '{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", '
    errors = load(head + '"parallelism": 4.0}', source="f", features=Features.default()).errors
    assert [error.path for error in errors] == ["parallelism"]


def test_what_has_no_effect_is_warned_about() -> None:
    text = (
        "profiles: [{pluginConfig: [{name: Gone, args: {}}]}]\nextenders: [{enableHTTPS: true}]\n---\nx: 1\n"
    )
    assert load_text(text).warnings == [
        "config.yaml: only the first of several YAML documents is used",
        "config.yaml: profiles[0].pluginConfig[0]: the plugin 'Gone' is not enabled, its arguments have no effect",
        "config.yaml: extenders[0]: without a CA the certificate of the extender is not verified",
    ]


def test_a_key_is_never_shown() -> None:
    config = loaded(extenders=[{"urlPrefix": "http://x", "tlsConfig": {"keyData": "c2VjcmV0"}}])
    assert "secret" not in repr(config)
