"""Exchange: builds what a configuration asks for beside what is running, and has the scheduler go on with it.

Everything that can fail or take time happens before the exchange itself, which is a few assignments under the scheduler's lock::

    plugins with other arguments are made, the others go on ──> kinds that are newly read: watch, wait ──> scheduler.reconfigure
                 │ ProfileError                                              │ NotWatchedError
                 └───────────────── nothing has changed <────────────────────┘
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from scheduler.apis.config import KubeSchedulerConfiguration, KubeSchedulerProfile
from scheduler.apis.objects import Pod
from scheduler.app.build import SchedulerHandle, build_frameworks, queue_rules
from scheduler.app.watches import kinds_needed
from scheduler.client.informers import Informer, InformerSet
from scheduler.framework.extenders import ExtenderSet
from scheduler.framework.port import Recorder
from scheduler.framework.registry import Registry
from scheduler.framework.runtime import Framework
from scheduler.metrics import Metrics
from scheduler.scheduling.scheduler import Policy, Scheduler


class NotWatchedError(Exception):
    """Kinds that the new plugins read could not be listed in time; the text names them."""


class Exchange:
    """One scheduler's way from one configuration to the next. Used by one thread.

    Args:
        plugins: the factories.
        handle: the one that the running plugins have.
        informers: those of the process; ``informers_for`` makes more of them, by kind.
        extenders_for: makes the extenders of a configuration.
        recorder: makes whoever tells a profile's events, by ``schedulerName``.
        pods: those that the API server has.
        max_in_unschedulable: see ``build_scheduler``.
    """

    def __init__(
        self,
        plugins: Registry,
        handle: SchedulerHandle,
        metrics: Metrics,
        scheduler: Scheduler,
        informers: InformerSet,
        informers_for: Callable[[Collection[type[Any]]], Iterable[Informer[Any]]],
        extenders_for: Callable[[KubeSchedulerConfiguration], ExtenderSet | None],
        recorder: Callable[[str], Recorder],
        pods: Iterable[Pod],
        max_in_unschedulable: float,
    ) -> None:
        self._plugins = plugins
        self._handle = handle
        self._metrics = metrics
        self._scheduler = scheduler
        self._informers = informers
        self._informers_for = informers_for
        self._extenders_for = extenders_for
        self._recorder = recorder
        self._pods = pods
        self._max_in_unschedulable = max_in_unschedulable
        self._frameworks: Mapping[str, Framework] = dict(scheduler.frameworks)
        self._watched = kinds_needed(self._frameworks.values())

    def put_in_force(
        self,
        old: KubeSchedulerConfiguration,
        new: KubeSchedulerConfiguration,
        give_up: Callable[[], bool],
    ) -> None:
        """Have the scheduler decide as ``new`` says; ``old`` is what it follows now.

        Args:
            give_up: asked while new kinds are being listed; True ends the waiting.

        Raises:
            scheduler.framework.profile.ProfileError: a profile cannot be built, or extenders cannot be called.
            NotWatchedError: ``give_up`` ended the waiting.
        """
        kept = _kept(old, new, self._frameworks)
        extenders = self._extenders_for(new)
        frameworks = build_frameworks(
            new, self._plugins, self._handle, self._metrics, extenders=extenders, kept=kept
        )
        rules = queue_rules(new, frameworks, self._max_in_unschedulable)
        self._watch(frameworks.values(), give_up)
        recorders = {name: self._recorder(name) for name in frameworks.keys() - self._frameworks.keys()}
        self._scheduler.reconfigure(Policy(frameworks, rules, recorders, _changed(old, new)), self._pods)
        before, self._frameworks = self._frameworks, frameworks
        for former in {id(each.extenders): each.extenders for each in before.values()}.values():
            if former is not None:
                former.close()

    def _watch(self, frameworks: Iterable[Framework], give_up: Callable[[], bool]) -> None:
        """Watch what the plugins read besides; what nobody reads any more is watched on, since attempts under way may read it."""
        new = kinds_needed(frameworks) - self._watched
        missing = self._informers.join(list(self._informers_for(new)), give_up)
        if missing:
            raise NotWatchedError(
                f"{', '.join(missing)} could not be listed in time, which the plugins of the new configuration read"
            )
        self._watched |= new
        self._handle.catalog.keep_only(self._watched)


def _kept(
    old: KubeSchedulerConfiguration,
    new: KubeSchedulerConfiguration,
    frameworks: Mapping[str, Framework],
) -> dict[str, dict[str, Any]]:
    """By profile, the plugins whose arguments stay as they are: they go on, with what they remember (reserved volumes, say)."""
    before = {profile.scheduler_name: profile for profile in old.profiles}
    return {
        profile.scheduler_name: _same_plugins(
            before[profile.scheduler_name], profile, frameworks[profile.scheduler_name].plugins
        )
        for profile in new.profiles
        if profile.scheduler_name in before
    }


def _same_plugins(
    old: KubeSchedulerProfile, new: KubeSchedulerProfile, plugins: Mapping[str, Any]
) -> dict[str, Any]:
    were, are = old.plugin_config, new.plugin_config
    return {name: plugin for name, plugin in plugins.items() if were.get(name) == are.get(name)}


def _changed(old: KubeSchedulerConfiguration, new: KubeSchedulerConfiguration) -> frozenset[str]:
    """The profiles whose decisions may be others now; all of them when the extenders are others."""
    before = {profile.scheduler_name: profile for profile in old.profiles}
    everything = (
        old.extenders != new.extenders or old.percentage_of_nodes_to_score != new.percentage_of_nodes_to_score
    )
    return frozenset(
        profile.scheduler_name
        for profile in new.profiles
        if everything or profile != before.get(profile.scheduler_name)
    )
