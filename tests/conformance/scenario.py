"""From a recorded scenario to a cluster, the pending pod and the profile that judges it.

Objects become a ``ClusterState`` and a ``Nominator`` as the watches would fill them; the configuration goes through the loader
that the program uses. In-tree plugins that do not exist yet are left out of the profile: ``ABSENT`` is the one list of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from prometheus_client import CollectorRegistry

from scheduler.apis import config
from scheduler.apis.objects import DecodeError, Node, Pod, convert
from scheduler.apis.quantity import QuantityError
from scheduler.backend.cluster import ClusterState
from scheduler.backend.gates import Gates
from scheduler.backend.nominator import Nominator
from scheduler.backend.queued import NoMetrics, QueuedPodInfo
from scheduler.features import Features
from scheduler.framework.catalog import COLLECTIONS, Catalog
from scheduler.framework.pods import PodInfo
from scheduler.framework.profile import ProfileError, build_plugins
from scheduler.framework.registry import Registry
from scheduler.framework.runtime import Framework
from scheduler.framework.status import Status
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.plugins import IN_TREE, PLANNED

ABSENT = PLANNED
"""In-tree plugins that do not exist yet. Everything that they decide is left out of the comparison."""

Document = Mapping[str, Any]


class ScenarioError(Exception):
    """The scenario cannot be run: a bad object, an invalid configuration, or a profile that does not exist."""


class NoBinder:
    """Decisions are compared, not acts."""

    def bind(self, namespace: str, name: str, uid: str, node: str) -> None:
        """Never called."""
        raise AssertionError(f"{namespace}/{name} was bound to {node}")


@dataclass(frozen=True)
class Handle:
    """What plugins may use."""

    features: Features
    port: NoBinder
    waiting_pods: WaitingPods
    catalog: Catalog


@dataclass(frozen=True)
class World:
    """A scenario, ready to be judged."""

    cluster: ClusterState
    nominator: Nominator
    framework: Framework
    pod: PodInfo

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """What the queue's gates say to the pod, a new one each time."""
        plugins = {self.framework.profile_name: self.framework.plugins_at("preEnqueue")}
        return Gates(plugins, NoMetrics(), lambda: 0.0).refusal(QueuedPodInfo(pod, 0.0))


def build(scenario: Document) -> World:
    """Build it.

    Raises:
        ScenarioError: see there.
    """
    try:
        pod = _pod(scenario["pod"])
        catalog = Catalog()
        framework = _framework(scenario.get("config"), pod.spec.scheduler_name, catalog)
        world = World(ClusterState(), Nominator(), framework, PodInfo(pod))
        _fill(catalog, scenario["objects"])
        _populate(world, scenario["objects"])
    except (DecodeError, QuantityError, ProfileError) as error:
        raise ScenarioError(str(error)) from error
    return world


def _fill(catalog: Catalog, documents: list[Document]) -> None:
    kinds = {kind.__name__: kind for kind in COLLECTIONS}
    for document in documents:
        kind = kinds.get(document["kind"])
        if kind is not None:
            catalog.of(kind).put(convert(kind, _with_uid(document)))


def _populate(world: World, documents: list[Document]) -> None:
    for document in documents:
        if document["kind"] == "Node":
            world.cluster.add_node(convert(Node, _with_uid(document)))
    for document in documents:
        if document["kind"] == "Pod":
            _add_pod(world, _pod(document))


def _add_pod(world: World, pod: Pod) -> None:
    """A pod without a node waits; its nomination counts once it is let into the queue of this profile."""
    if pod.spec.node_name:
        world.cluster.add_pod(pod)
    elif pod.spec.scheduler_name == world.framework.profile_name and world.pre_enqueue(PodInfo(pod)).ok:
        world.nominator.add(PodInfo(pod))


def _pod(document: Document) -> Pod:
    spec = {"schedulerName": "default-scheduler", **document.get("spec", {})}
    return convert(Pod, _with_uid({**document, "spec": spec}))


def _with_uid(document: Document) -> Document:
    metadata = document["metadata"]
    uid = f"{document['kind']}/{metadata.get('namespace', '')}/{metadata['name']}"
    return {**document, "metadata": {"uid": uid, **metadata}}


def _framework(document: Document | None, scheduler_name: str, catalog: Catalog) -> Framework:
    features = Features.default()
    for profile in _profiles(document, features):
        if profile.scheduler_name == scheduler_name:
            handle = Handle(features, NoBinder(), WaitingPods(lambda: 0.0), catalog)
            plugins = build_plugins(_existing(profile), Registry(IN_TREE), handle)
            return Framework(scheduler_name, plugins, Metrics(CollectorRegistry()))
    raise ScenarioError(f"profile not found for scheduler name {scheduler_name!r}")


def _profiles(document: Document | None, features: Features) -> tuple[config.KubeSchedulerProfile, ...]:
    if document is None:
        return config.default(features).profiles
    loaded = config.load(json.dumps(document), source="scenario", features=features)
    if loaded.config is None or loaded.errors:
        raise ScenarioError("; ".join(map(str, loaded.errors)))
    return loaded.config.profiles


def _existing(profile: config.KubeSchedulerProfile) -> config.KubeSchedulerProfile:
    sets = {
        point: replace(plugins, enabled=tuple(ref for ref in plugins.enabled if ref.name not in ABSENT))
        for point, plugins in profile.plugins.sets.items()
    }
    return replace(profile, plugins=config.Plugins(MappingProxyType(sets)))
