"""The application with the checks that kube-scheduler has."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import trustme
from flask import Blueprint, request
from prometheus_client import CollectorRegistry

from scheduler.metrics import HealthMetrics, Metrics
from scheduler.serving.access import Access
from scheduler.serving.app import Parts
from scheduler.serving.authorization import OpenPaths
from scheduler.serving.health import PING, Check

OPEN = ("/*",)
DEFAULT_OPEN = ("/healthz", "/readyz", "/livez")
ECHO_LIMIT = 4096


def passing(name: str) -> Check:
    return name, lambda: None


def echo_routes() -> Blueprint:
    """A route that reads its body, one that fails, as an extender would be mounted."""
    routes = Blueprint("echo", __name__)
    routes.add_url_rule("/echo", "echo", _echo, methods=["POST"])
    routes.add_url_rule("/boom", "boom", _boom)
    return routes


def _echo() -> bytes:
    return request.get_data()


def _boom() -> bytes:
    raise ZeroDivisionError("division by zero")


def parts(open_paths: Sequence[str] = OPEN, **changes: Any) -> Parts:
    metrics = Metrics(CollectorRegistry())
    health = HealthMetrics(CollectorRegistry(), started=1796017362.55)
    settings: dict[str, Any] = {
        "access": Access(OpenPaths.parse(open_paths)),
        "registry": metrics.registry,
        "healthz": (passing("leaderElection"),),
        "livez": (PING,),
        "readyz": tuple(passing(name) for name in ("leaderElection", "shutdown", "sched-handler-sync")),
        "reset_metrics": metrics.reset,
        "slis": health.registry,
        "observe_health": health.observe,
        "started": 1796017365.0,
        "blueprints": (echo_routes(),),
        "body_limits": {"/echo": ECHO_LIMIT},
    }
    return Parts(**(settings | changes))


def write_pair(leaf: trustme.LeafCert, directory: Path) -> tuple[Path, Path]:
    """Certificate and key files of a leaf."""
    certificate, key = directory / "tls.crt", directory / "tls.key"
    key.write_bytes(leaf.private_key_pem.bytes())
    certificate.write_bytes(b"".join(blob.bytes() for blob in leaf.cert_chain_pems))
    return certificate, key
