"""Validation of pods and pod templates, as far as scheduling can depend on it (upstream: `ValidatePodSpec`)."""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import FieldError, duplicate, forbidden, invalid, not_supported, required
from scheduler.apis.names import dns_label_faults, dns_subdomain_faults, label_key_faults, label_value_faults
from scheduler.apis.quantity import QuantityError, from_json
from scheduler.sandbox.rules.placement_validation import affinity_errors, spread_errors, toleration_errors

Object = dict[str, Any]
Errors = list[FieldError]
_STANDARD = ("cpu", "memory", "ephemeral-storage")
_PORT_RANGE = "must be between 1 and 65535, inclusive"
_RESTART = ("Always", "OnFailure", "Never")
_DNS = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PULL = ("Always", "IfNotPresent", "Never")
_PROTOCOLS = ("SCTP", "TCP", "UDP")


def pod_errors(pod: Object) -> Errors:
    """Everything wrong with a completed pod."""
    spec = pod["spec"]
    errors = pod_spec_errors(spec, "spec")
    gates = spec.get("schedulingGates") or ()
    if gates and spec.get("nodeName"):
        errors.append(forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared"))
    seen = set()
    for index, gate in enumerate(gates):
        name = gate.get("name", "")
        errors += [
            invalid(f"spec.schedulingGates[{index}].name", name, fault) for fault in label_key_faults(name)
        ]
        if name in seen:
            errors.append(duplicate(f"spec.schedulingGates[{index}].name", name))
        seen.add(name)
    return errors


def pod_spec_errors(spec: Object, path: str) -> Errors:
    """Everything wrong with a completed pod spec at `path`."""
    errors: Errors = []
    if not spec.get("containers"):
        errors.append(required(f"{path}.containers"))
    names: set[str] = set()
    for part in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(part) or ()):
            errors += _container_errors(
                container, f"{path}.{part}[{index}]", names, host_network=bool(spec.get("hostNetwork"))
            )
    errors += _choice(spec, "restartPolicy", _RESTART, path) + _choice(spec, "dnsPolicy", _DNS, path)
    errors += _node_selector_errors(spec.get("nodeSelector") or {}, f"{path}.nodeSelector")
    errors += toleration_errors(spec.get("tolerations") or (), f"{path}.tolerations")
    errors += affinity_errors(spec.get("affinity") or {}, f"{path}.affinity")
    errors += spread_errors(spec.get("topologySpreadConstraints") or (), f"{path}.topologySpreadConstraints")
    for field in ("nodeName", "priorityClassName", "runtimeClassName"):
        value = spec.get(field)
        errors += (
            [invalid(f"{path}.{field}", value, fault) for fault in dns_subdomain_faults(value)]
            if value
            else []
        )
    errors += quantity_map_errors(spec.get("overhead") or {}, f"{path}.overhead")
    errors += resource_errors(spec.get("resources") or {}, f"{path}.resources")
    grace = spec.get("activeDeadlineSeconds")
    if grace is not None and grace < 1:
        errors.append(
            invalid(f"{path}.activeDeadlineSeconds", grace, "must be between 1 and 2147483647, inclusive")
        )
    return errors


def _choice(holder: Object, field: str, allowed: tuple[str, ...], path: str) -> Errors:
    value = holder.get(field)
    return [] if value in allowed else [not_supported(f"{path}.{field}", value, allowed)]


def _container_errors(container: Object, path: str, names: set[str], *, host_network: bool) -> Errors:
    errors: Errors = []
    name = container.get("name", "")
    if not name:
        errors.append(required(f"{path}.name"))
    elif name in names:
        errors.append(duplicate(f"{path}.name", name))
    else:
        errors += [invalid(f"{path}.name", name, fault) for fault in dns_label_faults(name)]
    names.add(name)
    image = container.get("image", "")
    if not image:
        errors.append(required(f"{path}.image"))
    elif image != image.strip():
        errors.append(invalid(f"{path}.image", image, "must not have leading or trailing whitespace"))
    errors += _choice(container, "imagePullPolicy", _PULL, path)
    for index, port in enumerate(container.get("ports") or ()):
        errors += _port_errors(port, f"{path}.ports[{index}]", host_network=host_network)
    return errors + resource_errors(container.get("resources") or {}, f"{path}.resources")


def _port_errors(port: Object, path: str, *, host_network: bool) -> Errors:
    errors: Errors = []
    number, host = port.get("containerPort") or 0, port.get("hostPort") or 0
    if not number:
        errors.append(required(f"{path}.containerPort"))
    elif not 1 <= number <= 65535:
        errors.append(invalid(f"{path}.containerPort", number, _PORT_RANGE))
    if host and not 1 <= host <= 65535:
        errors.append(invalid(f"{path}.hostPort", host, _PORT_RANGE))
    if host_network and host != number:
        errors.append(
            invalid(f"{path}.hostPort", host, "must match `containerPort` when `hostNetwork` is true")
        )
    if port.get("protocol") not in _PROTOCOLS:
        errors.append(not_supported(f"{path}.protocol", port.get("protocol"), _PROTOCOLS))
    return errors


def _node_selector_errors(selector: Object, path: str) -> Errors:
    errors: Errors = []
    for key, value in selector.items():
        errors += [invalid(path, key, fault) for fault in label_key_faults(key)]
        errors += [invalid(path, value, fault) for fault in label_value_faults(value)]
    return errors


def resource_errors(resources: Object, path: str) -> Errors:
    """Requests and limits: names, amounts, and how they relate."""
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    errors = _name_errors(limits, f"{path}.limits") + quantity_map_errors(limits, f"{path}.limits")
    errors += _name_errors(requests, f"{path}.requests") + quantity_map_errors(requests, f"{path}.requests")
    if errors:
        return errors
    for name, text in requests.items():
        errors += _relation_errors(name, text, limits.get(name), f"{path}.requests")
    return errors


def _name_errors(quantities: Object, path: str) -> Errors:
    errors: Errors = []
    for name in quantities:
        errors += [invalid(path, name, fault) for fault in label_key_faults(name)]
        if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
            errors.append(invalid(path, name, "must be a standard resource type or fully qualified"))
    return errors


def _relation_errors(name: str, request: str, limit: str | None, path: str) -> Errors:
    fixed = "/" in name or name.startswith("hugepages-")
    if limit is None:
        return [required(path, "Limit must be set for non overcommitable resources")] if fixed else []
    if fixed and from_json(request) != from_json(limit):
        return [invalid(path, request, f"must be equal to {name} limit of {limit}")]
    if from_json(request) > from_json(limit):
        return [invalid(path, request, f"must be less than or equal to {name} limit of {limit}")]
    return []


def quantity_map_errors(quantities: Object, path: str) -> Errors:
    """Amounts: quantities, not negative, whole where the resource has no fractions."""
    errors: Errors = []
    for name, text in quantities.items():
        place = f"{path}[{name}]"
        try:
            amount = from_json(text)
        except QuantityError as error:
            errors.append(invalid(place, text, str(error)))
            continue
        if amount.unscaled < 0:
            errors.append(invalid(place, text, "must be greater than or equal to 0"))
        if "/" in name and amount.milli_value() % 1000:
            errors.append(invalid(place, text, "must be an integer"))
    return errors
