"""Profiles that enable plugins of other packages: what is refused before anything is built, and what is not."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.app.build import ConfigurationError, check_profiles
from scheduler.framework.registry import Registry
from scheduler.plugins import IN_TREE, PLANNED
from tests.apis.config.loading import loaded


class Quiet:
    name = "Quiet"

    def filter_node(self, cycle: Any, node: Any) -> None:
        """Let every node pass."""


class Spare:
    name = "Spare"

    def filter_node(self, cycle: Any, node: Any) -> None:
        """Let every node pass."""


class Courier:
    name = "Courier"

    def bind(self, cycle: Any, node: str) -> None:
        """Bind nothing."""


def make(_args: Any, _handle: Any) -> Quiet:
    """A factory that is no class."""
    return Quiet()


def make_other(_args: Any, _handle: Any) -> Spare:
    """A second one."""
    return Spare()


def _refusals(plugins: dict[str, list[str]], *sources: str) -> list[str]:
    registry = Registry(IN_TREE, PLANNED)
    for source in sources:
        registry.load(f"{__name__}:{source}")
    enabled = {point: {"enabled": [{"name": name} for name in names]} for point, names in plugins.items()}
    config = loaded(profiles=[{"schedulerName": "own", "plugins": enabled}])
    try:
        check_profiles(config, registry)
    except ConfigurationError as refused:
        return [str(error) for error in refused.errors]
    return []


@pytest.mark.parametrize(
    ("plugins", "sources"),
    [
        pytest.param({"multiPoint": ["Quiet", "Spare"]}, ["Quiet", "Spare"], id="two classes at once"),
        pytest.param(
            {"multiPoint": ["make", "make_other"]}, ["make", "make_other"], id="two functions at once"
        ),
        pytest.param({"bind": ["Courier"]}, ["Courier"], id="a binder"),
        pytest.param({"filter": ["Quiet"]}, ["Quiet"], id="one point"),
    ],
)
def test_plugins_without_a_constructor_are_as_good_as_any(
    plugins: dict[str, list[str]], sources: list[str]
) -> None:
    assert _refusals(plugins, *sources) == []


def test_a_class_at_a_point_that_it_does_not_have_is_refused_by_its_place() -> None:
    assert _refusals({"score": ["Quiet"]}, "Quiet") == [
        'profiles[0].plugins.score.enabled[0]: Invalid value: "Quiet": the plugin does not extend the extension point score'
    ]
