"""``/metrics/resources``: metrics of every pod, which only the leader prints, so that several replicas do not count the cluster twice."""

from collections.abc import Callable

from flask import Blueprint, Response, request
from prometheus_client import CollectorRegistry
from prometheus_client.registry import Collector

from scheduler.metrics import exposition
from scheduler.serving.app import TEXT
from scheduler.serving.methods import KNOWN_METHODS


def resource_metrics(collector: Collector, leading: Callable[[], bool], started: float) -> Blueprint:
    """The route.

    Args:
        leading: whether this process schedules; the answer is empty while it does not.
        started: when the process started, in seconds since 1970, for ``Process-Start-Time-Unix``.
    """
    registry = CollectorRegistry()
    registry.register(collector)
    blueprint = Blueprint("resource-metrics", __name__)

    def show() -> Response:
        if not leading():
            empty = Response(b"")
            del empty.headers["Content-Type"]
            return empty
        if request.method == "DELETE":
            return Response("metrics reset\n", content_type=TEXT)
        body, content_type = exposition(registry, request.headers.get("Accept", ""))
        return Response(
            body, content_type=content_type, headers={"Process-Start-Time-Unix": str(int(started))}
        )

    blueprint.add_url_rule("/metrics/resources", "show", show, methods=KNOWN_METHODS)
    return blueprint
