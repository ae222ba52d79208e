"""Validation of events (upstream: `pkg/apis/core/validation/events.go`), in the stored form.

An event with an `eventTime` is a new-style one and has to say who did what; one without is an old-style one and has only to live in the
namespace of its object. Through events.k8s.io/v1 only the former may be created, and afterwards nothing but its series may change.
"""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import FieldError, invalid, required
from scheduler.apis.names import dns_subdomain_faults, label_key_faults

Object = dict[str, Any]
Errors = list[FieldError]
_NEW_GROUP = "events.k8s.io"
_SHORT_LIMIT = 128
_NOTE_LIMIT = 1024
_TYPES = ("Normal", "Warning")
_FIXED = (
    "involvedObject",
    "reason",
    "message",
    "source",
    "firstTimestamp",
    "lastTimestamp",
    "count",
    "type",
    "eventTime",
    "action",
    "related",
    "reportingComponent",
    "reportingInstance",
)
_REPORTING = {"reportingComponent": "reportingController"}


def event_errors(event: Object, group: str) -> Errors:
    """What is wrong with an event of either style; `group` is that of the API through which it came."""
    about, namespace = event.get("involvedObject") or {}, event["metadata"].get("namespace", "")
    if not event.get("eventTime"):
        return _place_errors(about, "default" if not about.get("namespace") else namespace, namespace)
    errors = (
        []
        if about.get("namespace") or namespace == "kube-system"
        else _place_errors(about, "default", namespace)
    )
    reporter = event.get("reportingComponent") or ""
    field = "reportingController" if group == _NEW_GROUP else "reportingComponent"
    if not reporter:
        errors.append(required(field))
    errors += [invalid(field, reporter, fault) for fault in label_key_faults(reporter)]
    for name in ("reportingInstance", "action", "reason"):
        errors += _short_errors(name, event.get(name) or "")
    if len((event.get("message") or "").encode()) > _NOTE_LIMIT:
        errors.append(invalid("message", "", f"can have at most {_NOTE_LIMIT} characters"))
    return errors


def new_event_errors(event: Object) -> Errors:
    """What else is wrong with an event that is created through events.k8s.io/v1."""
    name = event["metadata"].get("name", "")
    errors = [invalid("metadata.name", name, fault) for fault in dns_subdomain_faults(name)]
    errors += _series_errors(event)
    if not event.get("eventTime"):
        errors.append(required("eventTime"))
    if event.get("type") not in _TYPES:
        errors.append(invalid("type", "", f"has invalid value: {event.get('type', '')}"))
    for field in ("firstTimestamp", "lastTimestamp", "count", "source"):
        if event.get(field):
            errors.append(invalid(field, "", "needs to be unset"))
    return errors


def event_update_errors(old: Object, new: Object) -> Errors:
    """What an update through events.k8s.io/v1 may not change, and faults of a changed series."""
    errors = _series_errors(new) if new.get("series") != old.get("series") else []
    return errors + [
        invalid(_REPORTING.get(field, field), new.get(field), "field is immutable")
        for field in _FIXED
        if (new.get(field) or None) != (old.get(field) or None)
    ]


def _place_errors(about: Object, wanted: str, namespace: str) -> Errors:
    found = about.get("namespace", "")
    if (found or wanted) == namespace:
        return []
    return [invalid("involvedObject.namespace", found, "does not match event.namespace")]


def _short_errors(field: str, text: str) -> Errors:
    if not text:
        return [required(field)]
    if len(text.encode()) > _SHORT_LIMIT:
        return [invalid(field, "", f"can have at most {_SHORT_LIMIT} characters")]
    return []


def _series_errors(event: Object) -> Errors:
    series, errors = event.get("series"), []
    if series is None:
        return []
    if (series.get("count") or 0) < 2:
        errors.append(invalid("series.count", "", "should be at least 2"))
    if not series.get("lastObservedTime"):
        errors.append(required("series.lastObservedTime"))
    return errors
