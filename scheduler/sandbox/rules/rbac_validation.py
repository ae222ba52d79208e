"""What is wrong with roles and bindings (upstream: `pkg/apis/rbac/validation`). Nobody's rights follow from them here: the sandbox lets everybody in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.apis.fielderror import FieldError, invalid, not_supported, required
from scheduler.apis.names import dns_subdomain_faults

Object = dict[str, Any]
Errors = list[FieldError]

GROUP = "rbac.authorization.k8s.io"


def path_segment_faults(name: str) -> tuple[str, ...]:
    """Why a name cannot be a part of a path; roles may have any other name, `system:node` say."""
    if name in (".", ".."):
        return (f"may not be '{name}'",)
    return tuple(f"may not contain '{letter}'" for letter in "/%" if letter in name)


def role_errors(role: Object) -> Errors:
    """Faults of a Role."""
    return list(_rules(role, namespaced=True))


def cluster_role_errors(role: Object) -> Errors:
    """Faults of a ClusterRole."""
    return list(_rules(role, namespaced=False))


def binding_errors(binding: Object) -> Errors:
    """Faults of a RoleBinding."""
    return list(_binding(binding, ("Role", "ClusterRole"), namespaced=True))


def cluster_binding_errors(binding: Object) -> Errors:
    """Faults of a ClusterRoleBinding."""
    return list(_binding(binding, ("ClusterRole",), namespaced=False))


def _rules(role: Object, *, namespaced: bool) -> Iterator[FieldError]:
    for index, rule in enumerate(role.get("rules") or ()):
        yield from _rule(rule, f"rules[{index}]", namespaced=namespaced)


def _rule(rule: Object, path: str, *, namespaced: bool) -> Iterator[FieldError]:
    if not rule.get("verbs"):
        yield required(f"{path}.verbs", "verbs must contain at least one value")
    urls = rule.get("nonResourceURLs")
    if urls:
        if namespaced:
            yield invalid(
                f"{path}.nonResourceURLs", urls, "namespaced rules cannot apply to non-resource URLs"
            )
        if any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
            both = "rules cannot apply to both regular resources and non-resource URLs"
            yield invalid(f"{path}.nonResourceURLs", urls, both)
        return
    if not rule.get("apiGroups"):
        yield required(f"{path}.apiGroups", "resource rules must supply at least one api group")
    if not rule.get("resources"):
        yield required(f"{path}.resources", "resource rules must supply at least one resource")


def _binding(binding: Object, kinds: tuple[str, ...], *, namespaced: bool) -> Iterator[FieldError]:
    role = binding.get("roleRef") or {}
    if role.get("apiGroup", "") != GROUP:
        yield not_supported("roleRef.apiGroup", role.get("apiGroup", ""), (GROUP,))
    if role.get("kind", "") not in kinds:
        yield not_supported("roleRef.kind", role.get("kind", ""), kinds)
    if not role.get("name"):
        yield required("roleRef.name")
    else:
        for fault in path_segment_faults(role["name"]):
            yield invalid("roleRef.name", role["name"], fault)
    for index, subject in enumerate(binding.get("subjects") or ()):
        yield from _subject(subject, f"subjects[{index}]", namespaced=namespaced)


def _subject(subject: Object, path: str, *, namespaced: bool) -> Iterator[FieldError]:
    kind, name, group = (subject.get(field, "") for field in ("kind", "name", "apiGroup"))
    if not name:
        yield required(f"{path}.name")
    if kind == "ServiceAccount":
        for fault in dns_subdomain_faults(name) if name else ():
            yield invalid(f"{path}.name", name, fault)
        if group:
            yield not_supported(f"{path}.apiGroup", group, ("",))
        if not namespaced and not subject.get("namespace"):
            yield required(f"{path}.namespace")
    elif kind in ("User", "Group"):
        if group != GROUP:
            yield not_supported(f"{path}.apiGroup", group, (GROUP,))
    else:
        yield not_supported(f"{path}.kind", kind, ("ServiceAccount", "User", "Group"))
