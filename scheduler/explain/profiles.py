"""From a KubeSchedulerConfiguration to the framework that judges a pod.

Every node is scored, whatever ``percentageOfNodesToScore`` says, preemption is tried on every node, and configured extenders are not
called: an explanation is about all nodes, and about what this program decides.

Plugins keep what they have worked out about a cluster, so every world gets its own; what is shared is what costs: configurations that
have been read, and the metrics, which nobody looks at here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from prometheus_client import CollectorRegistry

from scheduler.apis import config
from scheduler.apis.config.args import DefaultPreemptionArgs
from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim
from scheduler.explain.objects import InputError
from scheduler.features import Features
from scheduler.framework.catalog import Catalog
from scheduler.framework.evictions import Evictions
from scheduler.framework.live import Live
from scheduler.framework.port import Port
from scheduler.framework.profile import ProfileError, build_plugins
from scheduler.framework.registry import Registry
from scheduler.framework.runtime import Framework
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics

Profiles = tuple[config.KubeSchedulerProfile, ...]
_READ_CONFIGURATIONS = 256


class Bystander:
    """A port that leads nowhere: decisions are explained, nothing is done."""

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Nothing."""

    def patch_pod_status(self, namespace: str, name: str, patch: Mapping[str, Any]) -> None:
        """Nothing."""

    def delete_pod(self, namespace: str, name: str, uid: str) -> None:
        """Nothing."""

    def patch_volume(self, name: str, patch: Mapping[str, Any]) -> PersistentVolume:
        """Never asked: nothing is bound here."""
        raise NotImplementedError

    def patch_claim(self, namespace: str, name: str, patch: Mapping[str, Any]) -> PersistentVolumeClaim:
        """Never asked: nothing is bound here."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Handle:
    """What plugins may use (see ``framework.interface.Handle``)."""

    features: Features
    port: Port
    waiting_pods: WaitingPods
    catalog: Catalog
    evictions: Evictions = field(default_factory=Evictions)
    rng: Random = field(default_factory=lambda: Random(0))
    live: Live = field(default_factory=Live)


class Workshop:
    """Builds frameworks.

    Args:
        registry: the plugins that there are.
        features: the feature gates.
    """

    def __init__(self, registry: Registry, features: Features) -> None:
        self.features = features
        self._registry = registry
        self._metrics = Metrics(CollectorRegistry())
        self._read: dict[str, Profiles] = {}

    def framework(self, profiles: Profiles, scheduler_name: str, catalog: Catalog) -> Framework:
        """The profile of that name, for pods that are judged in a world with this catalog.

        Raises:
            InputError: there is no such profile, or it cannot be built.
        """
        for profile in profiles:
            if profile.scheduler_name == scheduler_name:
                handle = Handle(self.features, Bystander(), WaitingPods(lambda: 0.0), catalog)
                try:
                    plugins = build_plugins(_thorough(profile), self._registry, handle)
                except ProfileError as error:
                    raise InputError(str(error)) from error
                return Framework(scheduler_name, plugins, self._metrics)
        names = ", ".join(profile.scheduler_name for profile in profiles)
        raise InputError(f"there is no profile for schedulerName {scheduler_name!r}; there is: {names}")

    def profiles(self, document: Any | None, source: str) -> Profiles:
        """The profiles of a configuration, the default ones without any.

        Raises:
            InputError: the configuration is invalid; the text has every fault.
        """
        text = "" if document is None else json.dumps(document)
        if text not in self._read:
            if len(self._read) >= _READ_CONFIGURATIONS:
                self._read.clear()
            features = self.features
            self._read[text] = (
                load_profiles(text, source, features) if text else config.default(features).profiles
            )
        return self._read[text]


def _thorough(profile: config.KubeSchedulerProfile) -> config.KubeSchedulerProfile:
    """The profile, its preemption not content with the first candidates that it finds (a share of few nodes may be none at all)."""
    configs = tuple(
        replace(one, args=replace(one.args, min_candidate_nodes_percentage=100))
        if isinstance(one.args, DefaultPreemptionArgs) and one.args.min_candidate_nodes_absolute
        else one
        for one in profile.plugin_configs
    )
    return replace(profile, plugin_configs=configs)


def load_profiles(text: bytes | str, source: str, features: Features) -> Profiles:
    """The profiles of a configuration's text. Raises InputError."""
    loaded = config.load(text, source=source, features=features)
    if loaded.config is None or loaded.errors:
        raise InputError("; ".join(map(str, loaded.errors)))
    return loaded.config.profiles
