"""Validation of pods and pod templates, as far as scheduling can depend on it (upstream: `ValidatePodSpec`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.apis.fielderror import FieldError, duplicate, forbidden, invalid, not_supported, required
from scheduler.apis.names import dns_label_faults, dns_subdomain_faults, label_key_faults, label_value_faults
from scheduler.sandbox.rules.placement_validation import affinity_errors, spread_errors, toleration_errors
from scheduler.sandbox.rules.resource_validation import pod_level_errors, quantity_map_errors, resource_errors

Object = dict[str, Any]
Errors = list[FieldError]
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
        errors += [invalid(f"spec.schedulingGates[{index}]", name, fault) for fault in label_key_faults(name)]
        if name in seen:
            errors.append(duplicate(f"spec.schedulingGates[{index}]", name))
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
    errors += _host_port_errors(spec.get("containers") or (), f"{path}.containers")
    errors += quantity_map_errors(spec.get("overhead") or {}, f"{path}.overhead")
    if spec.get("resources"):
        errors += pod_level_errors(spec, f"{path}.resources")
    grace = spec.get("activeDeadlineSeconds")
    if grace is not None and grace < 1:
        errors.append(
            invalid(f"{path}.activeDeadlineSeconds", grace, "must be between 1 and 2147483647, inclusive")
        )
    return errors


def _choice(holder: Object, field: str, allowed: Sequence[str], path: str) -> Errors:
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
    if "restartPolicy" in container:
        errors += _choice(container, "restartPolicy", sorted(_RESTART), path)
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


def _host_port_errors(containers: Sequence[Object], path: str) -> Errors:
    """A port of the node can be given only once, whichever container asks."""
    errors: Errors = []
    seen = set()
    for index, container in enumerate(containers):
        for place, port in enumerate(container.get("ports") or ()):
            wanted = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port.get('hostPort') or 0}"
            if port.get("hostPort") and wanted in seen:
                errors.append(duplicate(f"{path}[{index}].ports[{place}].hostPort", wanted))
            seen.add(wanted)
    return errors


def _node_selector_errors(selector: Object, path: str) -> Errors:
    errors: Errors = []
    for key, value in selector.items():
        errors += [invalid(path, key, fault) for fault in label_key_faults(key)]
        errors += [invalid(path, value, fault) for fault in label_value_faults(value)]
    return errors
