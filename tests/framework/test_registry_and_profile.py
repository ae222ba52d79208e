"""From configuration to plugins: the registry, out-of-tree plugins, and what makes a profile unbuildable."""

from __future__ import annotations

import sys
import types
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from scheduler.apis.config.types import KubeSchedulerProfile, PluginConfig, PluginRef, Plugins, PluginSet
from scheduler.framework.cycle import Cycle
from scheduler.framework.profile import ProfileError, build_plugins
from scheduler.framework.registry import PluginLoadError, Registry


class Sort:
    name = "Sort"

    def __init__(self, args: Any, handle: Any) -> None:
        self.args = args

    def sort_key(self, queued: Any) -> int:
        return 0


class Bind:
    name = "Bind"

    def __init__(self, args: Any, handle: Any) -> None:
        self.args = args

    def bind(self, cycle: Cycle, node: str) -> None: ...


class Picky(Bind):
    name = "Picky"

    def __init__(self, args: Any, handle: Any) -> None:
        raise ValueError("weight must be positive")


def registry(planned: tuple[str, ...] = ()) -> Registry:
    return Registry({"Sort": Sort, "Bind": Bind, "Picky": Picky}, planned)


def profile(*names: str, **points: list[str]) -> KubeSchedulerProfile:
    sets = {point: PluginSet(tuple(map(PluginRef, enabled))) for point, enabled in points.items()}
    sets["multiPoint"] = PluginSet(tuple(map(PluginRef, names)))
    return KubeSchedulerProfile(
        "mine", plugins=Plugins(sets), plugin_configs=(PluginConfig("Bind", {"x": 1}),)
    )


def test_plugins_land_at_the_points_that_they_implement_with_their_arguments() -> None:
    built = build_plugins(profile("Sort", "Bind"), registry(), None)  # type: ignore[arg-type]
    assert [one.name for one in built.at["bind"]] == ["Bind"]
    assert built.by_name["Bind"].args == {"x": 1}
    assert built.at["filter"] == []


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        pytest.param(profile("Sort", "Bind", "Nope"), "plugin 'Nope' is not known", id="unknown"),
        pytest.param(
            profile("Sort", "Bind", filter=["Bind"]),
            "plugin 'Bind' does not implement filter",
            id="wrong point",
        ),
        pytest.param(profile("Bind"), "exactly one queueSort plugin is needed, not 0", id="no queue sort"),
        pytest.param(profile("Sort"), "at least one bind plugin is needed", id="no binder"),
        pytest.param(
            profile("Sort", "Bind", "Picky"), "plugin 'Picky': weight must be positive", id="bad arguments"
        ),
    ],
)
def test_a_profile_that_cannot_be_built_says_which_and_why(
    wanted: KubeSchedulerProfile, message: str
) -> None:
    with pytest.raises(ProfileError) as caught:
        build_plugins(wanted, registry(), None)  # type: ignore[arg-type]
    assert str(caught.value) == f"profile 'mine': {message}"


def rated(**weights: int) -> KubeSchedulerProfile:
    sets = {
        "multiPoint": PluginSet((PluginRef("Sort"), PluginRef("Bind"))),
        "score": PluginSet(tuple(PluginRef(name, weight) for name, weight in weights.items())),
    }
    return KubeSchedulerProfile("mine", plugins=Plugins(sets))


class Rating(Bind):
    def score(self, cycle: Cycle, nodes: Any) -> None: ...


@pytest.mark.parametrize(
    ("weights", "overflows"),
    [
        ({"A": -1}, False),
        ({"A": -1, "B": 3}, True),
        ({"A": 5, "B": -4, "C": 1}, False),
        ({"A": 3, "B": -4, "C": 1}, True),
        ({"A": 2147483647, "B": 2147483647}, False),
    ],
    ids=["alone", "before another", "never below nothing", "below nothing in between", "the greatest"],
)
def test_weights_that_let_the_check_for_an_overflow_overflow(
    weights: dict[str, int], overflows: bool
) -> None:
    ratings = {name: type(name, (Rating,), {"name": name}) for name in weights}
    everything = Registry({"Sort": Sort, "Bind": Bind, **ratings})
    if not overflows:
        assert build_plugins(rated(**weights), everything, None).weights == weights  # type: ignore[arg-type]
        return
    with pytest.raises(ProfileError, match="score plugins: total score of Score plugins could overflow"):
        build_plugins(rated(**weights), everything, None)  # type: ignore[arg-type]


def test_planned_plugins_are_left_out_and_named() -> None:
    built = build_plugins(profile("Sort", "Bind", "Later"), registry(("Later",)), None)  # type: ignore[arg-type]
    assert built.left_out == ("Later",)
    assert "Later" not in built.by_name


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> str:
    made = types.ModuleType("my_plugins")
    made.Mine = type("Mine", (), {"name": "TheirName"})  # type: ignore[attr-defined]
    made.Twice = type("Twice", (), {"name": "Sort"})  # type: ignore[attr-defined]
    made.number = 3  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "my_plugins", made)
    return "my_plugins"


def test_a_class_is_loaded_by_module_and_name(module: str) -> None:
    known = registry()
    assert known.load(f"{module}:Mine") == "TheirName"
    assert "TheirName" in known.names()


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        pytest.param("my_plugins.Mine", "is not of the form module:Class", id="no colon"),
        pytest.param("no_such_module:X", "No module named 'no_such_module'", id="no module"),
        pytest.param("my_plugins:Nope", "has no attribute 'Nope'", id="no class"),
        pytest.param("my_plugins:Twice", "a plugin named 'Sort' is registered already", id="taken"),
        pytest.param("my_plugins:number", "is not a class or factory", id="not callable"),
    ],
)
def test_a_plugin_that_cannot_be_loaded_says_why(module: str, specification: str, message: str) -> None:
    with pytest.raises(PluginLoadError, match=message):
        registry().load(specification)


def test_entry_points_are_loaded_too(module: str) -> None:
    known = registry()
    point = EntryPoint("mine", f"{module}:Mine", "wharfinger.plugins")
    assert known.load_entry_points([point]) == ["TheirName"]
    with pytest.raises(PluginLoadError, match="entry point 'gone:X'"):
        known.load_entry_points([EntryPoint("mine", "gone:X", "wharfinger.plugins")])
