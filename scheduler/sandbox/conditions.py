"""Status conditions."""

from __future__ import annotations

from typing import Any

Object = dict[str, Any]


def with_condition(conditions: list[Object], condition: Object, now: str) -> list[Object]:
    """The conditions with one set; its transition time moves only when its status does."""
    old = next((found for found in conditions if found.get("type") == condition["type"]), None)
    moved = old is None or old.get("status") != condition["status"]
    transition = now if moved or old is None else old.get("lastTransitionTime", now)
    entry = {**condition, "lastProbeTime": None, "lastTransitionTime": transition}
    return [*(found for found in conditions if found is not old), entry]
