"""Completion: the defaults that need more than the file.

Which plugins are on by default, which arguments they have and which of those exist at all depends on feature gates. After
completion every profile carries its merged plugin sets and the arguments of every enabled in-tree plugin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from scheduler.apis.config.args import (
    DynamicResourcesArgs,
    NodeResourcesFitArgs,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from scheduler.apis.config.args_schema import PLUGINS_WITH_ARGS, load_args
from scheduler.apis.config.defaults import default_plugins
from scheduler.apis.config.expansion import merge_plugins, needed
from scheduler.apis.config.types import (
    DEFAULT_SCHEDULER_NAME,
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    PluginConfig,
    PluginRef,
)
from scheduler.apis.duration import SECOND
from scheduler.features import Features

FILTER_TIMEOUT: Final = 10 * SECOND
BINDING_TIMEOUT: Final = 600 * SECOND
EXTENDER_TIMEOUT: Final = 5 * SECOND
CAPACITY_SHAPE: Final = (UtilizationShapePoint(0, 10), UtilizationShapePoint(100, 0))


def complete(config: KubeSchedulerConfiguration, features: Features) -> KubeSchedulerConfiguration:
    """The configuration with every default of profiles, plugins and arguments filled in."""
    profiles = config.profiles or (KubeSchedulerProfile(scheduler_name=DEFAULT_SCHEDULER_NAME),)
    return replace(config, profiles=tuple(_profile(profile, features) for profile in profiles))


def binding_timeout_enabled(features: Features) -> bool:
    """Whether DynamicResources may wait for devices: two gates carry that feature."""
    return features.enabled("DRADeviceBindingConditions") and features.enabled("DRAResourceClaimDeviceStatus")


def settle_extenders(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    """What the extenders change once everything is valid.

    A timeout left out is five seconds. Resources that an extender keeps from the scheduler *replace* NodeResourcesFit's
    own list in every profile (upstream's `buildExtenders`).
    """
    extenders = tuple(
        replace(extender, http_timeout=extender.http_timeout or EXTENDER_TIMEOUT)
        for extender in config.extenders
    )
    ignored = ignored_resources(extenders)
    profiles = config.profiles
    if ignored:
        profiles = tuple(
            replace(profile, plugin_configs=tuple(_ignoring(c, ignored) for c in profile.plugin_configs))
            for profile in profiles
        )
    return replace(config, extenders=extenders, profiles=profiles)


def ignored_resources(extenders: tuple[Extender, ...]) -> tuple[str, ...]:
    """The resources that extenders want the scheduler to leave alone."""
    return tuple(
        resource.name
        for extender in extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )


def _profile(profile: KubeSchedulerProfile, features: Features) -> KubeSchedulerProfile:
    defaults = [PluginRef(name, weight) for name, weight in default_plugins(features)]
    plugins = merge_plugins(defaults, profile.plugins)
    given = {config.name for config in profile.plugin_configs}
    missing = sorted(needed(plugins).intersection(PLUGINS_WITH_ARGS) - given)
    configs = (*profile.plugin_configs, *(PluginConfig(name, load_args(name, None)) for name in missing))
    settled = tuple(PluginConfig(config.name, _gated(config.args, features)) for config in configs)
    return replace(profile, plugins=plugins, plugin_configs=settled)


def _gated(args: Any, features: Features) -> Any:
    """The defaults of arguments that exist only while their gate is on."""
    if isinstance(args, VolumeBindingArgs) and not args.shape and features.enabled("StorageCapacityScoring"):
        return replace(args, shape=CAPACITY_SHAPE)
    if not isinstance(args, DynamicResourcesArgs):
        return args
    if args.filter_timeout is None and features.enabled("DRASchedulerFilterTimeout"):
        args = replace(args, filter_timeout=FILTER_TIMEOUT)
    if args.binding_timeout is None and binding_timeout_enabled(features):
        args = replace(args, binding_timeout=BINDING_TIMEOUT)
    return args


def _ignoring(config: PluginConfig, ignored: tuple[str, ...]) -> PluginConfig:
    if not isinstance(config.args, NodeResourcesFitArgs):
        return config
    return replace(config, args=replace(config.args, ignored_resources=ignored))
