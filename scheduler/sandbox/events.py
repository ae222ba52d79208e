"""Events live once and are served twice: as core/v1 (the stored form) and as events.k8s.io/v1 (upstream: `pkg/apis/events/v1/conversion.go`)."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]
_RENAMED = (
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("reportingController", "reportingComponent"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
)
_TO_CORE = dict(_RENAMED)
_FROM_CORE = {core: new for new, core in _RENAMED}


def to_core(event: Object) -> Object:
    """The stored form of an events.k8s.io/v1 Event."""
    core = {_TO_CORE.get(key, key): value for key, value in event.items()}
    core["kind"], core["apiVersion"] = "Event", "v1"
    core.setdefault("involvedObject", {})
    return core


def from_core(event: Object) -> Object:
    """The events.k8s.io/v1 form of a stored event."""
    new = {"kind": "Event", "apiVersion": "events.k8s.io/v1", "metadata": event["metadata"]}
    return new | {_FROM_CORE.get(key, key): value for key, value in event.items() if key not in new}
