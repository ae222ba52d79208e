"""Pod-level resources: what the API server completes from the containers (upstream: `defaultHugePagePodLimits`, `defaultPodRequests`).

Only a pod that gives some pod-level resources is completed. Huge-page limits come from the containers' sum; requests come from the
containers' effective requests where any container has some (cpu and memory), and else from the pod-level limits.
"""

from __future__ import annotations

from typing import Any

from scheduler.apis.quantity import Quantity, QuantityError, from_json

Object = dict[str, Any]
Totals = dict[str, Quantity]
_OVERCOMMITTED = ("cpu", "memory")


def complete(spec: Object) -> Object:
    """The pod-level resources of a spec whose containers are already completed; quantities that do not parse are left to validation."""
    resources: Object = dict(spec["resources"])
    limits: Object = dict(resources.get("limits") or {})
    requests: Object = dict(resources.get("requests") or {})
    if limits or requests:
        for name, total in effective(spec, "limits").items():
            if _is_huge(name) and name not in requests:
                limits.setdefault(name, str(total))
    if limits:
        for name, total in effective(spec, "requests").items():
            if name in _OVERCOMMITTED:
                requests.setdefault(name, str(total))
        for name, limit in limits.items():
            if name in _OVERCOMMITTED or _is_huge(name):
                requests.setdefault(name, limit)
    return resources | ({"limits": limits} if limits else {}) | ({"requests": requests} if requests else {})


def effective(spec: Object, part: str) -> Totals:
    """Containers and sidecars together, or the largest init container with the sidecars started before it, whichever is more."""
    running: Totals = {}
    for container in spec.get("containers") or ():
        running = _sum(running, _quantities(container, part))
    sidecars: Totals = {}
    peak: Totals = {}
    for container in spec.get("initContainers") or ():
        own = _quantities(container, part)
        if container.get("restartPolicy") == "Always":
            sidecars = _sum(sidecars, own)
            peak = _max(peak, sidecars)
        else:
            peak = _max(peak, _sum(sidecars, own))
    return _max(_sum(running, sidecars), peak)


def _quantities(container: Object, part: str) -> Totals:
    found = {}
    for name, text in ((container.get("resources") or {}).get(part) or {}).items():
        try:
            found[name] = from_json(text)
        except QuantityError:
            continue
    return found


def _sum(left: Totals, right: Totals) -> Totals:
    return left | {name: left[name] + amount if name in left else amount for name, amount in right.items()}


def _max(left: Totals, right: Totals) -> Totals:
    return left | {
        name: max(left[name], amount) if name in left else amount for name, amount in right.items()
    }


def _is_huge(name: str) -> bool:
    return name.startswith("hugepages-")
