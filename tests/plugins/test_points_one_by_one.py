"""A profile enables points one by one: what a plugin answers whose PreFilter or PreScore does not run."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.explain.scenarios import answer_scenario
from tests.builders import make_node, make_pod
from tests.conformance.harness import make_workshop

WORKSHOP = make_workshop()


def ask(point: str, plugin: str, pod: Any, *objects: Any) -> Any:
    """The answer of a profile in which the plugin misses a point."""
    profile = {"plugins": {point: {"disabled": [{"name": plugin}]}}}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    node = make_node("n").capacity(cpu="4").doc()
    scenario = {"name": "s", "config": config, "objects": [node, *objects], "pod": pod.doc()}
    return answer_scenario(scenario, WORKSHOP)


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("NodePorts", 'reading "PreFilterNodePorts" from cycleState: not found'),
        ("NodeResourcesFit", 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'),
        ("VolumeRestrictions", 'cannot read "PreFilterVolumeRestrictions" from cycleState'),
        ("VolumeBinding", "not found"),
        ("PodTopologySpread", 'reading "PreFilterPodTopologySpread" from cycleState: not found'),
        ("InterPodAffinity", 'error reading "PreFilterInterPodAffinity" from cycleState: not found'),
        ("NodeDeclaredFeatures", 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'),
        ("DynamicResources", "not found"),
    ],
)
def test_filters_that_need_the_note_of_pre_filter_fail_on_every_node(plugin: str, words: str) -> None:
    found = ask("preFilter", plugin, make_pod("p").req(cpu="1"))
    text = f'running "{plugin}" filter plugin: {words}'
    assert found["filter"] == {"n": {"code": "Error", "plugin": plugin, "reasons": [text]}}
    assert found["scheduleError"] == text


@pytest.mark.parametrize(
    ("plugin", "words"),
    [
        ("TaintToleration", 'failed to read "PreScoreTaintToleration" from cycleState: not found'),
        ("PodTopologySpread", 'error reading "PreScorePodTopologySpread" from cycleState: not found'),
        ("InterPodAffinity", 'failed to read "PreScoreInterPodAffinity" from cycleState: not found'),
    ],
)
def test_scores_that_need_the_note_of_pre_score_fail(plugin: str, words: str) -> None:
    found = ask("preScore", plugin, make_pod("p").req(cpu="1"), make_node("m").capacity(cpu="4").doc())
    assert found["scheduleError"] == f'running Score plugins: plugin "{plugin}" failed with: {words}'


def test_balance_is_nothing_to_a_pod_without_requests() -> None:
    found = ask("preScore", "NodeResourcesBalancedAllocation", make_pod("p").container())
    assert found["scores"]["n"]["NodeResourcesBalancedAllocation"] == 0


def bound(**labels: str) -> list[Any]:
    """A claim, and its CSI volume with these labels."""
    return [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {
                "name": "c",
                "namespace": "default",
                "annotations": {"pv.kubernetes.io/bind-completed": "yes"},
            },
            "spec": {"volumeName": "v"},
        },
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": "v", "labels": labels},
            "spec": {"csi": {"driver": "d", "volumeHandle": "h"}},
        },
    ]


USER = make_pod("p").spec(volumes=[{"name": "c", "persistentVolumeClaim": {"claimName": "c"}}])


@pytest.mark.parametrize("plugin", ["VolumeZone", "NodeVolumeLimits", "NodeAffinity"])
def test_the_others_find_out_for_themselves(plugin: str) -> None:
    found = ask("preFilter", plugin, USER, *bound(**{"topology.kubernetes.io/zone": "a"}))
    assert found["feasible"] == ["n"]


def test_a_claim_that_is_missing_is_found_missing_node_by_node() -> None:
    disabled = [
        {"name": name} for name in ("VolumeRestrictions", "VolumeBinding", "NodeVolumeLimits", "VolumeZone")
    ]
    points = {"preFilter": {"disabled": disabled}, "filter": {"disabled": disabled[:3]}}
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"plugins": points}],
    }
    node = make_node("n").doc()
    found = answer_scenario({"config": config, "objects": [node], "pod": USER.doc()}, WORKSHOP)
    assert found["filter"]["n"] == {
        "code": "UnschedulableAndUnresolvable",
        "plugin": "VolumeZone",
        "reasons": ['persistentvolumeclaim "c" not found'],
    }
