"""Config: everything that is needed to run, ready; nothing in it has been started (upstream: ``app/config``).

``make_config`` is the only way from options to one. It opens files and builds clients, and reports whatever is wrong with
them; the one thing that it asks the API server for is whose client certificates the serving port has to accept.
"""

from __future__ import annotations

import random
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit

from prometheus_client import CollectorRegistry

from scheduler.apis.config.types import KubeSchedulerConfiguration
from scheduler.app import metrics_policy
from scheduler.app.access import Admission, make_admission
from scheduler.app.build import check_profiles, load_registry
from scheduler.app.flags.version import reported_version
from scheduler.app.options import Options
from scheduler.client.access import Access, load_access, user_agent
from scheduler.client.election import default_identity
from scheduler.client.rest import Rest
from scheduler.client.reviews import BURST as REVIEW_BURST
from scheduler.client.reviews import QPS as REVIEW_QPS
from scheduler.features import gates
from scheduler.framework.registry import Registry
from scheduler.metrics import Metrics, add_process
from scheduler.scheduling.parts import Clocks
from scheduler.serving.tls import ContextSource, NamedFiles, ServingFiles, Settings, serving_tls


@dataclass(frozen=True, slots=True)
class Clients:
    """Connections to the API server, each with its own rate limit, so that events and leases never wait for bindings."""

    scheduling: Rest
    events: Rest
    leases: Rest


@dataclass(frozen=True, slots=True)
class Config:
    """The ready things.

    Attributes:
        component: the configuration in force.
        plugins: the factories, out-of-tree ones included.
        tls: the serving port's certificate; None when nothing is served.
        admission: who may ask the serving port.
        identity: who we are in an election: ``<hostname>_<uuid>``.
        version: the release of kube-scheduler that is reported, ``v1.36.2``.
    """

    options: Options
    component: KubeSchedulerConfiguration
    plugins: Registry
    clients: Clients
    metrics: Metrics
    tls: ContextSource | None
    admission: Admission
    clocks: Clocks
    rng: random.Random
    identity: str
    version: str


def make_config(options: Options, component: KubeSchedulerConfiguration) -> Config:
    """Make everything ready.

    Raises:
        scheduler.client.errors.AccessError: no usable kubeconfig, or no client CAs where they must be found.
        scheduler.serving.tls.CertificateError: no usable serving certificate or CA bundle.
        scheduler.framework.registry.PluginLoadError: an out-of-tree plugin cannot be loaded.
        scheduler.app.build.ConfigurationError: a profile asks for plugins that nobody has, or not at that point.
    """
    clocks = Clocks(time.monotonic, lambda: datetime.now(UTC))
    plugins = load_registry(options.wharfinger.plugin)
    check_profiles(component, plugins)
    access = load_access(component.client_connection.kubeconfig, options.misc.master)
    version = reported_version(options.request.version)
    metrics = _metrics(options, version)
    admission = make_admission(options, partial(_client, metrics, REVIEW_QPS, REVIEW_BURST))
    return Config(
        options=options,
        component=component,
        plugins=plugins,
        clients=_clients(access, component, metrics),
        metrics=metrics,
        tls=_certificate(options, admission, clocks.wall) if options.serving.secure_port else None,
        admission=admission,
        clocks=clocks,
        rng=random.Random(),
        identity=default_identity(),
        version=version,
    )


def _metrics(options: Options, version: str) -> Metrics:
    """The metrics over a registry of their own, with what is known from the start."""
    registry = CollectorRegistry()
    add_process(registry)
    metrics = Metrics(registry, metrics_policy.policy(options.metrics))
    major, minor = version.removeprefix("v").split(".")[:2]
    metrics.built({"major": major, "minor": minor, "git_version": version, "platform": sys.platform})
    compatibility = options.compatibility
    metrics.version(version.removeprefix("v"), compatibility.emulated, compatibility.oldest)
    for gate in gates(options.features.version).values():
        stage = "" if gate.stage == "ga" else gate.stage.upper()
        metrics.feature(gate.name, stage, enabled=options.features.enabled(gate.name))
    return metrics


def _clients(access: Access, component: KubeSchedulerConfiguration, metrics: Metrics) -> Clients:
    connection = component.client_connection
    client = partial(_client, metrics, connection.qps, connection.burst, access)
    return Clients(client("scheduler"), client("scheduler-events"), client("leader-election"))


def _client(metrics: Metrics, qps: float, burst: int, access: Access, name: str) -> Rest:
    """A client with a rate limit of its own, counted in the metrics."""
    host = urlsplit(access.host).netloc

    def observe(method: str, code: str, seconds: float) -> None:
        metrics.request(code, method, host, seconds)

    def throttled(method: str, seconds: float) -> None:
        metrics.throttled(method, host, seconds)

    def transferred(method: str, sent: int, received: int) -> None:
        metrics.transferred(method, host, sent, received)

    def retried(method: str, code: str) -> None:
        metrics.retried(code, method, host)

    return Rest(
        access,
        user_agent=user_agent(metadata.version("wharfinger"), name),
        qps=qps,
        burst=burst,
        observe=observe,
        throttled=throttled,
        transferred=transferred,
        retried=retried,
    )


def _certificate(options: Options, admission: Admission, wall: Callable[[], datetime]) -> ContextSource:
    serving = options.serving
    files = ServingFiles(
        certificate=_path(serving.tls_cert_file),
        key=_path(serving.tls_private_key_file),
        directory=_path(serving.cert_dir),
        named=tuple(
            NamedFiles(Path(certificate).expanduser(), Path(key).expanduser(), patterns)
            for certificate, key, patterns in serving.tls_sni_cert_key
        ),
        settings=Settings(
            serving.tls_min_version, tuple(serving.tls_cipher_suites), tuple(serving.tls_curve_preferences)
        ),
        bind_address=serving.bind_address,
    )
    return serving_tls(files, now=wall(), authorities=admission.authorities)


def _path(text: str) -> Path | None:
    return Path(text).expanduser() if text else None
