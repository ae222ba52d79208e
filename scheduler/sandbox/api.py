"""The API behind the socket: faults, authentication, then discovery, documents or a resource.

    request ──► fault? ──► token? ──► /api, /apis, /openapi, /version, /healthz ...
                                 └──► resource: get list watch │ create update patch delete │ subresources

Every request holds the store's lock from first read to last write.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from scheduler.sandbox import errors
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.documents import discovery, openapi
from scheduler.sandbox.faults import Faults, Rule
from scheduler.sandbox.reads.fields import Wanted, wanted
from scheduler.sandbox.reads.reading import list_page
from scheduler.sandbox.reads.watching import Watches
from scheduler.sandbox.wire.http import Request, Response, Stream
from scheduler.sandbox.wire.negotiation import alternatives, view_for, wants_yaml
from scheduler.sandbox.wire.replies import as_yaml, json_reply, status_reply
from scheduler.sandbox.wire.routing import Target, parse
from scheduler.sandbox.writes.pipeline import existing
from scheduler.sandbox.writes.subresources import Subresources
from scheduler.sandbox.writes.verbs import Writes

logger = logging.getLogger(__name__)

Object = dict[str, Any]
Reply = Response | Stream
Verbs = dict[str, Callable[[Request, Target], Reply]]
_HEALTH = ("/healthz", "/livez", "/readyz")
_DISCOVERY = ("v2", "v2beta1")
_READS = ("GET", "HEAD")


class Api:
    """Answers requests. `token` "" lets everybody in."""

    def __init__(self, cluster: Cluster, watches: Watches, faults: Faults, token: str = "") -> None:
        self._cluster = cluster
        self._watches = watches
        self._faults = faults
        self._token = token
        self._writes = Writes(cluster, token)
        self._subresources = Subresources(cluster, self._writes)
        writes = self._writes
        self._item: Verbs = {
            "GET": self._get,
            "HEAD": self._get,
            "PUT": writes.replace,
            "PATCH": writes.patch,
            "DELETE": writes.delete,
        }
        self._collection: Verbs = {
            "GET": self._list,
            "HEAD": self._list,
            "POST": writes.create,
            "DELETE": writes.delete_collection,
        }

    def handle(self, request: Request) -> Reply:
        """The reply to one request; API errors become Status objects, bugs an InternalError with the exception's name."""
        rule = self._faults.strike(request)
        if rule is not None and (rule.status or rule.drop == "before"):
            return _injected(rule)
        try:
            reply = self._authenticated(request)
        except errors.StatusError as error:
            reply = status_reply(error)
        except Exception as error:
            logger.exception("%s %s failed", request.method, quote(request.path))
            message = f"the sandbox failed to answer: {type(error).__name__}"
            reply = status_reply(errors.StatusError(500, "InternalError", message))
        if isinstance(reply, Stream):
            return reply
        if wants_yaml(request) and reply.content_type == "application/json":
            reply = as_yaml(reply)
        if request.method == "HEAD":
            reply.body = b""
        if rule is not None:
            reply.delay, reply.drop = rule.delay, rule.drop == "after"
        return reply

    def _authenticated(self, request: Request) -> Reply:
        if self._token:
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), self._token.encode()):
                raise errors.unauthorized()
        path = request.path = request.path.rstrip("/") or "/"
        if path == discovery.CUSTOM_RESOURCES:
            return self._document(request)
        if path.startswith(("/api/v1/", "/apis/")) and path.count("/") > 2:
            reply = (
                self._group_document(request) if path.count("/") == 3 and path.startswith("/apis/") else None
            )
            return reply or self._resource(request)
        return self._document(request)

    def _group_document(self, request: Request) -> Response | None:
        if request.method != "GET":
            raise errors.method_not_allowed()
        document = discovery.legacy(request.path)
        return json_reply(document) if document is not None else None

    def _document(self, request: Request) -> Response:
        path = request.path
        if request.method not in ("GET", "HEAD"):
            raise errors.method_not_allowed()
        if path.startswith("/openapi/"):
            return openapi.document(path, request)
        if path.startswith(_HEALTH):
            return Response(200, b"ok", "text/plain; charset=utf-8")
        if path in ("/api", "/apis"):
            for _, parameters in alternatives(request.headers.get("accept", "")):
                if parameters.get("as") == "APIGroupDiscoveryList" and parameters.get("v") in _DISCOVERY:
                    return discovery.aggregated(path, parameters["v"])
        document = discovery.legacy(path)
        if document is None:
            raise errors.no_such_path()
        return json_reply(document)

    def _resource(self, request: Request) -> Reply:
        target = parse(request.path)
        with self._cluster.store.lock:
            return self._verb(request, target)(request, target)

    def _verb(self, request: Request, target: Target) -> Callable[[Request, Target], Reply]:
        if target.subresource:
            return self._subresources.verb(request, target)
        if target.resource.verbs == ("create",):
            verbs: Verbs = {} if target.name else {"POST": self._writes.create}
        else:
            verbs = self._item if target.name else self._collection
        found = verbs.get(request.method)
        if found is None or (
            target.resource.namespaced and not target.namespace and request.method not in _READS
        ):
            raise errors.method_not_allowed()
        return found

    def _get(self, request: Request, target: Target) -> Reply:
        if request.asks("watch"):
            return self._watch(request, target)
        view = view_for(target.resource, request, self._cluster.now)
        entry = existing(self._cluster, target.resource, target.namespace, target.name)
        return Response(200, view.object(entry))

    def _list(self, request: Request, target: Target) -> Reply:
        if request.asks("watch"):
            return self._watch(request, target)
        view = view_for(target.resource, request, self._cluster.now)
        page = list_page(self._cluster.store, target.resource, _wanted(request, target), request.query)
        return Response(200, view.list(page.entries, page.meta))

    def _watch(self, request: Request, target: Target) -> Reply:
        view = view_for(target.resource, request, self._cluster.now)
        return self._watches.open(request, target.resource, _wanted(request, target), view)


def _wanted(request: Request, target: Target) -> Wanted:
    query = request.query
    return wanted(
        target.resource,
        target.namespace,
        query.get("labelSelector", ""),
        query.get("fieldSelector", ""),
        target.name,
    )


def _injected(rule: Rule) -> Response:
    if not rule.status:
        return Response(delay=rule.delay, drop=True)
    reply = status_reply(errors.StatusError(rule.status, rule.reason, rule.message, None, rule.retry_after))
    reply.delay, reply.drop = rule.delay, bool(rule.drop)
    return reply
