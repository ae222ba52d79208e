"""From a profile's configuration to plugins, built and sorted by extension point.

The registry knows a factory per name; the configuration says which names are enabled where. Each plugin is built once per
profile. Whatever is wrong is found here, at start: an unknown name, a plugin enabled at a point that it does not implement,
no queue-sort plugin or no binder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Protocol

from scheduler.apis.config.defaults import MULTI_POINT
from scheduler.apis.config.expansion import PluginSetError, expand_plugins, needed
from scheduler.apis.config.types import KubeSchedulerProfile
from scheduler.framework.catalog import COLLECTIONS
from scheduler.framework.interface import POINTS, CatalogReader, Handle, PluginFactory
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
        left_out: enabled plugins of kube-scheduler that do not exist here yet.
    """

    by_name: Mapping[str, Any]
    at: Mapping[str, Sequence[Any]]
    weights: Mapping[str, int]
    left_out: tuple[str, ...] = ()


def build_plugins(
    profile: KubeSchedulerProfile,
    registry: Registry,
    handle: Handle,
    kept: Mapping[str, Any] = MappingProxyType({}),
) -> Plugins:
    """Build the plugins that the profile enables.

    Args:
        kept: by name, those that were built before and are to go on, with what they remember.

    Raises:
        ProfileError: see the module's docstring; the first fault is reported.
    """
    where = f"profile {profile.scheduler_name!r}"
    arguments = profile.plugin_config
    names = needed(profile.plugins)
    built = {
        name: kept[name]
        if name in kept
        else columnar(_build(where, name, registry.get(name), arguments.get(name), handle))
        for name in sorted(names - registry.planned)
    }
    at, weights = _sorted_by_point(where, profile, built)
    _check_cardinalities(where, at)
    _check_weights(where, profile, built)
    _check_reads(where, built)
    return Plugins(built, at, weights, tuple(sorted(names & registry.planned)))


def implements(plugin: Any, point: str) -> bool:
    """Whether the plugin has the methods of the extension point.

    As ``isinstance`` asks it of a runtime protocol, whose members that works out anew at every question.
    """
    return any(
        all(hasattr(plugin, member) for member in _members(protocol)) for protocol in POINTS.get(point, ())
    )


@cache
def _members(protocol: type) -> frozenset[str]:
    return frozenset(
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False) and base is not Protocol
        for name in vars(base)
        if not name.startswith("_")
    )


def _sorted_by_point(
    where: str, profile: KubeSchedulerProfile, built: Mapping[str, Any]
) -> tuple[dict[str, list[Any]], dict[str, int]]:
    """The built plugins by extension point, and the score plugins' weights."""
    try:
        expanded = expand_plugins(profile.plugins, lambda name, point: implements(built.get(name), point))
    except PluginSetError as error:
        raise ProfileError(f"{where}: {error}") from error
    at: dict[str, list[Any]] = {point: [] for point in POINTS}
    weights: dict[str, int] = {}
    for point, references in expanded.items():
        for reference in (each for each in references if each.name in built):
            plugin = built[reference.name]
            if not implements(plugin, point):
                raise ProfileError(f"{where}: plugin {reference.name!r} does not implement {point}")
            at[point].append(plugin)
            if point == "score":
                weights[reference.name] = reference.weight
    return at, weights


def _build(where: str, name: str, factory: PluginFactory | None, args: Any, handle: Handle) -> Any:
    if factory is None:
        raise ProfileError(f"{where}: plugin {name!r} is not known")
    try:
        return factory(args, handle)
    except ValueError as error:
        raise ProfileError(f"{where}: plugin {name!r}: {error}") from error
    except Exception as error:  # a plugin of another package may raise anything
        raise ProfileError(f"{where}: plugin {name!r}: {type(error).__name__}: {error}") from error


def _check_reads(where: str, built: Mapping[str, Any]) -> None:
    for name, plugin in built.items():
        unknown = set(plugin.reads) - COLLECTIONS.keys() if isinstance(plugin, CatalogReader) else ()
        for kind in unknown:
            what = getattr(kind, "__name__", repr(kind))
            raise ProfileError(f"{where}: plugin {name!r} reads {what}, which the catalog does not keep")


def _check_weights(where: str, profile: KubeSchedulerProfile, built: Mapping[str, Any]) -> None:
    """Weights of less than nothing that come first let upstream's check for an overflow overflow (``getScoreWeights``)."""
    total, seen = 0, set()
    for plugin in (*profile.plugins["score"].enabled, *profile.plugins[MULTI_POINT].enabled):
        if plugin.name in seen or not implements(built.get(plugin.name), "score"):
            continue
        if total < 0:
            raise ProfileError(f"{where}: score plugins: total score of Score plugins could overflow")
        seen.add(plugin.name)
        total += plugin.weight or 1


def _check_cardinalities(where: str, at: Mapping[str, Sequence[Any]]) -> None:
    if len(at["queueSort"]) != 1:
        raise ProfileError(f"{where}: exactly one queueSort plugin is needed, not {len(at['queueSort'])}")
    if not at["bind"]:
        raise ProfileError(f"{where}: at least one bind plugin is needed")
