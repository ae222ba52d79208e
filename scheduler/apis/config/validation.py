"""What values a configuration may have: every fault at once, each with its path.

The rules are those of `pkg/scheduler/apis/config/validation/validation.go` and of component-base's validation. Where upstream
prints a wrong value (the lease's duration shows the renew deadline), the right one is printed here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from scheduler.apis import duration
from scheduler.apis.config.args_validation import validate_args
from scheduler.apis.config.defaults import EXTENSION_POINTS, MULTI_POINT, REMOVED_PLUGINS
from scheduler.apis.config.types import (
    API_VERSION,
    Extender,
    KubeSchedulerConfiguration,
    KubeSchedulerProfile,
    LeaderElectionConfiguration,
    PluginSet,
)
from scheduler.apis.fielderror import FieldError, duplicate, invalid, required
from scheduler.apis.names import label_key_faults
from scheduler.features import Features

Faults = Iterator[FieldError]

_REMOVED: Final = (
    f'was invalid in version "{API_VERSION}" (KubeSchedulerConfiguration is version "{API_VERSION}")'
)

_NO_PLUGIN: Final = "NodeResourcesFitArgs"
"""Upstream's table of validators has this kind where the plugin's name was meant: arguments under it are always refused."""


def validate(config: KubeSchedulerConfiguration, features: Features) -> list[FieldError]:
    """Every fault of a completed configuration, in upstream's order."""
    return list(_configuration(config, features))


def _configuration(config: KubeSchedulerConfiguration, features: Features) -> Faults:
    if config.client_connection.burst < 0:
        yield invalid("clientConnection.burst", config.client_connection.burst, "must be non-negative")
    if config.leader_election.leader_elect:
        yield from _leader_election("leaderElection", config.leader_election)
    if config.parallelism <= 0:
        yield invalid("parallelism", config.parallelism, "should be an integer value greater than zero")
    yield from _profiles("profiles", config.profiles, features)
    yield from _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    initial, longest = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if longest < initial:
        yield invalid(
            "podMaxBackoffSeconds", longest, "must be greater than or equal to PodInitialBackoffSeconds"
        )
    yield from _extenders("extenders", config.extenders)


def _leader_election(path: str, election: LeaderElectionConfiguration) -> Faults:
    times = {
        "leaseDuration": election.lease_duration,
        "renewDeadline": election.renew_deadline,
        "retryPeriod": election.retry_period,
    }
    for name, time in times.items():
        if time <= 0:
            yield invalid(f"{path}.{name}", duration.format(time), "must be greater than zero")
    if election.lease_duration <= election.renew_deadline:
        shown = duration.format(election.lease_duration)
        yield invalid(f"{path}.leaseDuration", shown, "must be greater than `RenewDeadline`")
    for name, text in (
        ("resourceNamespace", election.resource_namespace),
        ("resourceName", election.resource_name),
    ):
        if not text:
            yield required(f"{path}.{name}")
    if election.resource_lock != "leases":
        if not election.resource_lock:
            yield required(f"{path}.resourceLock")
        yield invalid(f"{path}.resourceLock", election.resource_lock, 'resourceLock value must be "leases"')


def _profiles(path: str, profiles: Sequence[KubeSchedulerProfile], features: Features) -> Faults:
    if not profiles:
        yield required(path)
        return
    seen: set[str] = set()
    for i, profile in enumerate(profiles):
        place = f"{path}[{i}]"
        yield from _profile(place, profile, features)
        if profile.scheduler_name in seen:
            yield duplicate(f"{place}.schedulerName", profile.scheduler_name)
        seen.add(profile.scheduler_name)
    yield from _common_queue_sort(path, profiles)


def _profile(path: str, profile: KubeSchedulerProfile, features: Features) -> Faults:
    if not profile.scheduler_name:
        yield required(f"{path}.schedulerName")
    yield from _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
    for point in (MULTI_POINT, *EXTENSION_POINTS):
        for i, plugin in enumerate(profile.plugins[point].enabled):
            if plugin.name in REMOVED_PLUGINS:
                yield invalid(f"{path}.plugins.{point}.enabled[{i}]", plugin.name, _REMOVED)
    seen: set[str] = set()
    for i, config in enumerate(profile.plugin_configs):
        place = f"{path}.pluginConfig[{i}]"
        if config.name in seen:
            yield duplicate(place, config.name)
        seen.add(config.name)
        if config.name in REMOVED_PLUGINS:
            yield invalid(place, config.name, _REMOVED)
        if config.name == _NO_PLUGIN:
            yield invalid(f"{place}.args", config.args, "has to match plugin args")
        yield from validate_args(f"{place}.args", config.args, features)


def _common_queue_sort(path: str, profiles: Sequence[KubeSchedulerProfile]) -> Faults:
    """There is one queue: all profiles must sort it alike. Compared as written, after defaults."""
    first, *others = profiles
    canon = first.plugins["queueSort"]
    if len(canon.enabled) > 1:
        place = f"{path}[0].plugins.queueSort.enabled"
        yield invalid(place, len(canon.enabled), "only one queue sort plugin can be enabled")
    name = canon.enabled[0].name if canon.enabled else ""
    args = first.plugin_config.get(name) if name else None
    for i, profile in enumerate(others, start=1):
        current = profile.plugins["queueSort"]
        if current != canon:
            place = f"{path}[{i}].plugins.queueSort"
            yield invalid(place, _shown(current), "must be the same for all profiles")
        for j, config in enumerate(profile.plugin_configs):
            if config.name == name and config.args != args:
                place = f"{path}[{i}].pluginConfig[{j}].args"
                yield invalid(place, config.args, "queueSort must be the same for all profiles")


def _percentage(path: str, percentage: int | None) -> Faults:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, "not in valid range [0-100]")


def _extenders(path: str, extenders: Sequence[Extender]) -> Faults:
    seen: set[str] = set()
    for i, extender in enumerate(extenders):
        place = f"{path}[{i}]"
        if extender.prioritize_verb and extender.weight <= 0:
            yield invalid(f"{place}.weight", extender.weight, "must have a positive weight applied to it")
        for j, resource in enumerate(extender.managed_resources):
            name_path = f"{place}.managedResources[{j}].name"
            yield from _extended_resource(name_path, resource.name)
            if resource.name in seen:
                yield invalid(name_path, resource.name, "duplicate extender managed resource name")
            seen.add(resource.name)
    binders = sum(bool(extender.bind_verb) for extender in extenders)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        yield invalid(path, found, "only one extender can implement bind")


def _extended_resource(path: str, name: str) -> Faults:
    faults = label_key_faults(name)
    for fault in faults:
        yield invalid(path, name, fault)
    native = "/" not in name or "kubernetes.io/" in name
    if not faults and (native or name.startswith("requests.") or label_key_faults(f"requests.{name}")):
        yield invalid(path, name, "is an invalid extended resource name")


def _shown(plugins: PluginSet) -> Any:
    def names(side: Sequence[Any]) -> list[str]:
        return [plugin.name for plugin in side]

    return {"enabled": names(plugins.enabled), "disabled": names(plugins.disabled)}
