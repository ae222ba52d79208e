"""What stands behind an object's name: status, scale, binding, eviction, resize, ephemeralcontainers, finalize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.sandbox import errors
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.wire import bodies
from scheduler.sandbox.wire.http import Request, Response
from scheduler.sandbox.wire.negotiation import view_for
from scheduler.sandbox.wire.replies import json_reply, success
from scheduler.sandbox.wire.routing import Target
from scheduler.sandbox.writes.binding import bind
from scheduler.sandbox.writes.eviction import evict
from scheduler.sandbox.writes.patching import patched
from scheduler.sandbox.writes.pipeline import existing, update
from scheduler.sandbox.writes.scale import scale_of, scaled
from scheduler.sandbox.writes.verbs import Writes, dry_run, options_of

Object = dict[str, Any]
Verb = Callable[[Request, Target], Response]


class Subresources:
    """Dispatches by subresource and method; every verb raises `StatusError`."""

    def __init__(self, cluster: Cluster, writes: Writes) -> None:
        self._cluster = cluster
        self._writes = writes
        object_verbs: dict[str, Verb] = {
            "GET": self._get,
            "HEAD": self._get,
            "PUT": writes.replace,
            "PATCH": writes.patch,
        }
        self._verbs: dict[str, dict[str, Verb]] = {
            "status": object_verbs,
            "resize": object_verbs,
            "ephemeralcontainers": object_verbs,
            "finalize": {"PUT": writes.replace},
            "log": {"GET": self._log},
            "binding": {"POST": self._bind},
            "eviction": {"POST": self._evict},
            "scale": {"GET": self._get_scale, "PUT": self._put_scale, "PATCH": self._patch_scale},
        }

    def verb(self, request: Request, target: Target) -> Verb:
        """The verb for a request. Raises 405."""
        found = self._verbs[target.subresource].get(request.method)
        if found is None or (target.resource.namespaced and not target.namespace):
            raise errors.method_not_allowed()
        return found

    def _get(self, request: Request, target: Target) -> Response:
        entry = existing(self._cluster, target.resource, target.namespace, target.name)
        return Response(200, view_for(target.resource, request, self._cluster.now).object(entry))

    def _log(self, _request: Request, target: Target) -> Response:
        pod = existing(self._cluster, target.resource, target.namespace, target.name).obj
        if not pod["spec"].get("nodeName"):
            raise errors.bad_request(f"pod {target.name} does not have a host assigned")
        raise errors.bad_request(f'pod "{target.name}" has no logs: the sandbox runs no containers')

    def _bind(self, request: Request, target: Target) -> Response:
        bind(
            self._cluster,
            target.namespace,
            target.name,
            bodies.decode_as(request, "Binding", "core.v1.Binding"),
            dry_run=dry_run(request),
        )
        return success(code=201)

    def _evict(self, request: Request, target: Target) -> Response:
        body = bodies.decode_as(request, "Eviction", "policy.v1.Eviction")
        named = (body.get("metadata") or {}).get("name")
        if named not in (None, "", target.name):
            raise errors.bad_request("name in URL does not match name in Eviction object")
        evict(
            self._cluster, target.namespace, target.name, options_of(body.get("deleteOptions") or {}, request)
        )
        return success(code=201)

    def _get_scale(self, _request: Request, target: Target) -> Response:
        return json_reply(scale_of(existing(self._cluster, target.resource, target.namespace, target.name)))

    def _put_scale(self, request: Request, target: Target) -> Response:
        return self._write_scale(request, target, bodies.decode_as(request, "Scale", "autoscaling.v1.Scale"))

    def _patch_scale(self, request: Request, target: Target) -> Response:
        entry = existing(self._cluster, target.resource, target.namespace, target.name)
        return self._write_scale(request, target, patched(scale_of(entry), request, "autoscaling.v1.Scale"))

    def _write_scale(self, request: Request, target: Target, scale: Object) -> Response:
        old = existing(self._cluster, target.resource, target.namespace, target.name)
        entry = update(
            self._cluster, target.resource, old, scaled(target.resource, old, scale), dry_run=dry_run(request)
        )
        return json_reply(scale_of(entry))
