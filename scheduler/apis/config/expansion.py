"""Plugin sets: merging a profile's with the defaults, and expanding `multiPoint` to the extension points.

Two steps, both upstream's. `merge_plugins` (`mergePluginSet`) happens when a file is read: a default that is enabled again is
replaced in place, a disabled one goes, `*` drops them all, the rest is appended. `expand_plugins`
(`expandMultiPointPlugins`) happens when a profile is built, because only then it is known which points a plugin has::

    order at one point =   plugins of multiPoint that the point itself names again   (in the point's order)
                         + the other plugins of multiPoint that have the point       (in multiPoint's order)
                         + the other plugins that the point names                    (in the point's order)

A point that disables a plugin, or `*`, keeps multiPoint's plugins out; what the point enables stays enabled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import MappingProxyType
from typing import Final

from scheduler.apis.config.defaults import EXTENSION_POINTS, MULTI_POINT, SCORING_POINTS, implements_in_tree
from scheduler.apis.config.types import PluginRef, Plugins, PluginSet
from scheduler.apis.fielderror import FieldError, aggregate, duplicate

Implements = Callable[[str, str], bool]
"""(plugin name, extension point) -> whether the plugin has the point"""

ALL: Final = "*"


class PluginSetError(ValueError):
    """The sets enable a plugin twice at one point. `errors` has the places, relative to `plugins`."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__(aggregate(errors))
        self.errors = tuple(errors)


def merge_plugins(defaults: Sequence[PluginRef], custom: Plugins) -> Plugins:
    """The profile's plugin sets with the default `multiPoint` plugins merged in."""
    merged = {point: _merge((), custom[point]) for point in EXTENSION_POINTS}
    merged[MULTI_POINT] = _merge(defaults, custom[MULTI_POINT])
    return Plugins(MappingProxyType(merged))


def needed(plugins: Plugins) -> frozenset[str]:
    """The names of all plugins that the sets enable anywhere: these are built, and no others."""
    return frozenset(
        plugin.name for point in (MULTI_POINT, *EXTENSION_POINTS) for plugin in plugins[point].enabled
    )


def expand_plugins(
    plugins: Plugins, implements: Implements = implements_in_tree
) -> dict[str, list[PluginRef]]:
    """The enabled plugins of every extension point, in order; at the scoring points with their weights in force.

    Raises `PluginSetError` where a plugin is enabled twice at one point. A plugin that a point itself names is
    returned even when it does not have the point: the caller knows better what to say about it.
    """
    faults = list(repeated_plugins(plugins, implements))
    if faults:
        raise PluginSetError(faults)
    return {point: _at(plugins, point, implements) for point in EXTENSION_POINTS}


def repeated_plugins(plugins: Plugins, implements: Implements) -> Iterator[FieldError]:
    """The places that enable a plugin for the second time at one point, paths relative to `plugins`."""
    for point in EXTENSION_POINTS:
        seen: set[str] = set()
        for i, plugin in enumerate(plugins[point].enabled):
            if plugin.name in seen:
                yield duplicate(f"{point}.enabled[{i}]", plugin.name)
            seen.add(plugin.name)
    seen = set()
    for i, plugin in enumerate(plugins[MULTI_POINT].enabled):
        if plugin.name in seen and any(
            _spreads(plugins[p], p, plugin.name, implements) for p in EXTENSION_POINTS
        ):
            yield duplicate(f"{MULTI_POINT}.enabled[{i}]", plugin.name)
        seen.add(plugin.name)


def _merge(defaults: Sequence[PluginRef], custom: PluginSet) -> PluginSet:
    # Of a plugin given twice the last one replaces the default; the others stay, and are refused as repeated.
    last = {plugin.name: i for i, plugin in enumerate(custom.enabled)}
    disabled = {plugin.name for plugin in custom.disabled}
    kept = [] if ALL in disabled else [plugin for plugin in defaults if plugin.name not in disabled]
    replaced = {last[plugin.name] for plugin in kept if plugin.name in last}
    enabled = [custom.enabled[last[plugin.name]] if plugin.name in last else plugin for plugin in kept]
    enabled += [plugin for i, plugin in enumerate(custom.enabled) if i not in replaced]
    return PluginSet(tuple(enabled), tuple(PluginRef(plugin.name) for plugin in custom.disabled))


def _at(plugins: Plugins, point: str, implements: Implements) -> list[PluginRef]:
    named = plugins[point].enabled
    spread = plugins[MULTI_POINT].enabled
    if plugins[point].disables(ALL):
        order = list(named)
    else:
        has = [p for p in spread if implements(p.name, point) and not plugins[point].disables(p.name)]
        both = {plugin.name for plugin in has} & {plugin.name for plugin in named}
        order = [plugin for plugin in named if plugin.name in both]
        order += [plugin for plugin in has if plugin.name not in both]
        order += [plugin for plugin in named if plugin.name not in both]
    if point not in SCORING_POINTS:
        return order
    return [PluginRef(plugin.name, plugin.weight or 1) for plugin in order]


def _spreads(at_point: PluginSet, point: str, name: str, implements: Implements) -> bool:
    """Whether multiPoint would put the plugin at the point."""
    if at_point.disables(ALL) or at_point.disables(name) or any(p.name == name for p in at_point.enabled):
        return False
    return implements(name, point)
