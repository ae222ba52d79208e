"""From a profile's configuration to plugins, built and sorted by extension point.

The registry knows a factory per name; the configuration says which names are enabled where. Each plugin is built once per
profile. Whatever is wrong is found here, at start: an unknown name, a plugin enabled at a point that it does not implement,
no queue-sort plugin or no binder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scheduler.apis.config import KubeSchedulerProfile, expand_plugins
from scheduler.framework.interface import POINTS, Handle, PluginFactory
from scheduler.framework.per_node import columnar
from scheduler.framework.registry import Registry


class ProfileError(ValueError):
    """A profile cannot be built; the text names the profile, the plugin and what is wrong."""


@dataclass(frozen=True, slots=True)
class Plugins:
    """The plugins of one profile.

    Attributes:
        by_name: every plugin that was built.
        at: the enabled plugins per extension point (``filter``, …), in order.
        weights: the score plugins' weights.
    """

    by_name: Mapping[str, Any]
    at: Mapping[str, Sequence[Any]]
    weights: Mapping[str, int]


def build_plugins(profile: KubeSchedulerProfile, registry: Registry, handle: Handle) -> Plugins:
    """Build the plugins that the profile enables.

    Raises:
        ProfileError: see the module's docstring; the first fault is reported.
    """
    where = f"profile {profile.scheduler_name!r}"
    built: dict[str, Any] = {}

    def plugin(name: str) -> Any:
        if name not in built:
            built[name] = columnar(
                _build(where, name, registry.get(name), profile.plugin_config.get(name), handle)
            )
        return built[name]

    expanded = expand_plugins(profile.plugins, lambda name, point: implements(plugin(name), point))
    at: dict[str, list[Any]] = {point: [] for point in POINTS}
    weights: dict[str, int] = {}
    for point, references in expanded.items():
        for reference in references:
            if not implements(plugin(reference.name), point):
                raise ProfileError(f"{where}: plugin {reference.name!r} does not implement {point}")
            at.setdefault(point, []).append(plugin(reference.name))
            if point == "score":
                weights[reference.name] = reference.weight or 1
    _check_cardinalities(where, at)
    return Plugins(built, at, weights)


def implements(plugin: Any, point: str) -> bool:
    """Whether the plugin has the methods of the extension point."""
    return isinstance(plugin, POINTS.get(point, ()))


def _build(where: str, name: str, factory: PluginFactory | None, args: Any, handle: Handle) -> Any:
    if factory is None:
        raise ProfileError(f"{where}: plugin {name!r} is not known")
    try:
        return factory(args, handle)
    except ValueError as error:
        raise ProfileError(f"{where}: plugin {name!r}: {error}") from error


def _check_cardinalities(where: str, at: Mapping[str, Sequence[Any]]) -> None:
    if len(at["queueSort"]) != 1:
        raise ProfileError(f"{where}: exactly one queueSort plugin is needed, not {len(at['queueSort'])}")
    if not at["bind"]:
        raise ProfileError(f"{where}: at least one bind plugin is needed")
