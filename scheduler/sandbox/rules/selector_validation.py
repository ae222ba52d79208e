"""Label selectors and node selectors inside objects: their keys, operators and values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.apis.fielderror import FieldError, forbidden, invalid, required
from scheduler.apis.names import label_key_faults, label_value_faults
from scheduler.apis.objects import LabelSelector
from scheduler.apis.selectors import compile_label_selector

Object = dict[str, Any]
Errors = list[FieldError]
_WITH_VALUES = ("In", "NotIn")
_WITHOUT_VALUES = ("Exists", "DoesNotExist")


def selector_errors(selector: Object, path: str) -> Errors:
    """Faults of a `LabelSelector`."""
    errors: Errors = []
    for key, value in (selector.get("matchLabels") or {}).items():
        errors += [invalid(f"{path}.matchLabels", key, fault) for fault in label_key_faults(key)]
        errors += [invalid(f"{path}.matchLabels", value, fault) for fault in label_value_faults(value)]
    for index, item in enumerate(selector.get("matchExpressions") or ()):
        errors += _requirement_errors(item, f"{path}.matchExpressions[{index}]", numeric=False)
    return errors


def node_term_errors(term: Object, path: str) -> Errors:
    """Faults of a `NodeSelectorTerm`."""
    errors: Errors = []
    for index, item in enumerate(term.get("matchExpressions") or ()):
        errors += _requirement_errors(item, f"{path}.matchExpressions[{index}]", numeric=True)
    for index, item in enumerate(term.get("matchFields") or ()):
        place = f"{path}.matchFields[{index}]"
        if item.get("operator") not in _WITH_VALUES:
            errors.append(
                invalid(f"{place}.operator", item.get("operator", ""), "not a valid selector operator")
            )
        elif len(item.get("values") or ()) != 1:
            errors.append(
                required(
                    f"{place}.values",
                    "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
                )
            )
        if item.get("key") != "metadata.name":
            errors.append(invalid(f"{place}.key", item.get("key", ""), "not a valid field selector key"))
    return errors


def _requirement_errors(item: Object, path: str, *, numeric: bool) -> Errors:
    operator, values = item.get("operator", ""), item.get("values") or ()
    errors: Errors = []
    if operator in _WITH_VALUES:
        if not values:
            errors.append(required(f"{path}.values", "must be specified when `operator` is 'In' or 'NotIn'"))
    elif operator in _WITHOUT_VALUES:
        if values:
            errors.append(
                forbidden(
                    f"{path}.values", "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                )
            )
    elif numeric and operator in ("Gt", "Lt"):
        if len(values) != 1:
            errors.append(
                required(f"{path}.values", "must be specified single value when `operator` is 'Lt' or 'Gt'")
            )
    else:
        errors.append(
            invalid(
                f"{path}.operator",
                operator,
                f"not a valid {'selector' if numeric else 'label selector'} operator",
            )
        )
    errors += [
        invalid(f"{path}.key", item.get("key", ""), fault) for fault in label_key_faults(item.get("key", ""))
    ]
    if not numeric:
        for index, value in enumerate(values):
            errors += [
                invalid(f"{path}.values[{index}]", value, fault) for fault in label_value_faults(value)
            ]
    return errors


def selector_matches(selector: Object, labels: Mapping[str, str]) -> bool:
    """Whether a valid `LabelSelector` selects these labels; an empty one selects everything."""
    return compile_label_selector(msgspec.convert(selector, LabelSelector)).matches(labels)
