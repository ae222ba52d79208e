"""The webhook's routes, as a Flask blueprint for the process's own server.

====================================  =================================================================================
``POST /filter``                      the profile of the pod's ``schedulerName``; else ``default_profile``, else the first
``POST /prioritize``
``POST /preempt``
``POST /bind``
``POST /profiles/<profile>/<verb>``   that profile, so that each ``extenders:`` entry chooses the plugins that judge for it
``GET /openapi.json``                 all of this for programs
====================================  =================================================================================

Every answer is JSON, refusals included: ``{"Error": "one line"}``.

======  ===============================================================================================================
200     judged or bound; what failed on the way is ``Error``, for filter also what is wrong with the request
400     malformed: no JSON, no pod, a field of the wrong type, neither form of candidates; every fault with its place
404     no such profile, no such verb
405     not POST
413     larger than ``max_body_bytes``, announced or not, inflated or not
415     another content type or encoding
500     prioritize or preempt failed: their answers have no ``Error``
503     they were asked before the cluster is known
504     they took too long
======  ===============================================================================================================
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, Response
from flask import request as asked
from prometheus_client import CollectorRegistry
from werkzeug.exceptions import HTTPException

from extender import answers, openapi
from extender.binding import Bindings, FindPod, no_pod
from extender.bodies import Body, RefusedError, read_json
from extender.handlers import UnknownProfileError
from extender.metrics import WebhookMetrics
from extender.requests import NEVER, Deadline, Request, TooLateError, in_time
from extender.schemas import MalformedError
from extender.webhook import FailedError, Reason, Webhook
from scheduler.apis import duration
from scheduler.framework.port import Binder
from scheduler.scheduling.workers import Workers
from scheduler.scheduling.world import World

logger = logging.getLogger(__name__)

DEFAULT_MAX_BODY_BYTES = 256 << 20
"""Room for 30,000 nodes in full, images included. ``nodeCacheCapable: true`` sends names instead."""
DEFAULT_TIMEOUT = 4.5
"""Seconds: less than the five that kube-scheduler waits unless its ``httpTimeout`` says otherwise."""
TIMEOUT_HEADER = "Wharfinger-Timeout"

VERBS = ("filter", "prioritize", "preempt", "bind")
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
_JSON = "application/json"
_THREADS = 32

Verb = Callable[[Body, Request], bytes]
Failed = Callable[[Request, str], bytes]


@dataclass(frozen=True, slots=True)
class Settings:
    """How the webhook serves.

    Attributes:
        default_profile: judges pods whose ``schedulerName`` is no profile of this process; None: the first profile.
        max_body_bytes: the largest body accepted, inflated. A server with limits of its own has to allow as much: ``body_limits``.
        timeout: seconds after which a request is answered come what may; None: when it is done. A request's own
            ``Wharfinger-Timeout: 1500ms`` may ask for less.
        find_pod: (namespace, name) -> the pod as it is now; bind looks at it once more.
        unsynced: why the cluster state cannot be trusted yet; None when it can.
        now: a clock, in seconds.
        threads: how many verbs run at a time.
    """

    default_profile: str | None = None
    max_body_bytes: int = DEFAULT_MAX_BODY_BYTES
    timeout: float | None = None
    find_pod: FindPod = no_pod
    unsynced: Reason = lambda: None
    now: Callable[[], float] = time.monotonic
    threads: int = _THREADS


def create_blueprint(
    world: World,
    binder: Binder,
    settings: Settings | None = None,
    metrics: WebhookMetrics | None = None,
) -> Blueprint:
    """The routes.

    Args:
        world: the cluster state that judges.
        binder: binds pods for ``/bind``.
        metrics: where requests are counted; None: nowhere that anybody looks at.
    """
    settings = settings or Settings()
    bindings = Bindings(binder, settings.find_pod)
    webhook = Webhook(world, bindings, settings.default_profile, settings.unsynced)
    desk = _Desk(settings, metrics or WebhookMetrics(CollectorRegistry()))
    views = {
        "filter": desk.view("filter", webhook.filter, webhook.filter_failed),
        "prioritize": desk.view("prioritize", webhook.prioritize),
        "preempt": desk.view("preempt", webhook.preempt),
        "bind": desk.view("bind", webhook.bind, webhook.bind_failed),
    }
    blueprint = Blueprint("extender", __name__)
    for name, view in views.items():
        for prefix, endpoint in (("", name), ("/profiles/<profile>", f"profile-{name}")):
            blueprint.add_url_rule(
                f"{prefix}/{name}", endpoint, view, methods=_METHODS, provide_automatic_options=False
            )
    blueprint.add_url_rule("/openapi.json", "openapi", _openapi, methods=("GET",))
    return blueprint


def body_limits(max_body_bytes: int = DEFAULT_MAX_BODY_BYTES) -> dict[str, int]:
    """The largest body by path prefix, for a server that limits bodies."""
    return dict.fromkeys([*(f"/{verb}" for verb in VERBS), "/profiles/"], max_body_bytes)


class _Desk:
    """Takes requests and hands out answers: limits, deadlines, statuses, counts."""

    def __init__(self, settings: Settings, metrics: WebhookMetrics) -> None:
        self._settings = settings
        self._metrics = metrics
        self._crew = Workers("extender", settings.threads)

    def view(self, name: str, verb: Verb, failed: Failed | None = None) -> Callable[..., Response]:
        """A Flask view for a verb.

        Args:
            failed: the answer that tells of a failure with status 200, for verbs that have one.
        """

        def view(profile: str | None = None) -> Response:
            start = self._settings.now()
            request = Request(profile)
            body: Body = b""
            try:
                request.deadline = self._deadline()
                body = self._body()
                response = Response(self._answer(verb, body, request, failed), content_type=_JSON)
            except _REFUSALS as error:
                response = _refusal(error)
            sent = len(response.get_data())
            seconds = self._settings.now() - start
            self._metrics.answered(name, request, response.status_code, seconds, len(body), sent)
            return response

        return view

    def _body(self) -> Body:
        if asked.method != "POST":
            raise RefusedError(HTTPStatus.METHOD_NOT_ALLOWED, "this takes a POST")
        return read_json(asked, self._settings.max_body_bytes)

    def _answer(self, verb: Verb, body: Body, request: Request, failed: Failed | None) -> bytes:
        try:
            return in_time(lambda: verb(body, request), request.deadline, self._crew)
        except TooLateError as error:
            logger.warning("%s %r: %s", asked.method, asked.path, error)
            if failed is None:
                raise
            return failed(request, str(error))

    def _deadline(self) -> Deadline:
        text = asked.headers.get(TIMEOUT_HEADER)
        seconds = self._settings.timeout
        if text is not None:
            wanted = _seconds(text)
            seconds = wanted if seconds is None else min(seconds, wanted)
        return NEVER if seconds is None else Deadline.after(seconds, self._settings.now)


_REFUSALS = (MalformedError, UnknownProfileError, RefusedError, HTTPException, FailedError, TooLateError)


def _refusal(error: Exception) -> Response:
    match error:
        case MalformedError():
            return _refuse(HTTPStatus.BAD_REQUEST, str(error))
        case UnknownProfileError():
            return _refuse(HTTPStatus.NOT_FOUND, str(error))
        case TooLateError():
            return _refuse(HTTPStatus.GATEWAY_TIMEOUT, str(error))
        case RefusedError() | FailedError():
            return _refuse(error.status, str(error))
        case HTTPException():
            return _refuse(error.code or HTTPStatus.BAD_REQUEST, error.description or error.name)
    raise error


def _refuse(status: int, message: str) -> Response:
    line = answers.one_line(message)
    logger.info("%s %r refused with %d: %s", asked.method, asked.path, status, line)
    headers = {"Allow": "POST"} if status == HTTPStatus.METHOD_NOT_ALLOWED else None
    return Response(answers.refusal(line), status=status, content_type=_JSON, headers=headers)


def _seconds(text: str) -> float:
    try:
        seconds = duration.parse(text) / duration.SECOND
    except ValueError as error:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"{TIMEOUT_HEADER}: {error}") from error
    if seconds <= 0:
        raise RefusedError(HTTPStatus.BAD_REQUEST, f"{TIMEOUT_HEADER}: {text!r} is no time to answer in")
    return seconds


def _openapi() -> Response:
    return Response(openapi.document(), content_type=_JSON)
