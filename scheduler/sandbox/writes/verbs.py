"""The writing verbs of collections and objects, from request to reply."""

from __future__ import annotations

from typing import Any

from scheduler.sandbox import errors
from scheduler.sandbox.cluster import Cluster
from scheduler.sandbox.events import from_core, to_core
from scheduler.sandbox.reads.fields import wanted
from scheduler.sandbox.resources import PODS, Resource
from scheduler.sandbox.store import Entry
from scheduler.sandbox.wire import bodies
from scheduler.sandbox.wire.http import Request, Response
from scheduler.sandbox.wire.negotiation import view_for
from scheduler.sandbox.wire.replies import json_reply, success, with_warnings
from scheduler.sandbox.wire.routing import Target
from scheduler.sandbox.writes.binding import bind
from scheduler.sandbox.writes.deleting import DeleteOptions, delete
from scheduler.sandbox.writes.patching import APPLY, applied, apply_body, patched
from scheduler.sandbox.writes.pipeline import create, existing, update
from scheduler.sandbox.writes.reviews import review

Object = dict[str, Any]


class Writes:
    """POST, PUT, PATCH and DELETE. Every method raises `StatusError` for what the API refuses."""

    def __init__(self, cluster: Cluster, token: str) -> None:
        self._cluster = cluster
        self._token = token

    def create(self, request: Request, target: Target) -> Response:
        """POST to a collection."""
        resource = target.resource
        body, warnings = self.body(request, resource)
        if resource.kind == "Binding":
            bind(
                self._cluster,
                target.namespace,
                (body.get("metadata") or {}).get("name", ""),
                body,
                dry_run=dry_run(request),
            )
            return success(code=201)
        if resource.verbs == ("create",):
            return json_reply(review(resource.kind, body, self._token, self._cluster.access), 201)
        entry = self._create(request, target, body)
        return self.reply(request, resource, entry, 201, warnings)

    def replace(self, request: Request, target: Target) -> Response:
        """PUT, of the object or (called by the subresources) of its status."""
        resource = target.resource
        body, warnings = self.body(request, resource)
        old = self._cluster.store.entry(resource.key, target.namespace, target.name)
        if (
            old is None
            and resource.key in ("leases.coordination.k8s.io", "events")
            and not (body.get("metadata") or {}).get("uid")
        ):
            body.setdefault("metadata", {}).setdefault("name", target.name)
            entry = self._create(request, target, body)
            return self.reply(request, resource, entry, 201, warnings)
        entry = self.write(
            request, target, existing(self._cluster, resource, target.namespace, target.name), body
        )
        return self.reply(request, resource, entry, 200, warnings)

    def patch(self, request: Request, target: Target) -> Response:
        """PATCH, of the object or of its status."""
        resource = target.resource
        if bodies.media_type(request) in APPLY:
            return self._apply(request, target)
        old = existing(self._cluster, resource, target.namespace, target.name)
        changed = patched(read_form(resource, old.obj), request, resource.model)
        return self._write_patched(request, target, old, changed)

    def _write_patched(self, request: Request, target: Target, old: Entry, changed: Object) -> Response:
        obj, warnings = bodies.clean(
            bodies.as_kind(changed, target.resource), target.resource, strictness(request)
        )
        entry = self.write(request, target, old, obj)
        return self.reply(request, target.resource, entry, 200, warnings)

    def _apply(self, request: Request, target: Target) -> Response:
        resource, manager = target.resource, request.query.get("fieldManager", "")
        body = apply_body(request)
        configuration, warnings = bodies.clean(bodies.as_kind(body, resource), resource, strictness(request))
        old = self._cluster.store.entry(resource.key, target.namespace, target.name)
        if old is None:
            configuration.setdefault("metadata", {}).setdefault("name", target.name)
            entry = self._create(request, target, configuration)
        else:
            previous = self._cluster.applied.get((old.obj["metadata"]["uid"], manager), {})
            changed = applied(read_form(resource, old.obj), previous, configuration, resource.model)
            entry = self.write(request, target, old, changed)
        if not dry_run(request):
            self._cluster.applied[entry.obj["metadata"]["uid"], manager] = configuration
        return self.reply(request, resource, entry, 201 if old is None else 200, warnings)

    def _create(self, request: Request, target: Target, obj: Object) -> Entry:
        resource = target.resource
        form = stored_form(resource, obj)
        return create(self._cluster, resource, target.namespace, form, dry_run=dry_run(request))

    def write(self, request: Request, target: Target, old: Entry, obj: Object) -> Entry:
        """Update in the stored form through the target's endpoint."""
        resource = target.resource
        return update(
            self._cluster,
            resource,
            old,
            stored_form(resource, obj),
            subresource=target.subresource,
            dry_run=dry_run(request),
        )

    def delete(self, request: Request, target: Target) -> Response:
        """DELETE of one object: the object while its deletion goes on (and for pods), else a Status."""
        resource = target.resource
        entry = existing(self._cluster, resource, target.namespace, target.name)
        last, gone = delete(self._cluster, resource, entry, delete_options(request))
        if not gone or resource.key == PODS.key:
            return self.reply(request, resource, last, 200, [])
        details = {
            "name": target.name,
            "group": resource.group,
            "kind": resource.plural,
            "uid": last.obj["metadata"]["uid"],
        }
        return success({key: value for key, value in details.items() if value})

    def delete_collection(self, request: Request, target: Target) -> Response:
        """DELETE of everything that the selectors want."""
        query, resource = request.query, target.resource
        want = wanted(
            resource, target.namespace, query.get("labelSelector", ""), query.get("fieldSelector", "")
        )
        options = delete_options(request)
        found = [entry for entry in self._cluster.store.entries(resource.key) if want.matches(entry)]
        done = [
            delete(self._cluster, resource, entry, options)[0]
            for entry in found
            if self._cluster.store.entry(resource.key, *entry.key) is entry
        ]
        view = view_for(resource, request, self._cluster.now)
        return Response(200, view.list(done, {"resourceVersion": str(self._cluster.store.version)}))

    def body(self, request: Request, resource: Resource) -> tuple[Object, list[str]]:
        """The body as an object of the resource, known fields only, and warnings."""
        return bodies.clean(bodies.as_kind(bodies.decode(request), resource), resource, strictness(request))

    def reply(
        self, request: Request, resource: Resource, entry: Entry, code: int, warnings: list[str]
    ) -> Response:
        """The written object as the client wants to see it."""
        return with_warnings(
            Response(code, view_for(resource, request, self._cluster.now).object(entry)), warnings
        )


def stored_form(resource: Resource, obj: Object) -> Object:
    """The object as the store keeps it."""
    return to_core(obj) if resource.group == "events.k8s.io" else obj


def read_form(resource: Resource, obj: Object) -> Object:
    """The object as clients of the resource see it."""
    return from_core(obj) if resource.group == "events.k8s.io" else obj


def strictness(request: Request) -> str:
    """The parameter fieldValidation; Warn, as a real server, when absent. Raises 400."""
    value = request.query.get("fieldValidation") or "Warn"
    if value not in ("Ignore", "Warn", "Strict"):
        raise errors.bad_request(
            f'fieldValidation: Unsupported value: "{value}": supported values: "Ignore", "Strict", "Warn"'
        )
    return value


def dry_run(request: Request) -> bool:
    """Whether nothing is to be written. Raises 400."""
    value = request.query.get("dryRun", "")
    if value not in ("", "All"):
        raise errors.bad_request(f'dryRun: Unsupported value: "{value}": supported values: "All"')
    return value == "All"


def delete_options(request: Request) -> DeleteOptions:
    """Options from the body and the query. Raises 400."""
    body = {}
    if request.body.strip():
        body = bodies.decode_as(request, "DeleteOptions", "meta.v1.DeleteOptions")
    return options_of(body, request)


def options_of(body: Object, request: Request) -> DeleteOptions:
    """`DeleteOptions` of a clean body; query parameters fill in what it leaves out. Raises 400."""
    preconditions = body.get("preconditions") or {}
    grace: int | None = body.get("gracePeriodSeconds")
    text = request.query.get("gracePeriodSeconds", "")
    if grace is None and text:
        if not text.isascii() or not text.isdigit() or len(text) > 18:
            raise errors.bad_request(f'gracePeriodSeconds: parsing "{text}": invalid syntax')
        grace = int(text)
    policy = body.get("propagationPolicy") or request.query.get("propagationPolicy", "")
    return DeleteOptions(
        grace,
        preconditions.get("uid") or "",
        preconditions.get("resourceVersion") or "",
        orphan=policy == "Orphan",
        dry_run=dry_run(request) or "All" in (body.get("dryRun") or ()),
    )
