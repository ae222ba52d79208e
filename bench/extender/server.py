"""The process that is measured: the serving port with the webhook on it, as the scheduler has it.

``python -m bench.extender.server AUTHORITY`` prints two URLs, without and with TLS, and serves until its input ends. Over TLS a client
is who its certificate says, over the other one nobody; both go through the same chain of authentication and authorization.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509
from flask import Flask
from prometheus_client import CollectorRegistry

from bench.extender import documents
from bench.wiring import Nowhere, default_frameworks
from extender import DEFAULT_TIMEOUT, GivenWorld, Settings, WebhookMetrics, body_limits, create_blueprint
from scheduler.app.access import EXTENDER_PATHS
from scheduler.app.memory import settle
from scheduler.framework.waiting import WaitingPods
from scheduler.metrics import Metrics
from scheduler.serving.access import Access
from scheduler.serving.app import Parts, create_app
from scheduler.serving.authentication import delegated
from scheduler.serving.authentication.authorities import Bundle, bundle_file
from scheduler.serving.authentication.certificates import ClientCertificates
from scheduler.serving.authorization import OpenPaths, privileged_groups, union
from scheduler.serving.http import Server
from scheduler.serving.tls import ServingFiles, serving_tls


def main(authority: str) -> None:
    """Serve until standard input ends."""
    logging.basicConfig(level=logging.WARNING)
    frameworks = default_frameworks(Metrics(CollectorRegistry()), WaitingPods(time.monotonic))
    world = GivenWorld(
        frameworks.values(), documents.nodes(documents.NODES), documents.running(documents.NODES)
    )
    bundle = bundle_file(Path(authority), "client CA bundle")
    tls = serving_tls(ServingFiles(), now=datetime.now(UTC), authorities=lambda: _certificates(bundle))
    application = _application(world, bundle)
    servers = [Server(application), Server(application, tls=tls)]
    for server in servers:
        server.start()
    settle()
    print(*(server.url for server in servers), flush=True)
    sys.stdin.read()
    for server in servers:
        server.stop()


def _certificates(bundle: Bundle) -> Sequence[x509.Certificate]:
    authorities = bundle()
    return authorities.certificates if authorities else ()


def _application(world: GivenWorld, bundle: Bundle) -> Flask:
    registry = CollectorRegistry()
    settings = Settings(timeout=DEFAULT_TIMEOUT, find_pod=world.pod)
    metrics = WebhookMetrics(registry)
    return create_app(
        Parts(
            access=Access(
                union([privileged_groups, OpenPaths.parse(EXTENDER_PATHS)]),
                delegated([ClientCertificates(bundle)]),
            ),
            registry=registry,
            reset_metrics=metrics.reset,
            blueprints=(create_blueprint(world, Nowhere(), settings, metrics),),
            body_limits=body_limits(),
        )
    )


if __name__ == "__main__":
    main(sys.argv[1])
