"""`/scale`: the replica count of a workload as an `autoscaling/v1` Scale."""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import invalid
from scheduler.sandbox import errors
from scheduler.sandbox.reads.cells import selector
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.store import Entry

Object = dict[str, Any]


def scale_of(entry: Entry) -> Object:
    """The Scale of a workload."""
    obj = entry.obj
    meta = {
        key: obj["metadata"][key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    }
    text = selector(obj)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": meta,
        "spec": {"replicas": (obj.get("spec") or {}).get("replicas", 0)},
        "status": {
            "replicas": (obj.get("status") or {}).get("replicas", 0),
            "selector": "" if text == "<none>" else text,
        },
    }


def scaled(resource: Resource, entry: Entry, scale: Object) -> Object:
    """The workload with the Scale's replicas. Raises `StatusError` (400, 409, 422)."""
    name = entry.obj["metadata"]["name"]
    version = (scale.get("metadata") or {}).get("resourceVersion")
    if version and version != entry.obj["metadata"]["resourceVersion"]:
        raise errors.conflict(resource.plural, resource.group, name, errors.MODIFIED)
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if not isinstance(replicas, int) or isinstance(replicas, bool):
        raise errors.bad_request("Scale: spec.replicas must be a number")
    if replicas < 0:
        fault = invalid("spec.replicas", replicas, "must be greater than or equal to 0")
        raise errors.invalid("Scale", "autoscaling", name, [fault])
    return {**entry.obj, "spec": {**(entry.obj.get("spec") or {}), "replicas": replicas}}
