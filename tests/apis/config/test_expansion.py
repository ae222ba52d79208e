"""Plugin sets: what a profile merges with the defaults, and where multiPoint puts plugins."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.apis.config import PluginRef, Plugins, PluginSet, PluginSetError, default, expand_plugins
from scheduler.apis.config.defaults import EXTENSION_POINTS, MULTI_POINT
from scheduler.apis.config.expansion import merge_plugins, needed
from scheduler.features import Features

POINTS = {"A": {"filter", "score"}, "B": {"filter", "score"}, "C": {"score"}, "D": {"filter"}}


def implements(name: str, point: str) -> bool:
    """The plugins A to D of these tests."""
    return point in POINTS.get(name, ())


def plugin_set(enabled: str = "", disabled: str = "") -> PluginSet:
    """A set from words such as `A:3 B`, where `:3` is a weight."""

    def refs(words: str) -> tuple[PluginRef, ...]:
        pairs = [word.partition(":") for word in words.split()]
        return tuple(PluginRef(name, int(weight or 0)) for name, _, weight in pairs)

    return PluginSet(refs(enabled), refs(disabled))


def written(plugins: Sequence[PluginRef]) -> str:
    """The words for these plugins."""
    return " ".join(f"{plugin.name}:{plugin.weight}" if plugin.weight else plugin.name for plugin in plugins)


@pytest.mark.parametrize(
    ("custom", "enabled"),
    [
        pytest.param(plugin_set(), "A:1 B C", id="defaults alone"),
        pytest.param(plugin_set("D"), "A:1 B C D", id="others are appended"),
        pytest.param(plugin_set("B:7"), "A:1 B:7 C", id="a default is replaced in place"),
        pytest.param(plugin_set("D C:2 A"), "A B C:2 D", id="in the order of the defaults"),
        pytest.param(plugin_set(disabled="B"), "A:1 C", id="disabled"),
        pytest.param(plugin_set("B:9", "B"), "A:1 C B:9", id="disabled and enabled again goes last"),
        pytest.param(plugin_set(disabled="*"), "", id="star drops the defaults"),
        pytest.param(plugin_set("C A", "*"), "C A", id="star and a list of one's own"),
        pytest.param(plugin_set(disabled="X"), "A:1 B C", id="an unknown name is harmless"),
        pytest.param(plugin_set("B:1 B:2"), "A:1 B:2 C B:1", id="given twice stays twice"),
    ],
)
def test_a_profile_is_merged_with_the_defaults(custom: PluginSet, enabled: str) -> None:
    defaults = plugin_set("A:1 B C").enabled
    merged = merge_plugins(defaults, Plugins({MULTI_POINT: custom}))[MULTI_POINT]
    assert written(merged.enabled) == enabled
    assert merged.disabled == custom.disabled


@pytest.mark.parametrize(
    ("multi", "score", "order"),
    [
        pytest.param(plugin_set("A B C D"), plugin_set(), "A:1 B:1 C:1", id="only where it has the point"),
        pytest.param(plugin_set("A:3 B"), plugin_set(), "A:3 B:1", id="weights go with it"),
        pytest.param(
            plugin_set("A B"), plugin_set("B:5"), "B:5 A:1", id="named again: first, with its own weight"
        ),
        pytest.param(plugin_set("A:3 B"), plugin_set("A"), "A:1 B:1", id="named again without a weight: one"),
        pytest.param(plugin_set("A"), plugin_set("C B"), "A:1 C:1 B:1", id="others of the point come last"),
        pytest.param(
            plugin_set("A B"), plugin_set("C B:2"), "B:2 A:1 C:1", id="again, then multiPoint, then others"
        ),
        pytest.param(plugin_set("A B"), plugin_set(disabled="A"), "B:1", id="disabled at the point"),
        pytest.param(plugin_set("A B"), plugin_set("C", "*"), "C:1", id="star keeps multiPoint out"),
        pytest.param(
            plugin_set("A B"), plugin_set("A:4", "A"), "B:1 A:4", id="disabled and enabled at the point"
        ),
    ],
)
def test_multi_point_spreads_over_a_point(multi: PluginSet, score: PluginSet, order: str) -> None:
    expanded = expand_plugins(Plugins({MULTI_POINT: multi, "score": score}), implements)
    assert written(expanded["score"]) == order


def test_weights_matter_at_scoring_points_only() -> None:
    expanded = expand_plugins(Plugins({MULTI_POINT: plugin_set("A:3 D")}), implements)
    assert written(expanded["filter"]) == "A:3 D"
    assert written(expanded["score"]) == "A:3"
    assert set(expanded) == set(EXTENSION_POINTS)


@pytest.mark.parametrize(
    ("sets", "places"),
    [
        ({MULTI_POINT: plugin_set("A A")}, ["multiPoint.enabled[1]"]),
        ({"filter": plugin_set("A A")}, ["filter.enabled[1]"]),
        ({MULTI_POINT: plugin_set("X X")}, []),
        ({MULTI_POINT: plugin_set("C C"), "score": plugin_set(disabled="C")}, []),
        ({MULTI_POINT: plugin_set("C C"), "score": plugin_set("C")}, []),
        ({MULTI_POINT: plugin_set("A A"), "score": plugin_set("A")}, ["multiPoint.enabled[1]"]),
        (
            {MULTI_POINT: plugin_set("A A"), "filter": plugin_set("B B")},
            ["filter.enabled[1]", "multiPoint.enabled[1]"],
        ),
    ],
)
def test_a_plugin_enabled_twice_at_a_point_is_an_error(sets: dict[str, PluginSet], places: list[str]) -> None:
    if not places:
        expand_plugins(Plugins(sets), implements)
        return
    with pytest.raises(PluginSetError) as caught:
        expand_plugins(Plugins(sets), implements)
    assert [error.path for error in caught.value.errors] == places


names = st.lists(st.sampled_from("ABCD"), unique=True).map(" ".join)
sets = st.builds(plugin_set, names, names)


@given(sets, sets, sets)
def test_a_plugin_runs_at_a_point_once_and_for_a_reason(
    multi: PluginSet, at_filter: PluginSet, at_score: PluginSet
) -> None:
    plugins = Plugins({MULTI_POINT: multi, "filter": at_filter, "score": at_score})
    expanded = expand_plugins(plugins, implements)
    for point, own in (("filter", at_filter), ("score", at_score)):
        found = [plugin.name for plugin in expanded[point]]
        spread = {p.name for p in multi.enabled if implements(p.name, point) and not own.disables(p.name)}
        assert len(found) == len(set(found))
        assert set(found) == spread | {plugin.name for plugin in own.enabled}
    assert needed(plugins) >= {plugin.name for plugin in expanded["filter"] + expanded["score"]}


def test_the_defaults_expand_as_documented() -> None:
    expanded = expand_plugins(default(Features.default()).profiles[0].plugins)
    assert written(expanded["score"]) == (
        "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 PodTopologySpread:2 InterPodAffinity:2 "
        "DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"
    )
    assert [plugin.name for plugin in expanded["postFilter"]] == ["DynamicResources", "DefaultPreemption"]
    assert [plugin.name for plugin in expanded["queueSort"]] == ["PrioritySort"]
    assert expanded["permit"] == []


@pytest.mark.parametrize(
    ("gates", "last"),
    [
        ({}, "NodeDeclaredFeatures"),
        ({"NodeDeclaredFeatures": False}, "DefaultBinder"),
        ({"GangScheduling": True}, "GangScheduling"),
        ({"TopologyAwareWorkloadScheduling": True}, "TopologyPlacementGenerator PodGroupPodsCount:1"),
    ],
)
def test_gates_add_default_plugins(gates: dict[str, bool], last: str) -> None:
    multi = default(Features.default().with_gates(**gates)).profiles[0].plugins[MULTI_POINT]
    assert written(multi.enabled).endswith(f" {last}")
