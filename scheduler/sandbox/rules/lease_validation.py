"""What is wrong with leases and candidates for them (upstream: `pkg/apis/coordination/validation`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scheduler.apis.fielderror import FieldError, forbidden, invalid, not_supported, required
from scheduler.apis.names import label_key_faults

Object = dict[str, Any]
Errors = list[FieldError]

_OLDEST = "OldestEmulationVersion"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:[-+][0-9A-Za-z.+-]+)?")
_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
_NOT_A_KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', "
    "regex used for validation is '[-._a-zA-Z0-9]+')"
)


def config_key_faults(name: str) -> tuple[str, ...]:
    """Why a name is no key of a ConfigMap, by which rule candidates are named: `HOST_1a2b` is one."""
    if name in (".", ".."):
        return (f"must not be '{name}'",)
    if name.startswith(".."):
        return ("must not start with '..'",)
    return () if _KEY.fullmatch(name) else (_NOT_A_KEY,)


def lease_errors(obj: Object) -> Errors:
    """Faults of a Lease."""
    spec, errors = obj.get("spec") or {}, []
    if spec.get("leaseDurationSeconds") is not None and spec["leaseDurationSeconds"] <= 0:
        errors.append(
            invalid("spec.leaseDurationSeconds", spec["leaseDurationSeconds"], "must be greater than 0")
        )
    if spec.get("leaseTransitions") is not None and spec["leaseTransitions"] < 0:
        least = "must be greater than or equal to 0"
        errors.append(invalid("spec.leaseTransitions", spec["leaseTransitions"], least))
    if spec.get("strategy") is not None:
        errors += _strategy(spec["strategy"])
    if spec.get("preferredHolder") and not spec.get("strategy"):
        errors.append(forbidden("spec.preferredHolder", "may only be specified if `strategy` is defined"))
    return errors


def candidate_errors(obj: Object) -> Errors:
    """Faults of a LeaseCandidate."""
    spec = obj.get("spec") or {}
    errors = [] if spec.get("leaseName") else [required("spec.leaseName")]
    emulated, binary = spec.get("emulationVersion", ""), spec.get("binaryVersion", "")
    if emulated and not _VERSION.fullmatch(emulated):
        errors.append(invalid("spec.emulationVersion", emulated, "must be a valid semantic version"))
    if not binary:
        errors.append(required("spec.binaryVersion"))
    elif not _VERSION.fullmatch(binary):
        errors.append(invalid("spec.binaryVersion", binary, "must be a valid semantic version"))
    elif _number(binary) < _number(emulated):
        later = "must be greater than or equal to `emulationVersion`"
        errors.append(invalid("spec.binaryVersion", binary, later))
    return [*errors, *_candidate_strategy(spec.get("strategy", ""), emulated)]


def _candidate_strategy(strategy: str, emulated: str) -> Iterator[FieldError]:
    if not strategy:
        yield required("spec.strategy")
        return
    if strategy == _OLDEST and _number(emulated) == (0, 0, 0):
        needed = "must be specified when `strategy` is 'OldestEmulationVersion'"
        yield required("spec.emulationVersion", needed)
    yield from _strategy(strategy)


def _strategy(strategy: str) -> Iterator[FieldError]:
    if "/" not in strategy:
        if strategy != _OLDEST:
            yield not_supported("spec.strategy.strategy", strategy, (_OLDEST,))
    else:
        for fault in label_key_faults(strategy):
            yield invalid("spec.strategy.strategy", strategy, fault)


def _number(version: str) -> tuple[int, ...]:
    found = _VERSION.fullmatch(version)
    return tuple(map(int, found.groups())) if found else (0, 0, 0)
