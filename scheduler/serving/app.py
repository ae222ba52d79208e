"""The serving port's HTTP application: health, metrics, configuration, and what others mount on it (the extender).

Answers are kube-scheduler's, byte for byte where a client can tell: ``Cache-Control`` on everything, Go's 404 text, Kubernetes' Status
for what is forbidden. Requests are counted in the same registry that ``/metrics`` prints.

Order of a request: known method (`methods`) -> body limit (`limits`) -> counted -> permitted (`access`) -> the route -> headers.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import quote

from flask import Blueprint, Flask, Response, request
from prometheus_client import CollectorRegistry
from prometheus_flask_exporter import PrometheusMetrics
from werkzeug.exceptions import HTTPException

from scheduler.metrics import exposition
from scheduler.serving.access import Access
from scheduler.serving.asked import asked
from scheduler.serving.health import PING, Answer, Check, Endpoint, Observer, ignore_result
from scheduler.serving.limits import DEFAULT_BODY_BYTES, BodyLimits
from scheduler.serving.methods import KNOWN_METHODS, KnownMethods
from scheduler.serving.refusals import respond

logger = logging.getLogger(__name__)

TEXT = "text/plain; charset=utf-8"
_NO_SNIFF = ("X-Content-Type-Options", "nosniff")
_REQUEST_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Parts:
    """What the application serves.

    Attributes:
        access: who may ask what.
        registry: printed by ``/metrics``; requests are counted in it.
        healthz, livez, readyz: named checks of the three endpoints.
        reset_metrics: what ``DELETE /metrics`` does.
        slis: registry of ``/metrics/slis``.
        observe_health: told the outcome of every health check.
        config: the JSON of ``/configz``, asked for anew by every request.
        started: when the process started, in seconds since 1970, for ``Process-Start-Time-Unix``.
        blueprints: further routes.
        body_limits: path prefixes and the largest body accepted there, in bytes; 1 MiB elsewhere.
    """

    access: Access
    registry: CollectorRegistry
    healthz: Sequence[Check] = (PING,)
    livez: Sequence[Check] = (PING,)
    readyz: Sequence[Check] = (PING,)
    reset_metrics: Callable[[], None] = lambda: None
    slis: CollectorRegistry = field(default_factory=CollectorRegistry)
    observe_health: Observer = ignore_result
    config: Callable[[], bytes] = lambda: b"{}"
    started: float = 0.0
    blueprints: Sequence[Blueprint] = ()
    body_limits: Mapping[str, int] = field(default_factory=dict)


def create_app(parts: Parts) -> Flask:
    """The application; one `Parts` may serve one application only, since its registry takes request metrics once."""
    app = Flask("wharfinger", static_folder=None)
    app.url_map.strict_slashes = True
    app.url_map.merge_slashes = False
    limited = BodyLimits(app.wsgi_app, default=DEFAULT_BODY_BYTES, by_prefix=parts.body_limits)
    app.wsgi_app = KnownMethods(limited)  # type: ignore[method-assign]
    PrometheusMetrics(app, path=None, registry=parts.registry, group_by="url_rule", buckets=_REQUEST_BUCKETS)
    app.before_request(lambda: _refuse(parts.access))
    app.after_request(_add_headers)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)
    for name, checks in (("healthz", parts.healthz), ("livez", parts.livez), ("readyz", parts.readyz)):
        _add_health(app, Endpoint(name, checks, parts.observe_health))
    _add_metrics(app, parts)
    app.add_url_rule("/configz", "configz", lambda: _json(parts.config(), 200), methods=KNOWN_METHODS)
    for blueprint in parts.blueprints:
        app.register_blueprint(blueprint)
    return app


def _add_health(app: Flask, endpoint: Endpoint) -> None:
    def root() -> Response:
        verbose = "verbose" in request.args
        return _answer(endpoint.root(verbose=verbose, exclude=request.args.getlist("exclude")))

    def single(check: str) -> Response:
        answer = endpoint.single(check)
        return _answer(answer) if answer is not None else _not_found()

    app.add_url_rule(f"/{endpoint.name}", endpoint.name, root, methods=KNOWN_METHODS)
    app.add_url_rule(f"/{endpoint.name}/<check>", f"{endpoint.name}-check", single, methods=KNOWN_METHODS)


def _add_metrics(app: Flask, parts: Parts) -> None:
    def metrics() -> Response:
        if request.method == "DELETE":
            parts.reset_metrics()
            return Response("metrics reset\n", content_type=TEXT)
        return _exposition(parts.registry, parts.started)

    app.add_url_rule("/metrics", "metrics", metrics, methods=KNOWN_METHODS)
    app.add_url_rule(
        "/metrics/slis", "metrics-slis", lambda: _exposition(parts.slis, parts.started), methods=KNOWN_METHODS
    )


def _exposition(registry: CollectorRegistry, started: float) -> Response:
    body, content_type = exposition(registry, request.headers.get("Accept", ""))
    return Response(body, content_type=content_type, headers={"Process-Start-Time-Unix": str(int(started))})


def _refuse(policy: Access) -> Response | None:
    question = asked(request.environ, request.method, request.path, request.headers.to_wsgi_list())
    refusal = policy.refusal(question)
    return None if refusal is None else respond(refusal, request)


def _add_headers(response: Response) -> Response:
    response.headers["Cache-Control"] = "no-cache, private"
    return response


def _http_error(error: HTTPException) -> Response:
    code = error.code or HTTPStatus.INTERNAL_SERVER_ERROR
    if code == HTTPStatus.NOT_FOUND:
        return _not_found()
    response = Response(f"{error.description}\n", status=code, content_type=TEXT, headers=[_NO_SNIFF])
    allowed = getattr(error, "valid_methods", None)
    if allowed:
        response.headers["Allow"] = ", ".join(sorted(allowed))
    return response


def _unexpected(error: Exception) -> Response:
    logger.error("%s %s failed", request.method, quote(request.path), exc_info=error)
    body = "internal server error: look in the scheduler's log for details\n"
    return Response(body, status=500, content_type=TEXT, headers=[_NO_SNIFF])


def _not_found() -> Response:
    return Response("404 page not found\n", status=404, content_type=TEXT, headers=[_NO_SNIFF])


def _answer(answer: Answer) -> Response:
    headers = [_NO_SNIFF] if answer.declared else []
    return Response(answer.body, status=answer.status, content_type=TEXT, headers=headers)


def _json(body: bytes, status: int) -> Response:
    return Response(body, status=status, content_type="application/json", headers=[_NO_SNIFF])
