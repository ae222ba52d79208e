"""From a completed configuration to a scheduler: registry, frameworks, queue, scheduler (upstream: ``scheduler.New``)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import unwrap
from random import Random
from types import MappingProxyType
from typing import Any

from scheduler.apis.config.defaults import implements_in_tree
from scheduler.apis.config.startup import startup_errors
from scheduler.apis.config.types import KubeSchedulerConfiguration, KubeSchedulerProfile
from scheduler.apis.fielderror import FieldError
from scheduler.backend.hints import registrations
from scheduler.backend.queue import SchedulingQueue
from scheduler.backend.queued import QueueTimes
from scheduler.backend.rules import QueueRules
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.evictions import Evictions
from scheduler.framework.extenders import ExtenderSet
from scheduler.framework.interface import POINTS, PluginFactory
from scheduler.framework.live import Live
from scheduler.framework.port import Port
from scheduler.framework.profile import build_plugins
from scheduler.framework.registry import Registry
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.plugins import IN_TREE, PLANNED
from scheduler.scheduling.parts import Clocks, Outside
from scheduler.scheduling.scheduler import Scheduler
from scheduler.scheduling.workers import Crew, Workers

logger = logging.getLogger(__name__)


class ConfigurationError(ValueError):
    """The profiles cannot be built; ``errors`` has every reason."""

    def __init__(self, errors: Sequence[FieldError]) -> None:
        super().__init__("\n".join(map(str, errors)))
        self.errors = tuple(errors)


@dataclass(frozen=True, slots=True)
class SchedulerHandle:
    """What plugins may use of the scheduler (see ``framework.interface.Handle``)."""

    features: Features
    port: Port
    waiting_pods: WaitingPods
    catalog: Catalog
    evictions: Evictions = field(default_factory=Evictions)
    rng: Random = field(default_factory=Random)
    live: Live = field(default_factory=Live)


def load_registry(specifications: Sequence[str]) -> Registry:
    """The plugins in this package, those of installed packages, and those named ``module:Class``.

    Raises:
        scheduler.framework.registry.PluginLoadError: one cannot be loaded, or a name is taken twice.
    """
    registry = Registry(IN_TREE, PLANNED)
    registry.load_entry_points()
    for specification in specifications:
        registry.load(specification)
    return registry


def check_profiles(config: KubeSchedulerConfiguration, registry: Registry) -> None:
    """Find what the configuration asks of plugins that nobody has, now that all plugins are known.

    Raises:
        ConfigurationError: with every fault.
    """
    errors = startup_errors(
        config,
        known={*registry.names(), *registry.planned},
        implements=lambda name, point: implements_in_tree(name, point) or _offers(registry.get(name), point),
    )
    if errors:
        raise ConfigurationError(errors)


def _offers(factory: PluginFactory | None, point: str) -> bool:
    """Whether a plugin class of another package has the point's methods; what a function returns is seen when it is built."""
    protocols = POINTS.get(point, ())
    if factory is None or not protocols:
        return False
    made = unwrap(factory)
    if not isinstance(made, type):
        return point not in ("queueSort", "bind")
    return any(
        all(hasattr(made, name) for name in vars(protocol) if not name.startswith("_"))
        for protocol in protocols
    )


def build_frameworks(
    config: KubeSchedulerConfiguration,
    registry: Registry,
    handle: SchedulerHandle,
    metrics: Metrics,
    *,
    kept: Mapping[str, Mapping[str, Any]] = MappingProxyType({}),
    extenders: ExtenderSet | None = None,
) -> dict[str, Framework]:
    """The profiles by ``schedulerName``.

    Args:
        extenders: those of the configuration; None where they are not to be called, in a simulation say.
        kept: by profile and name, plugins that were built before and go on.

    Raises:
        scheduler.framework.profile.ProfileError: a profile cannot be built.
    """
    frameworks = {}
    for profile in config.profiles:
        plugins = build_plugins(profile, registry, handle, kept.get(profile.scheduler_name, {}))
        if plugins.left_out:
            logger.warning(
                "profile %s runs without these plugins, which are not there yet: %s",
                profile.scheduler_name,
                ", ".join(plugins.left_out),
            )
        frameworks[profile.scheduler_name] = Framework(
            profile.scheduler_name,
            plugins,
            metrics,
            percentage_of_nodes_to_score=_percentage(config, profile),
            extenders=extenders,
        )
    return frameworks


def queue_rules(
    config: KubeSchedulerConfiguration, frameworks: Mapping[str, Framework], max_in_unschedulable: float
) -> QueueRules:
    """What the profiles say about waiting pods; they have the same queue-sort plugin (see ``build_scheduler`` for the seconds)."""
    first = next(iter(frameworks.values()))
    return QueueRules(
        first.sort_key,
        {name: framework.plugins_at("preEnqueue") for name, framework in frameworks.items()},
        {name: registrations(framework.events_to_register()) for name, framework in frameworks.items()},
        QueueTimes(
            float(config.pod_initial_backoff_seconds),
            float(config.pod_max_backoff_seconds),
            max_in_unschedulable,
        ),
    )


def build_scheduler(
    config: KubeSchedulerConfiguration,
    frameworks: Mapping[str, Framework],
    waiting: WaitingPods,
    outside: Outside,
    metrics: Metrics,
    clocks: Clocks,
    rng: Random,
    *,
    features: Features,
    max_in_unschedulable: float,
    catalog: Catalog | None = None,
    evictions: Evictions | None = None,
    crew: Callable[[str, int], Crew] = Workers,
) -> Scheduler:
    """The scheduler (see ``Scheduler`` for most arguments).

    Args:
        max_in_unschedulable: seconds after which a refused pod is tried again without an event.
    """
    rules = queue_rules(config, frameworks, max_in_unschedulable)
    queue = SchedulingQueue(
        rules.sort_key,
        clocks.now,
        pre_enqueue=rules.pre_enqueue,
        hints=rules.hints,
        times=rules.times,
        pop_from_backoff=features.enabled("SchedulerPopFromBackoffQ"),
        metrics=metrics,
    )
    return Scheduler(frameworks, queue, waiting, outside, metrics, clocks, rng, catalog, evictions, crew)


def _percentage(config: KubeSchedulerConfiguration, profile: KubeSchedulerProfile) -> int:
    own = profile.percentage_of_nodes_to_score
    return config.percentage_of_nodes_to_score if own is None else own
