"""Events as events.k8s.io/v1 has them, within the sizes that the API accepts."""

from typing import Any

from scheduler.client.resources import EVENTS
from scheduler.client.series import Sending
from scheduler.client.times import micro_time

NOTE_LIMIT = 1024
"""Bytes of a note that the API accepts."""
INSTANCE_LIMIT = 128
"""Characters of a reportingInstance that the API accepts."""
_NAME_LIMIT = 253
_ELLIPSIS = " ..."


def event_object(sending: Sending) -> dict[str, Any]:
    """The Event as the API wants it."""
    event = sending.event
    body: dict[str, Any] = {
        "apiVersion": EVENTS.api_version,
        "kind": EVENTS.kind,
        "metadata": {"name": event.name, "namespace": event.namespace},
        "eventTime": micro_time(event.time),
        "reportingController": event.controller,
        "reportingInstance": event.instance,
        "action": event.action,
        "reason": event.reason,
        "regarding": event.regarding,
        "note": event.note,
        "type": event.type,
    }
    if event.related is not None:
        body["related"] = event.related
    if sending.count > 1:
        body["series"] = series_object(sending)
    return body


def series_object(sending: Sending) -> dict[str, Any]:
    """The ``series`` of an Event."""
    return {"count": sending.count, "lastObservedTime": micro_time(sending.last_observed)}


def event_name(name: str, nanoseconds: int) -> str:
    """``<object>.<time in hex>``, short enough for a name (upstream ``GenerateEventName``)."""
    suffix = f".{nanoseconds:x}"
    return name[: _NAME_LIMIT - len(suffix)].rstrip(".-") + suffix


def shorten(note: str) -> str:
    """``note`` cut to NOTE_LIMIT bytes, ending in `` ...`` when something was cut."""
    data = note.encode()
    if len(data) <= NOTE_LIMIT:
        return note
    return data[: NOTE_LIMIT - len(_ELLIPSIS)].decode(errors="ignore") + _ELLIPSIS
