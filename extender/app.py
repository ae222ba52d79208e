"""The webhook's routes, as a Flask blueprint for the process's own server.

====================================  =================================================================================
``POST /filter``                      the profile of the pod's ``schedulerName``; else ``default_profile``, else the first
``POST /prioritize``
``POST /bind``
``POST /profiles/<profile>/<verb>``   that profile, so that each ``extenders:`` entry chooses the plugins that judge for it
====================================  =================================================================================

Every answer is JSON, refusals included: ``{"Error": "one line"}``.

======  ===============================================================================================================
200     judged or bound; what failed on the way is ``Error``
400     malformed: no JSON, no pod, a field of the wrong type, neither form of candidates; every fault with its place
404     no such profile, no such verb (``/preempt`` does not exist yet: leave ``preemptVerb`` empty)
405     not POST
413     larger than ``max_body_bytes``, announced or not
415     another content type or encoding
500     prioritize failed (its answer has no ``Error``; kube-scheduler goes on without these scores), or a bug
======  ===============================================================================================================
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus

from flask import Blueprint, Response, request
from werkzeug.exceptions import HTTPException

from extender import answers
from extender.bodies import RefusedError, read_json
from extender.handlers import UnknownProfileError
from extender.schemas import MalformedError
from extender.webhook import FailedError, Webhook
from scheduler.framework.port import Binder
from scheduler.scheduling.world import World

logger = logging.getLogger(__name__)

DEFAULT_MAX_BODY_BYTES = 64 << 20
"""Room for 7,000 nodes in full, images included. Larger clusters need ``nodeCacheCapable: true``, which sends names."""

_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")
_JSON = "application/json"

Verb = Callable[[bytes, str | None], bytes]


def create_blueprint(
    world: World,
    binder: Binder,
    *,
    default_profile: str | None = None,
    max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
) -> Blueprint:
    """The routes.

    Args:
        world: the cluster state that judges.
        binder: binds pods for ``/bind``.
        default_profile: judges pods whose ``schedulerName`` is no profile of this process; None: the first profile.
        max_body_bytes: the largest body accepted. A server with limits of its own has to allow as much: ``body_limits``.
    """
    webhook = Webhook(world, binder, default_profile)
    blueprint = Blueprint("extender", __name__)
    verbs: Mapping[str, Verb] = {
        "filter": webhook.filter,
        "prioritize": webhook.prioritize,
        "bind": webhook.bind,
    }
    for name, verb in verbs.items():
        view = _view(verb, max_body_bytes)
        for prefix, endpoint in (("", name), ("/profiles/<profile>", f"profile-{name}")):
            blueprint.add_url_rule(
                f"{prefix}/{name}", endpoint, view, methods=_METHODS, provide_automatic_options=False
            )
    return blueprint


def body_limits(max_body_bytes: int = DEFAULT_MAX_BODY_BYTES) -> dict[str, int]:
    """The largest body by path prefix, for a server that limits bodies."""
    return dict.fromkeys(("/filter", "/prioritize", "/bind", "/profiles/"), max_body_bytes)


def _view(verb: Verb, limit: int) -> Callable[..., Response]:
    def view(profile: str | None = None) -> Response:
        if request.method != "POST":
            return _refuse(HTTPStatus.METHOD_NOT_ALLOWED, "this takes a POST", {"Allow": "POST"})
        try:
            return Response(verb(read_json(request, limit), profile), content_type=_JSON)
        except MalformedError as error:
            return _refuse(HTTPStatus.BAD_REQUEST, str(error))
        except UnknownProfileError as error:
            return _refuse(HTTPStatus.NOT_FOUND, str(error))
        except RefusedError as error:
            return _refuse(error.status, str(error))
        except HTTPException as error:
            return _refuse(error.code or HTTPStatus.BAD_REQUEST, error.description or error.name)
        except FailedError as error:
            return _refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))

    return view


def _refuse(status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    line = answers.one_line(message)
    logger.info("%s %r refused with %d: %s", request.method, request.path, status, line)
    return Response(answers.refusal(line), status=status, content_type=_JSON, headers=headers)
