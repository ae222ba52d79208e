"""Setup: the parts of a process, made out of a Config and tied together; nothing runs yet (upstream: ``Setup``).

::

    Config ──> informers, event broadcaster, frameworks ──> Scheduler ──> Process
                                                                │            │ health checks
                                                                └──> Flask application <──┘
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

from flask import Flask
from prometheus_client import CollectorRegistry

from extender import Settings as ExtenderSettings
from extender import WebhookMetrics, body_limits, create_blueprint
from scheduler.apis import duration
from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.objects import Node, Pod
from scheduler.app.build import SchedulerHandle, build_frameworks, build_scheduler
from scheduler.app.config import Config
from scheduler.app.debugging import lists
from scheduler.app.decisions import decisions_blueprint
from scheduler.app.electing import Neighbour, make_candidacy, make_elector
from scheduler.app.extending import check_objects, kept_objects, make_extenders, node_decoder, pod_decoder
from scheduler.app.pages import configz, pages
from scheduler.app.process import Process
from scheduler.app.reload.exchange import Exchange
from scheduler.app.reload.reloader import Reloader
from scheduler.app.watches import catalog_informers, kinds_needed
from scheduler.client.actions import Actions
from scheduler.client.candidate import Candidacy
from scheduler.client.events import EventBroadcaster
from scheduler.client.informers import Informer, InformerSet
from scheduler.client.resources import NODES, PODS
from scheduler.framework.catalog import Catalog
from scheduler.framework.evictions import Evictions
from scheduler.framework.extenders import ExtenderSet
from scheduler.framework.live import Live
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import HealthMetrics, Metrics
from scheduler.scheduling.debugger import Debugger
from scheduler.scheduling.parts import Outside
from scheduler.scheduling.scheduler import Scheduler
from scheduler.serving.app import Parts, create_app
from scheduler.serving.health import PING, Check
from scheduler.serving.http import Limits, Server

Watch = Callable[[Collection[type[Any]]], Iterable[Informer[Any]]]
"""Makes informers of kinds of the catalog."""

UNFINISHED_PODS = "status.phase!=Succeeded,status.phase!=Failed"
"""Finished pods hold nothing; the API server leaves them out."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A process that is ready to run, and the application that it serves."""

    process: Process
    scheduler: Scheduler
    reloader: Reloader
    debugger: Debugger
    app: Flask


@dataclass(frozen=True, slots=True)
class _Core:
    """What decides, and what it sees of nodes and pods.

    Attributes:
        kept: of which objects the informers keep every field (see ``kept_objects``).
    """

    broadcaster: EventBroadcaster
    handle: SchedulerHandle
    scheduler: Scheduler
    nodes: Informer[Node]
    pods: Informer[Pod]
    kept: frozenset[str]


def set_up(config: Config) -> Setup:
    """Tie the parts together.

    Raises:
        scheduler.framework.profile.ProfileError: a profile cannot be built.
    """
    core = _core(config)
    scheduler = core.scheduler
    watch = partial(catalog_informers, rest=config.clients.scheduling, handler=scheduler.catalog_handler)
    kinds = kinds_needed(scheduler.frameworks.values())
    core.handle.catalog.keep_only(kinds)
    informers = InformerSet([core.nodes, core.pods, *watch(kinds)])
    process = Process(
        config.version,
        scheduler,
        informers,
        core.broadcaster,
        make_elector(config, core.broadcaster),
        delay_cache=config.component.delay_cache_until_active,
    )
    reloader = Reloader(config, _exchange(config, core, informers, watch))
    candidacy = make_candidacy(config)
    for companion in (reloader, Neighbour(config), candidacy, config.admission.followed):
        if companion is not None:
            process.run_beside(companion)
    debugger = Debugger(scheduler, partial(lists, config.clients.scheduling, UNFINISHED_PODS))
    app = _application(config, core, process, reloader, candidacy)
    return Setup(process, scheduler, reloader, debugger, app)


def _core(config: Config) -> _Core:
    """The scheduler, its nodes and pods, and what it tells of its deeds."""
    kept = kept_objects(config.component, foresee=config.options.wharfinger.reload)
    rest = config.clients.scheduling
    nodes: Informer[Node] = Informer(rest, NODES, node_decoder(kept))
    pods: Informer[Pod] = Informer(rest, PODS, pod_decoder(kept), field_selector=UNFINISHED_PODS)
    broadcaster = EventBroadcaster(config.clients.events, now=config.clocks.now, wall=config.clocks.wall)
    live = Live(
        lambda namespace, name: pods.store.get(f"{namespace}/{name}"),
        nodes.store.get,
        now=config.clocks.now,
    )
    handle = SchedulerHandle(
        config.options.features,
        Actions(rest),
        WaitingPods(config.clocks.now),
        Catalog(),
        evictions=Evictions(),
        rng=config.rng,
        live=live,
    )
    scheduler = _scheduler(config, handle, broadcaster)
    nodes.add_handler(scheduler.node_handler)
    pods.add_handler(scheduler.pod_handler)
    return _Core(broadcaster, handle, scheduler, nodes, pods, kept)


def _exchange(config: Config, core: _Core, informers: InformerSet, watch: Watch) -> Exchange:
    return Exchange(
        config.plugins,
        core.handle,
        config.metrics,
        core.scheduler,
        informers,
        watch,
        partial(_extenders, config, core.kept),
        core.broadcaster.recorder,
        core.pods.store,
        _timeout(config),
    )


def server(config: Config, app: Flask) -> Server | None:
    """The serving port; None when it is switched off (``--secure-port=0``)."""
    serving = config.options.serving
    if not serving.secure_port:
        return None
    return Server(
        app,
        bind_address=serving.bind_address,
        port=serving.secure_port,
        tls=config.tls,
        limits=Limits(threads=config.options.wharfinger.serving_threads),
        reuse_port=serving.permit_port_sharing,
        is_open=config.admission.is_open,
        let_go=config.admission.let_go,
    )


def _scheduler(config: Config, handle: SchedulerHandle, broadcaster: EventBroadcaster) -> Scheduler:
    extenders = make_extenders(config.component, config.metrics)
    frameworks = build_frameworks(
        config.component, config.plugins, handle, config.metrics, extenders=extenders
    )
    outside = Outside(
        handle.port,
        {name: broadcaster.recorder(name) for name in frameworks},
        handle.live.pod,
        handle.live,
    )
    return build_scheduler(
        config.component,
        frameworks,
        handle.waiting_pods,
        outside,
        config.metrics,
        config.clocks,
        config.rng,
        features=handle.features,
        max_in_unschedulable=_timeout(config),
        catalog=handle.catalog,
        evictions=handle.evictions,
    )


def _extenders(
    config: Config, kept: frozenset[str], component: KubeSchedulerConfiguration
) -> ExtenderSet | None:
    """The extenders of a configuration that is reloaded.

    Raises:
        scheduler.framework.profile.ProfileError: they need more of objects than the informers keep, or cannot be made.
    """
    check_objects(kept, component)
    return make_extenders(component, config.metrics)


def _timeout(config: Config) -> float:
    """Seconds after which a refused pod is tried again without an event."""
    return config.options.deprecated.pod_max_in_unschedulable_pods_duration / duration.SECOND


def _application(
    config: Config, core: _Core, process: Process, reloader: Reloader, candidacy: Candidacy | None
) -> Flask:
    scheduler, port, pods = core.scheduler, core.handle.port, core.pods
    options = config.options
    elected = config.component.leader_election.leader_elect
    election: Check = ("leaderElection", process.election)
    webhook_metrics = WebhookMetrics(config.metrics.registry, config.metrics.policy)
    started = time.time()
    health = HealthMetrics(CollectorRegistry(), started=started, policy=config.metrics.policy)
    parts = Parts(
        access=config.admission.access,
        registry=config.metrics.registry,
        healthz=(election,) if elected else (PING,),
        readyz=(
            *((election,) if elected else ()),
            ("shutdown", process.shutting_down),
            ("sched-handler-sync", process.unsynced),
            *((("informer-sync", candidacy.unsynced),) if candidacy else ()),
        ),
        reset_metrics=partial(_reset, config.metrics, webhook_metrics),
        config=lambda: configz(reloader.component),
        started=started,
        slis=health.registry,
        observe_health=health.observe,
        blueprints=(
            create_blueprint(
                scheduler, port, _extender_settings(config, process.unsynced, pods), webhook_metrics
            ),
            decisions_blueprint(scheduler.decisions),
            *pages(config, lambda: pods.store, process.leading, started, process.stopping),
        ),
        body_limits=body_limits(options.wharfinger.extender_max_body_bytes),
    )
    return create_app(parts)


def _reset(scheduling: Metrics, webhook: WebhookMetrics) -> None:
    scheduling.reset()
    webhook.reset()


def _extender_settings(
    config: Config, unsynced: Callable[[], str | None], pods: Informer[Pod]
) -> ExtenderSettings:
    flags = config.options.wharfinger
    return ExtenderSettings(
        max_body_bytes=flags.extender_max_body_bytes,
        timeout=flags.extender_timeout / duration.SECOND or None,
        find_pod=lambda namespace, name: pods.store.get(f"{namespace}/{name}"),
        unsynced=unsynced,
        now=config.clocks.now,
        threads=2 * flags.serving_threads,
    )
