"""Validation of where a pod wants to be: tolerations, affinities, topology spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.apis.fielderror import FieldError, duplicate, invalid, not_supported, required
from scheduler.apis.names import label_key_faults, label_value_faults
from scheduler.sandbox.rules.selector_validation import node_term_errors, selector_errors

Object = dict[str, Any]
Errors = list[FieldError]
_EFFECTS = ("NoExecute", "NoSchedule", "PreferNoSchedule")
_OPERATORS = ("Equal", "Exists", "Lt", "Gt")


def toleration_errors(tolerations: Sequence[Object], path: str) -> Errors:
    """Faults of tolerations."""
    errors: Errors = []
    for index, toleration in enumerate(tolerations):
        errors += _toleration_errors(toleration, f"{path}[{index}]")
    return errors


def _toleration_errors(toleration: Object, path: str) -> Errors:
    key, value = toleration.get("key", ""), toleration.get("value", "")
    operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
    errors: Errors = [invalid(f"{path}.key", key, fault) for fault in label_key_faults(key)] if key else []
    if not key and operator != "Exists":
        errors.append(
            invalid(
                f"{path}.operator",
                operator,
                'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            )
        )
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        errors.append(
            invalid(f"{path}.effect", effect, "effect must be 'NoExecute' when `tolerationSeconds` is set")
        )
    if operator in ("Equal", ""):
        errors += [invalid(f"{path}.operator", value, fault) for fault in label_value_faults(value)]
    elif operator == "Exists" and value:
        errors.append(invalid(f"{path}.operator", value, "value must be empty when `operator` is 'Exists'"))
    elif operator not in _OPERATORS:
        errors.append(not_supported(f"{path}.operator", operator, ("Equal", "Exists")))
    if effect and effect not in _EFFECTS:
        errors.append(not_supported(f"{path}.effect", effect, _EFFECTS))
    return errors


def affinity_errors(affinity: Object, path: str) -> Errors:
    """Faults of node, pod and pod anti-affinity."""
    errors = _node_affinity_errors(affinity.get("nodeAffinity") or {}, f"{path}.nodeAffinity")
    for part in ("podAffinity", "podAntiAffinity"):
        errors += _pod_affinity_errors(affinity.get(part) or {}, f"{path}.{part}")
    return errors


def _node_affinity_errors(affinity: Object, path: str) -> Errors:
    errors: Errors = []
    wanted = affinity.get("requiredDuringSchedulingIgnoredDuringExecution")
    place = f"{path}.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms"
    if wanted is not None:
        terms = wanted.get("nodeSelectorTerms") or ()
        if not terms:
            errors.append(required(place, "must have at least one node selector term"))
        for index, term in enumerate(terms):
            errors += node_term_errors(term, f"{place}[{index}]")
    for index, item in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        place = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        errors += _weight_errors(item, place) + node_term_errors(
            item.get("preference") or {}, f"{place}.preference"
        )
    return errors


def _weight_errors(item: Object, path: str) -> Errors:
    weight = item.get("weight") or 0
    return [] if 1 <= weight <= 100 else [invalid(f"{path}.weight", weight, "must be in the range 1-100")]


def _pod_affinity_errors(affinity: Object, path: str) -> Errors:
    errors: Errors = []
    for index, term in enumerate(affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ()):
        errors += _pod_term_errors(term, f"{path}.requiredDuringSchedulingIgnoredDuringExecution[{index}]")
    for index, item in enumerate(affinity.get("preferredDuringSchedulingIgnoredDuringExecution") or ()):
        place = f"{path}.preferredDuringSchedulingIgnoredDuringExecution[{index}]"
        errors += _weight_errors(item, place) + _pod_term_errors(
            item.get("podAffinityTerm") or {}, f"{place}.podAffinityTerm"
        )
    return errors


def _pod_term_errors(term: Object, path: str) -> Errors:
    errors = selector_errors(term.get("labelSelector") or {}, f"{path}.labelSelector")
    errors += selector_errors(term.get("namespaceSelector") or {}, f"{path}.namespaceSelector")
    return errors + _topology_key_errors(term, f"{path}.topologyKey")


def _topology_key_errors(holder: Object, path: str) -> Errors:
    key = holder.get("topologyKey", "")
    if not key:
        return [required(path, "can not be empty")]
    return [invalid(path, key, fault) for fault in label_key_faults(key)]


def spread_errors(constraints: Sequence[Object], path: str) -> Errors:
    """Faults of topology spread constraints."""
    errors: Errors = []
    seen = set()
    for index, item in enumerate(constraints):
        place = f"{path}[{index}]"
        errors += _spread_errors(item, place)
        pair = (item.get("topologyKey"), item.get("whenUnsatisfiable"))
        if pair in seen:
            errors.append(
                duplicate(f"{place}.{{topologyKey, whenUnsatisfiable}}", f"{{{pair[0]}, {pair[1]}}}")
            )
        seen.add(pair)
    return errors


def _spread_errors(item: Object, path: str) -> Errors:
    errors: Errors = []
    skew, minimum, action = (
        item.get("maxSkew") or 0,
        item.get("minDomains"),
        item.get("whenUnsatisfiable", ""),
    )
    if skew <= 0:
        errors.append(invalid(f"{path}.maxSkew", skew, "must be greater than zero"))
    errors += _topology_key_errors(item, f"{path}.topologyKey")
    if action not in ("DoNotSchedule", "ScheduleAnyway"):
        errors.append(not_supported(f"{path}.whenUnsatisfiable", action, ("DoNotSchedule", "ScheduleAnyway")))
    if minimum is not None:
        if minimum <= 0:
            errors.append(invalid(f"{path}.minDomains", minimum, "must be greater than zero"))
        if action != "DoNotSchedule":
            detail = f"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {action}"
            errors.append(invalid(f"{path}.minDomains", minimum, detail))
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if item.get(field) not in (None, "Honor", "Ignore"):
            errors.append(not_supported(f"{path}.{field}", item[field], ("Honor", "Ignore")))
    return errors + selector_errors(item.get("labelSelector") or {}, f"{path}.labelSelector")
