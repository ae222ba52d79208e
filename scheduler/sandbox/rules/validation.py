"""Validation: what is wrong with an object, all of it at once, in Kubernetes' words (upstream: `pkg/apis/*/validation`).

This module checks metadata and dispatches by resource; `pod_validation` and `update_validation` hold the larger rule sets. What the scheduler
or its tests can depend on is checked; the long tail of volume sources, probes and security contexts is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scheduler.apis.fielderror import (
    ErrorType,
    FieldError,
    forbidden,
    invalid,
    not_supported,
    required,
)
from scheduler.apis.names import dns_label_faults, dns_subdomain_faults, label_key_faults, label_value_faults
from scheduler.sandbox.resources import Resource
from scheduler.sandbox.rules.event_validation import event_errors, event_update_errors, new_event_errors
from scheduler.sandbox.rules.lease_validation import candidate_errors, config_key_faults, lease_errors
from scheduler.sandbox.rules.pod_validation import pod_errors, pod_spec_errors
from scheduler.sandbox.rules.rbac_validation import (
    binding_errors,
    cluster_binding_errors,
    cluster_role_errors,
    path_segment_faults,
    role_errors,
)
from scheduler.sandbox.rules.resource_validation import quantity_map_errors
from scheduler.sandbox.rules.selector_validation import selector_errors, selector_matches
from scheduler.sandbox.rules.update_validation import update_errors

Object = dict[str, Any]
Errors = list[FieldError]
_MAX_ANNOTATIONS = 256 * 1024
_MAX_USER_PRIORITY = 1_000_000_000
_TAINT_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_NAME_FAULTS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "namespaces": dns_label_faults,
    "services": dns_label_faults,
    "leasecandidates.coordination.k8s.io": config_key_faults,
    "roles.rbac.authorization.k8s.io": path_segment_faults,
    "clusterroles.rbac.authorization.k8s.io": path_segment_faults,
    "rolebindings.rbac.authorization.k8s.io": path_segment_faults,
    "clusterrolebindings.rbac.authorization.k8s.io": path_segment_faults,
}
"""What names may be, where they need not be subdomains."""
_ANY_NAMES = frozenset({"events"})


def validate(resource: Resource, obj: Object) -> Errors:
    """Everything wrong with a complete object of the resource."""
    errors = metadata_errors(resource, obj["metadata"])
    if resource.key == "events":
        return errors + event_errors(obj, resource.group)
    check = _CHECKS.get(resource.key)
    return errors + check(obj) if check else errors


def creation_errors(resource: Resource, obj: Object) -> Errors:
    """What is a fault only in a new object."""
    return new_event_errors(obj) if resource.group == "events.k8s.io" else []


def validate_update(resource: Resource, old: Object, new: Object, subresource: str) -> Errors:
    """Everything that an update may not change."""
    if resource.group == "events.k8s.io":
        return event_update_errors(old, new)
    return update_errors(resource, old, new, subresource)


def metadata_errors(resource: Resource, meta: Object) -> Errors:
    """Names, labels, annotations, owners."""
    errors: Errors = []
    name = meta.get("name", "")
    if not name:
        errors.append(required("metadata.name", "name or generateName is required"))
    elif resource.key not in _ANY_NAMES:
        check = _NAME_FAULTS.get(resource.key, dns_subdomain_faults)
        errors += [invalid("metadata.name", name, fault) for fault in check(name)]
    errors += label_errors(meta.get("labels") or {}, "metadata.labels")
    annotations = meta.get("annotations") or {}
    for key in annotations:
        errors += [invalid("metadata.annotations", key, fault) for fault in label_key_faults(key.lower())]
    if sum(len(key) + len(str(value)) for key, value in annotations.items()) > _MAX_ANNOTATIONS:
        errors.append(
            FieldError(
                "metadata.annotations",
                ErrorType.TOO_LONG,
                detail=f"may not be more than {_MAX_ANNOTATIONS} bytes",
            )
        )
    for index, owner in enumerate(meta.get("ownerReferences") or ()):
        path = f"metadata.ownerReferences[{index}]"
        errors += [
            required(f"{path}.{field}")
            for field in ("apiVersion", "kind", "name", "uid")
            if not owner.get(field)
        ]
    for finalizer in meta.get("finalizers") or ():
        errors += [invalid("metadata.finalizers", finalizer, fault) for fault in label_key_faults(finalizer)]
    return errors


def label_errors(labels: Object, path: str) -> Errors:
    """Keys and values of labels."""
    errors: Errors = []
    for key, value in labels.items():
        errors += [invalid(path, key, fault) for fault in label_key_faults(key)]
        errors += [invalid(path, value, fault) for fault in label_value_faults(value)]
    return errors


def _node(obj: Object) -> Errors:
    errors: Errors = []
    seen = set()
    for index, taint in enumerate(obj["spec"].get("taints") or ()):
        path = f"metadata.taints[{index}]"
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        errors += [invalid(f"{path}.key", key, fault) for fault in label_key_faults(key)]
        errors += [invalid(f"{path}.value", value, fault) for fault in label_value_faults(value)]
        if not effect:
            errors.append(required(f"{path}.effect"))
        elif effect not in _TAINT_EFFECTS:
            errors.append(not_supported(f"{path}.effect", effect, _TAINT_EFFECTS))
        if (key, effect) in seen:
            shown = {"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")}
            unique = "taints must be unique by key and effect pair"
            errors.append(FieldError(path, ErrorType.DUPLICATE, shown, unique))
        seen.add((key, effect))
    for part in ("capacity", "allocatable"):
        quantities = (obj.get("status") or {}).get(part) or {}
        errors += quantity_map_errors(quantities, f"status.{part}", place="{path}.{name}")
    return errors


def _workload(obj: Object) -> Errors:
    spec, errors = obj.get("spec") or {}, []
    template = spec.get("template")
    if "selector" not in spec:
        errors.append(required("spec.selector"))
    else:
        errors += selector_errors(spec["selector"], "spec.selector")
    if not isinstance(template, dict):
        return [*errors, required("spec.template")]
    labels = (template.get("metadata") or {}).get("labels") or {}
    if not errors and not selector_matches(spec["selector"], labels):
        errors.append(
            invalid("spec.template.metadata.labels", labels, "`selector` does not match template `labels`")
        )
    if (spec.get("replicas") or 0) < 0:
        errors.append(invalid("spec.replicas", spec["replicas"], "must be greater than or equal to 0"))
    return (
        errors
        + label_errors(labels, "spec.template.metadata.labels")
        + pod_spec_errors(template["spec"], "spec.template.spec")
    )


def _job(obj: Object) -> Errors:
    template = (obj.get("spec") or {}).get("template")
    if not isinstance(template, dict):
        return [required("spec.template")]
    errors = pod_spec_errors(template["spec"], "spec.template.spec")
    policy = template["spec"].get("restartPolicy")
    if policy not in ("OnFailure", "Never"):
        errors.append(required("spec.template.spec.restartPolicy", 'valid values: "OnFailure", "Never"'))
    return errors


def _controller(obj: Object) -> Errors:
    template = (obj.get("spec") or {}).get("template")
    if not isinstance(template, dict):
        return [required("spec.template")]
    if not obj["spec"].get("selector"):
        return [required("spec.selector")]
    return pod_spec_errors(template["spec"], "spec.template.spec")


def _claim(obj: Object) -> Errors:
    spec, errors = obj.get("spec") or {}, []
    if not spec.get("accessModes"):
        errors.append(required("spec.accessModes", "at least 1 access mode is required"))
    requests = (spec.get("resources") or {}).get("requests") or {}
    if "storage" not in requests:
        errors.append(required("spec.resources[storage]"))
    return errors + quantity_map_errors(requests, "spec.resources.requests")


def _volume(obj: Object) -> Errors:
    spec, errors = obj.get("spec") or {}, []
    if not spec.get("accessModes"):
        errors.append(required("spec.accessModes"))
    if not spec.get("capacity"):
        errors.append(required("spec.capacity"))
    return errors + quantity_map_errors(spec.get("capacity") or {}, "spec.capacity")


def _storage_class(obj: Object) -> Errors:
    mode = obj.get("volumeBindingMode")
    errors = [] if obj.get("provisioner") else [required("provisioner")]
    if mode not in ("Immediate", "WaitForFirstConsumer"):
        errors.append(not_supported("volumeBindingMode", mode, ("Immediate", "WaitForFirstConsumer")))
    return errors


def _priority_class(obj: Object) -> Errors:
    name, value, errors = obj["metadata"].get("name", ""), obj.get("value", 0), []
    if name.startswith("system-"):
        if name not in ("system-cluster-critical", "system-node-critical"):
            errors.append(
                forbidden(
                    "metadata.name",
                    "priority class names with 'system-' prefix are reserved for system use only."
                    f" error: {name} is not a known system priority class",
                )
            )
    elif value > _MAX_USER_PRIORITY:
        errors.append(
            forbidden("value", f"maximum allowed value of a user defined priority is {_MAX_USER_PRIORITY}")
        )
    if obj.get("preemptionPolicy") not in ("PreemptLowerPriority", "Never"):
        errors.append(
            not_supported("preemptionPolicy", obj.get("preemptionPolicy"), ("Never", "PreemptLowerPriority"))
        )
    return errors


def _budget(obj: Object) -> Errors:
    spec = obj.get("spec") or {}
    errors = []
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        errors.append(invalid("spec", spec, "minAvailable and maxUnavailable cannot be both set"))
    return errors + selector_errors(spec.get("selector") or {}, "spec.selector")


def _service(obj: Object) -> Errors:
    errors = []
    for index, port in enumerate(obj["spec"].get("ports") or ()):
        number = port.get("port") or 0
        if not 1 <= number <= 65535:
            errors.append(
                invalid(f"spec.ports[{index}].port", number, "must be between 1 and 65535, inclusive")
            )
    if (
        not obj["spec"].get("ports")
        and obj["spec"].get("clusterIP") != "None"
        and obj["spec"]["type"] != "ExternalName"
    ):
        errors.append(required("spec.ports"))
    return errors


_CHECKS: dict[str, Callable[[Object], Errors]] = {
    "pods": pod_errors,
    "nodes": _node,
    "services": _service,
    "persistentvolumes": _volume,
    "persistentvolumeclaims": _claim,
    "replicationcontrollers": _controller,
    "replicasets.apps": _workload,
    "deployments.apps": _workload,
    "statefulsets.apps": _workload,
    "daemonsets.apps": _workload,
    "jobs.batch": _job,
    "poddisruptionbudgets.policy": _budget,
    "storageclasses.storage.k8s.io": _storage_class,
    "priorityclasses.scheduling.k8s.io": _priority_class,
    "leases.coordination.k8s.io": lease_errors,
    "leasecandidates.coordination.k8s.io": candidate_errors,
    "roles.rbac.authorization.k8s.io": role_errors,
    "clusterroles.rbac.authorization.k8s.io": cluster_role_errors,
    "rolebindings.rbac.authorization.k8s.io": binding_errors,
    "clusterrolebindings.rbac.authorization.k8s.io": cluster_binding_errors,
}
