"""Validation of requests and limits, of containers and of whole pods (upstream: `ValidateContainerResourceRequirements`)."""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import FieldError, forbidden, invalid, not_supported, required
from scheduler.apis.names import label_key_faults
from scheduler.apis.quantity import Quantity, QuantityError, from_json
from scheduler.sandbox.rules.pod_level import effective

Object = dict[str, Any]
Errors = list[FieldError]
_CONTAINER = ("cpu", "memory", "ephemeral-storage")
_QUOTA = ("pods", "services", "replicationcontrollers", "resourcequotas", "secrets", "configmaps", "storage")
"""Standard names, too, but of quotas and volumes; no container can ask for them."""
_POD_LEVEL = ("cpu", "hugepages-", "memory")
_HUGE = "hugepages-"


def resource_errors(resources: Object, path: str) -> Errors:
    """Faults of a container: names, amounts, and how requests and limits relate."""
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    errors = _name_errors(limits, f"{path}.limits") + quantity_map_errors(limits, f"{path}.limits")
    errors += _name_errors(requests, f"{path}.requests") + quantity_map_errors(requests, f"{path}.requests")
    if errors:
        return errors
    errors += _relations(requests, limits, path)
    names = {*requests, *limits}
    if any(name.startswith(_HUGE) for name in names) and not names & {"cpu", "memory"}:
        errors.append(forbidden(path, "HugePages require cpu or memory"))
    return errors


def pod_level_errors(spec: Object, path: str) -> Errors:
    """Faults of the resources of a pod as a whole: only some kinds, and at least what its containers ask for."""
    errors: Errors = []
    for part in ("limits", "requests"):
        quantities = spec["resources"].get(part) or {}
        for name in quantities:
            if name not in _POD_LEVEL and not name.startswith(_HUGE):
                errors.append(not_supported(f"{path}.{part}[{name}]", name, _POD_LEVEL))
        errors += quantity_map_errors(quantities, f"{path}.{part}")
    if errors:
        return errors
    requests = spec["resources"].get("requests") or {}
    for name, total in effective(spec, "requests").items():
        if name in requests and from_json(requests[name]) < total:
            detail = f"must be greater than or equal to aggregate container requests of {total}"
            errors.append(invalid(f"{path}.requests[{name}]", requests[name], detail))
    return errors + _relations(requests, spec["resources"].get("limits") or {}, path)


def quantity_map_errors(quantities: Object, path: str, *, place: str = "{path}[{name}]") -> Errors:
    """Amounts: quantities, not negative, whole where the resource has no fractions. `place` words where one amount stands."""
    errors: Errors = []
    for name, text in quantities.items():
        where = place.format(path=path, name=name)
        try:
            amount = from_json(text)
        except QuantityError as error:
            errors.append(invalid(where, text, str(error)))
            continue
        if amount.unscaled < 0:
            errors.append(invalid(where, text, "must be greater than or equal to 0"))
        if "/" in name and amount.milli_value() % 1000:
            errors.append(invalid(where, text, "must be an integer"))
        if name.startswith(_HUGE) and not _is_whole_pages(name, amount):
            errors.append(invalid(where, text, f"{text} is not positive integer multiple of {name}"))
    return errors


def _name_errors(quantities: Object, path: str) -> Errors:
    errors: Errors = []
    for name in quantities:
        where = f"{path}[{name}]"
        errors += [invalid(where, name, fault) for fault in label_key_faults(name)]
        if "/" in name or name in _CONTAINER or name.startswith(_HUGE):
            continue
        if name not in _QUOTA:
            errors.append(invalid(where, name, "must be a standard resource type or fully qualified"))
        errors.append(invalid(where, name, "must be a standard resource for containers"))
    return errors


def _is_whole_pages(name: str, amount: Quantity) -> bool:
    try:
        page = from_json(name.removeprefix(_HUGE)).value()
    except QuantityError:
        return True
    return page <= 0 or amount.value() % page == 0


def _relations(requests: Object, limits: Object, path: str) -> Errors:
    errors: Errors = []
    for name, text in requests.items():
        errors += _relation_errors(name, text, limits.get(name), path)
    return errors


def _relation_errors(name: str, request: str, limit: str | None, path: str) -> Errors:
    fixed = "/" in name or name.startswith(_HUGE)
    if limit is None:
        text = "Limit must be set for non overcommitable resources"
        return [required(f"{path}.limits", text)] if fixed else []
    if fixed and from_json(request) != from_json(limit):
        return [invalid(f"{path}.requests", request, f"must be equal to {name} limit of {limit}")]
    if from_json(request) > from_json(limit):
        return [
            invalid(f"{path}.requests", request, f"must be less than or equal to {name} limit of {limit}")
        ]
    return []
