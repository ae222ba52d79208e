"""What an update may not change: a pod's spec above all (upstream: `ValidatePodUpdate`), and the immutable parts of other kinds."""

from __future__ import annotations

from typing import Any

from scheduler.apis.fielderror import FieldError, forbidden, invalid
from scheduler.sandbox.paths import at
from scheduler.sandbox.resources import Resource

Object = dict[str, Any]
Errors = list[FieldError]
_POD_SPEC = (
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
    "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was"
    " previously negative)"
)
_IMMUTABLE = "field is immutable"
_FIXED: dict[str, tuple[str, ...]] = {
    "priorityclasses.scheduling.k8s.io": ("preemptionPolicy",),
    "storageclasses.storage.k8s.io": ("provisioner", "parameters", "reclaimPolicy", "volumeBindingMode"),
    "deployments.apps": ("spec.selector",),
    "replicasets.apps": ("spec.selector",),
    "statefulsets.apps": ("spec.selector", "spec.serviceName", "spec.podManagementPolicy"),
    "daemonsets.apps": ("spec.selector",),
    "jobs.batch": ("spec.selector", "spec.template", "spec.completionMode"),
    "persistentvolumeclaims": (
        "spec.accessModes",
        "spec.storageClassName",
        "spec.volumeMode",
        "spec.selector",
    ),
    "resourceclaims.resource.k8s.io": ("spec",),
    "resourceclaimtemplates.resource.k8s.io": ("spec",),
    "secrets": ("type",),
    "runtimeclasses.node.k8s.io": ("handler",),
    "leasecandidates.coordination.k8s.io": ("spec.leaseName",),
}


def update_errors(resource: Resource, old: Object, new: Object, subresource: str) -> Errors:
    """Faults of changing `old` to `new` through the endpoint; `subresource` "" is the main one."""
    if subresource:
        return []
    if resource.key == "pods":
        return _pod_errors(old["spec"], new["spec"])
    errors = []
    for path in _FIXED.get(resource.key, ()):
        steps = path.split(".")
        before, after = at(old, steps), at(new, steps)
        if before != after and not (path == "spec.storageClassName" and before is None):
            errors.append(invalid(path, after, _IMMUTABLE))
    if old.get("roleRef") != new.get("roleRef"):
        errors.append(invalid("roleRef", new.get("roleRef"), "cannot change roleRef"))
    if resource.key == "priorityclasses.scheduling.k8s.io" and old.get("value", 0) != new.get("value", 0):
        errors.append(forbidden("value", "may not be changed in an update."))
    if old.get("immutable") and (old.get("data") != new.get("data") or not new.get("immutable")):
        errors.append(
            forbidden(
                "data" if new.get("immutable") else "immutable", "field is immutable when `immutable` is set"
            )
        )
    return errors


def _pod_errors(old: Object, new: Object) -> Errors:
    errors = _gate_errors(old, new) + _toleration_errors(old, new)
    if errors:
        return errors
    allowed = {**new, "schedulingGates": None, "tolerations": None}
    before = {**old, "schedulingGates": None, "tolerations": None}
    for part in ("containers", "initContainers"):
        allowed[part] = _with_images_of(allowed.get(part), before.get(part))
    allowed["activeDeadlineSeconds"] = before.get("activeDeadlineSeconds")
    if (old.get("terminationGracePeriodSeconds") or 0) < 0 and new.get("terminationGracePeriodSeconds") == 1:
        allowed["terminationGracePeriodSeconds"] = old["terminationGracePeriodSeconds"]
    if old.get("schedulingGates"):
        errors += _narrowing_errors(old, new)
        allowed["nodeSelector"] = before.get("nodeSelector")
        allowed["affinity"] = _with_node_affinity_of(allowed.get("affinity"), before.get("affinity"))
    changed = sorted(
        key
        for key in allowed.keys() | before.keys()
        if (allowed.get(key) or None) != (before.get(key) or None)
    )
    if changed:
        errors.append(forbidden("spec", f"{_POD_SPEC}; changed: {', '.join(changed)}"))
    return errors + _deadline_errors(old, new)


def _with_images_of(containers: Any, before: Any) -> Any:
    if not containers or not before or len(containers) != len(before):
        return containers
    return [{**new, "image": old.get("image")} for new, old in zip(containers, before, strict=True)]


def _with_node_affinity_of(affinity: Any, before: Any) -> Any:
    kept = {key: value for key, value in (affinity or {}).items() if key != "nodeAffinity"}
    old = (before or {}).get("nodeAffinity")
    return kept | ({"nodeAffinity": old} if old else {})


def _gate_errors(old: Object, new: Object) -> Errors:
    before = {gate.get("name") for gate in old.get("schedulingGates") or ()}
    return [
        forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{gate.get('name')}'",
        )
        for index, gate in enumerate(new.get("schedulingGates") or ())
        if gate.get("name") not in before
    ]


def _toleration_errors(old: Object, new: Object) -> Errors:
    after = [_without_seconds(toleration) for toleration in new.get("tolerations") or ()]
    if all(_without_seconds(toleration) in after for toleration in old.get("tolerations") or ()):
        return []
    return [
        forbidden("spec.tolerations", "existing toleration can not be modified except its tolerationSeconds")
    ]


def _without_seconds(toleration: Object) -> Object:
    return {key: value for key, value in toleration.items() if key != "tolerationSeconds"}


def _deadline_errors(old: Object, new: Object) -> Errors:
    before, after = old.get("activeDeadlineSeconds"), new.get("activeDeadlineSeconds")
    if before is None or before == after:
        return []
    if after is None:
        return [
            invalid(
                "spec.activeDeadlineSeconds", after, "must not update from a positive integer to nil value"
            )
        ]
    return (
        []
        if after <= before
        else [
            invalid(
                "spec.activeDeadlineSeconds", after, f"must be less than or equal to previous value {before}"
            )
        ]
    )


def _narrowing_errors(old: Object, new: Object) -> Errors:
    """A gated pod's node selector and required node affinity may only become stricter."""
    before, after = old.get("nodeSelector") or {}, new.get("nodeSelector") or {}
    if any(after.get(key) != value for key, value in before.items()):
        return [
            invalid(
                "spec.nodeSelector",
                after,
                "only additions to spec.nodeSelector are allowed (no mutations or deletions)",
            )
        ]
    path = "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    required_before, required_after = _required_terms(old), _required_terms(new)
    if not required_before:
        return []
    if len(required_before) != len(required_after):
        return [
            invalid(
                path, required_after, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
            )
        ]
    for index, (first, second) in enumerate(zip(required_before, required_after, strict=True)):
        for part in ("matchExpressions", "matchFields"):
            if any(item not in (second.get(part) or ()) for item in first.get(part) or ()):
                return [
                    invalid(
                        f"{path}[{index}]", second, "only additions are allowed (no mutations or deletions)"
                    )
                ]
    return []


def _required_terms(spec: Object) -> list[Object]:
    node = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    return (node.get("requiredDuringSchedulingIgnoredDuringExecution") or {}).get("nodeSelectorTerms") or []
