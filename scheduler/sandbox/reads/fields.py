"""Which objects a list or watch wants: namespace, label selector, field selector.

Only the fields that a real server indexes can be selected by (`pkg/apis/*/v1/conversion.go` of Kubernetes); others are refused with 400 and the
same words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from scheduler.apis.selectors import Selector, SelectorError, parse_field_selector, parse_label_selector
from scheduler.sandbox.errors import bad_request
from scheduler.sandbox.paths import at
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.store import Entry

Object = dict[str, Any]

_EVERY = ("metadata.name", "metadata.namespace")
_REFERENCE = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
SELECTABLE: dict[str, tuple[str, ...]] = {
    "pods": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "nodes": ("spec.unschedulable",),
    "namespaces": ("status.phase",),
    "secrets": ("type",),
    "services": ("spec.clusterIP", "spec.type"),
    "replicationcontrollers": ("status.replicas",),
    "replicasets.apps": ("status.replicas",),
    "jobs.batch": ("status.successful",),
    "resourceslices.resource.k8s.io": ("spec.nodeName", "spec.driver"),
}
_EVENT = {
    "": {
        **{f"involvedObject.{name}": f"involvedObject.{name}" for name in _REFERENCE},
        **{name: name for name in ("reason", "reportingComponent", "source", "type")},
    },
    "events.k8s.io": {
        **{f"regarding.{name}": f"involvedObject.{name}" for name in _REFERENCE},
        "reason": "reason",
        "reportingController": "reportingComponent",
        "type": "type",
    },
}
"""Events live once: the fields of each API group, and where they are stored."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a list or watch asks for; `matches` says whether an entry belongs to it."""

    namespace: str
    labels: Selector | None
    fields: tuple[Callable[[Object], bool], ...]

    @property
    def everything(self) -> bool:
        """True when nothing is filtered out."""
        return not self.namespace and self.labels is None and not self.fields

    def matches(self, entry: Entry) -> bool:
        """Whether the entry is wanted."""
        meta = entry.obj["metadata"]
        if self.namespace and meta.get("namespace") != self.namespace:
            return False
        if self.labels is not None and not self.labels.matches(meta.get("labels") or {}):
            return False
        return all(wants(entry.obj) for wants in self.fields)


def wanted(
    resource: Resource, namespace: str, label_selector: str, field_selector: str, name: str = ""
) -> Wanted:
    """Compile the selectors of a request. Raises `StatusError` 400."""
    try:
        labels = parse_label_selector(label_selector) if label_selector else None
        requirements = parse_field_selector(field_selector) if field_selector else ()
    except SelectorError as error:
        raise bad_request(str(error)) from None
    tests = [_field_test(resource, item.path, item.op, item.value) for item in requirements]
    if name:
        tests.append(_field_test(resource, "metadata.name", "=", name))
    return Wanted(namespace, labels, tuple(tests))


def _field_test(resource: Resource, path: str, operator: str, value: str) -> Callable[[Object], bool]:
    read = _reader(resource.key, _stored_path(resource, path))
    if operator == "!=":
        return lambda obj: read(obj) != value
    return lambda obj: read(obj) == value


def _stored_path(resource: Resource, path: str) -> str:
    """Where the store has a selectable field. Raises `StatusError` 400."""
    events = _EVENT.get(resource.group, {}) if resource.key == "events" else {}
    own = SELECTABLE.get(resource.key, ())
    if path in _EVERY or path in own:
        return path
    if path in events:
        return events[path]
    if own or events:
        raise bad_request(f"field label not supported: {path}")
    raise bad_request(f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"')


def _reader(key: str, path: str) -> Callable[[Object], str]:
    if path == "source":
        return lambda obj: (obj.get("source") or {}).get("component") or obj.get("reportingComponent") or ""
    steps = {"status.successful": "status.succeeded"}.get(path, path).split(".")
    missing = (
        "false"
        if path in ("spec.unschedulable", "spec.hostNetwork")
        else "0"
        if path.startswith("status.") and key not in ("pods", "namespaces")
        else ""
    )

    def read(obj: Object) -> str:
        value = at(obj, steps)
        if value is None:
            return missing
        return ("true" if value else "false") if isinstance(value, bool) else str(value)

    return read
