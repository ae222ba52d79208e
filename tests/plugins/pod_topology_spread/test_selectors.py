"""Selectors: matchLabelKeys, what the API server merged already, and what cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.features import Features
from scheduler.framework.cycle import Cycle
from scheduler.framework.status import Code
from tests.builders import PodBuilder
from tests.plugins.harness import Handle
from tests.plugins.pod_topology_spread.world import (
    cluster,
    fitting,
    hard,
    make_spread,
    put,
    soft,
    spread,
    web,
)

ZONES = {"a1": "a", "b1": "b"}
REVISION = "pod-template-hash"
ON = Features.default()
OFF = ON.with_gates(
    MatchLabelKeysInPodTopologySpread=False, MatchLabelKeysInPodTopologySpreadSelectorMerge=False
)
UNMERGED = ON.with_gates(MatchLabelKeysInPodTopologySpreadSelectorMerge=False)
WEB = {"app": "web"}


@pytest.mark.parametrize("features", [ON, UNMERGED], ids=["merging API server", "older API server"])
@pytest.mark.parametrize(
    ("selector", "keys", "expected"),
    [
        pytest.param({"matchLabels": WEB}, [REVISION], "a1", id="only pods of the same revision count"),
        pytest.param({}, [REVISION], "a1", id="a selector of everything is narrowed and counts"),
        pytest.param(None, [REVISION], "a1 b1", id="no selector stays one of nothing"),
        pytest.param(
            {"matchLabels": WEB}, ["absent"], "a1 b1", id="a label that the pod lacks is left aside"
        ),
        pytest.param({"matchLabels": WEB}, ["absent", REVISION], "a1", id="the other one is not"),
        pytest.param(
            {"matchLabels": WEB, "matchExpressions": [{"key": REVISION, "operator": "In", "values": ["2"]}]},
            [REVISION],
            "a1",
            id="merged already by the API server",
        ),
        pytest.param({"matchLabels": {**WEB, REVISION: "1"}}, [REVISION], "a1 b1", id="both must hold"),
    ],
)
def test_match_label_keys(features: Features, selector: Any, keys: list[str], expected: str) -> None:
    nodes = cluster(ZONES, {})
    put(nodes, "a1", web("old").label(REVISION, "1"))
    put(nodes, "b1", web("new").label(REVISION, "2"))
    pod = spread(hard(selector=selector, matchLabelKeys=keys)).label(REVISION, "2")
    assert fitting(pod, nodes, make_spread(handle=Handle(features))) == expected


def test_without_the_gate_match_label_keys_mean_nothing() -> None:
    nodes = cluster(ZONES, {})
    put(nodes, "a1", web("old").label(REVISION, "1"))
    put(nodes, "b1", web("new").label(REVISION, "2"))
    pod = spread(hard(matchLabelKeys=[REVISION])).label(REVISION, "2")
    assert fitting(pod, nodes, make_spread(handle=Handle(OFF))) == "a1 b1"


UNREADABLE = {"matchExpressions": [{"key": "app", "operator": "Near"}]}
FAULT = '"Near" is not a valid label selector operator'


def _answers(pod: PodBuilder) -> tuple[Any, Any]:
    cycle, nodes, plugin = Cycle(pod.info()), cluster(ZONES, {}), make_spread()
    return plugin.pre_filter(cycle, nodes), plugin.pre_score(cycle, nodes)


def test_an_unreadable_hard_selector_fails_pre_filter() -> None:
    filtering, scoring = _answers(spread(hard(selector=UNREADABLE)))
    assert (filtering.code, scoring.code) == (Code.ERROR, Code.SKIP)
    assert filtering.message == (
        f"get constraints from pod: obtaining pod's hard topology spread constraints: {FAULT}"
    )


def test_an_unreadable_soft_selector_fails_pre_score() -> None:
    filtering, scoring = _answers(spread(soft(selector=UNREADABLE)))
    assert (filtering.code, scoring.code) == (Code.SKIP, Code.ERROR)
    assert scoring.message == (
        f"calculating preScoreState: obtaining pod's soft topology spread constraints: {FAULT}"
    )


@pytest.mark.parametrize("selector", [{"matchLabels": {"app": "not valid"}}, {"matchLabels": {"": "x"}}])
def test_labels_that_cannot_exist_are_unreadable(selector: Any) -> None:
    assert _answers(spread(hard(selector=selector)))[0].code is Code.ERROR


def test_null_in_every_optional_field_is_harmless() -> None:
    optional = ("labelSelector", "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys")
    pod = spread({**hard(), **dict.fromkeys(optional)}).spec(
        affinity=None, tolerations=None, nodeSelector=None
    )
    assert fitting(pod, cluster(ZONES, {"a1": 1})) == "a1 b1"
