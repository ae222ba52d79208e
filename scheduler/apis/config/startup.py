"""What upstream finds only when it builds the profiles, found while the file is still in the user's hands.

A plugin at a point that it does not have, a plugin enabled twice, no queue sort, no binder, arguments of NodeResourcesFit: none
of these needs a running scheduler. With the names of all known plugins, unknown ones are found too; without, a name that is
not in-tree may belong to a plugin that is loaded later and is passed over.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any, Final

from scheduler.apis.config.args import NodeResourcesFitArgs
from scheduler.apis.config.args_validation import validate_fit
from scheduler.apis.config.completion import ignored_resources
from scheduler.apis.config.defaults import EXTENSION_POINTS, IMPLEMENTED, MULTI_POINT, implements_in_tree
from scheduler.apis.config.expansion import ALL, Implements, expand_plugins, needed, repeated_plugins
from scheduler.apis.config.types import KubeSchedulerConfiguration, KubeSchedulerProfile, Plugins
from scheduler.apis.fielderror import FieldError, invalid, not_found, required

Faults = Iterator[FieldError]

_NO_NAMES: Final = ("", ALL)


def startup_errors(
    config: KubeSchedulerConfiguration,
    known: Container[str] | None = None,
    implements: Implements = implements_in_tree,
) -> list[FieldError]:
    """Every reason why the profiles of a valid configuration could not be built.

    `known` holds the names of all plugins there are, `implements` tells which points each of them has.
    """
    errors: list[FieldError] = []
    if any(extender.tls_config for extender in config.extenders):
        errors += _tls(config)
    ignored = ignored_resources(config.extenders)
    for i, profile in enumerate(config.profiles):
        path = f"profiles[{i}]"
        if ignored and not any(isinstance(c.args, NodeResourcesFitArgs) for c in profile.plugin_configs):
            detail = "NodeResourcesFit needs arguments, because an extender has a resource that is ignoredByScheduler"
            errors.append(required(f"{path}.pluginConfig", detail))
        errors += _fit(path, profile)
        errors += _plugins(f"{path}.plugins", profile.plugins, known, implements)
    return errors or list(_queue_sorts(config, implements))


def _queue_sorts(config: KubeSchedulerConfiguration, implements: Implements) -> Faults:
    """There is one queue: also profiles that come by their queue sort through multiPoint must agree on it.

    Where profiles name it themselves, `validation` has compared them.
    """
    if any(profile.plugins["queueSort"].enabled for profile in config.profiles):
        return
    first: tuple[str, Any] | None = None
    for i, profile in enumerate(config.profiles):
        sorters = expand_plugins(profile.plugins, implements)["queueSort"]
        if not sorters:
            continue
        name = sorters[0].name
        found = (name, profile.plugin_config.get(name))
        first = first or found
        if found[0] != first[0]:
            yield invalid(f"profiles[{i}].plugins.queueSort", name, "must be the same for all profiles")
        elif found[1] != first[1]:
            yield invalid(f"profiles[{i}].pluginConfig", name, "queueSort must be the same for all profiles")


def _tls(config: KubeSchedulerConfiguration) -> Faults:
    # cryptography is slow to import, and few configurations have TLS material to look at.
    from scheduler.apis.config.extender_tls import tls_faults

    for i, extender in enumerate(config.extenders):
        yield from tls_faults(f"extenders[{i}].tlsConfig", extender)


def _fit(path: str, profile: KubeSchedulerProfile) -> Faults:
    """Only a plugin that is enabled somewhere is built, so only its arguments matter."""
    if "NodeResourcesFit" not in needed(profile.plugins):
        return
    for i, config in enumerate(profile.plugin_configs):
        if isinstance(config.args, NodeResourcesFitArgs):
            yield from validate_fit(f"{path}.pluginConfig[{i}].args", config.args)


def _plugins(path: str, plugins: Plugins, known: Container[str] | None, implements: Implements) -> Faults:
    faults = [
        *_names(path, plugins, known, implements),
        *(
            FieldError(f"{path}.{fault.path}", fault.type, fault.value)
            for fault in repeated_plugins(plugins, implements)
        ),
    ]
    yield from faults
    unjudged = known is None and any(name not in IMPLEMENTED for name in needed(plugins))
    if not faults:
        yield from _cardinalities(path, plugins, implements, may_have_more=unjudged)


def _names(path: str, plugins: Plugins, known: Container[str] | None, implements: Implements) -> Faults:
    for point in (MULTI_POINT, *EXTENSION_POINTS):
        for i, plugin in enumerate(plugins[point].enabled):
            place = f"{path}.{point}.enabled[{i}]"
            if plugin.name in _NO_NAMES:
                yield invalid(f"{place}.name", plugin.name, "is not the name of a plugin")
                continue
            if known is not None and plugin.name not in known:
                yield not_found(place, plugin.name)
            elif point == MULTI_POINT or (known is None and plugin.name not in IMPLEMENTED):
                continue
            elif not implements(plugin.name, point):
                yield invalid(place, plugin.name, f"the plugin does not extend the extension point {point}")


def _cardinalities(path: str, plugins: Plugins, implements: Implements, *, may_have_more: bool) -> Faults:
    expanded = expand_plugins(plugins, implements)
    sorters, binders = len(expanded["queueSort"]), len(expanded["bind"])
    if sorters > 1 or (sorters == 0 and not may_have_more):
        yield invalid(f"{path}.queueSort", sorters, f"only one queue sort plugin required, but got {sorters}")
    if binders == 0 and not may_have_more:
        yield required(f"{path}.bind", "at least one bind plugin is needed")
    generators = len(expanded["placementGenerate"])
    if generators > 1:
        yield invalid(
            f"{path}.placementGenerate", generators, "at most one placement generate plugin is allowed"
        )
