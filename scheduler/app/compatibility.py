"""Which version to behave like, and the feature gates that follow: ``--emulated-version``, ``--feature-gates``.

The rules are component-base's (``compatibility.effectiveVersion``): three minor versions back can be emulated, and the oldest version to
stay compatible with lies between the same floor and the emulated one.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.app.flags.sections import FeatureGates
from scheduler.app.flags.values import show_bool
from scheduler.features import BINARY_VERSION, COMPONENT, Features, gates

_FLOOR = (1, 33)
_VERSION = re.compile(r"v?([0-9]+)\.([0-9]+)(\.[0-9]+.*)?")


@dataclass(frozen=True, slots=True)
class Compatibility:
    """The gates in force, with what is worth a warning and what is wrong; the defaults when something is.

    ``emulated`` is the version to behave like, ``oldest`` the oldest one to stay compatible with.
    """

    features: Features
    emulated: str
    warnings: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    oldest: str = ""


def compatibility(flags: FeatureGates) -> Compatibility:
    """What the flags ask for."""
    binary = _numbers(BINARY_VERSION)
    try:
        emulated = _chosen(flags.emulated_version) or binary
        oldest = _chosen(flags.min_compatibility_version) or max((emulated[0], emulated[1] - 1), _FLOOR)
    except ValueError as error:
        return Compatibility(Features.default(), BINARY_VERSION, errors=(str(error),))
    errors = _out_of_range(emulated, oldest, binary)
    if errors:
        return Compatibility(Features.default(), BINARY_VERSION, errors=errors)
    version = _text(emulated)
    features, warnings, errors = Features.parse(flags.feature_gates, version)
    return Compatibility(features, version, warnings, errors, _text(oldest))


def _out_of_range(
    emulated: tuple[int, int], oldest: tuple[int, int], binary: tuple[int, int]
) -> tuple[str, ...]:
    errors = []
    if not _FLOOR <= emulated <= binary:
        errors.append(
            f"emulation version {_text(emulated)} is not between [{_text(_FLOOR)}, {_text(binary)}.0]"
        )
    if not _FLOOR <= oldest <= emulated:
        errors.append(
            f"minCompatibilityVersion version {_text(oldest)} is not between [{_text(_FLOOR)}, {_text(emulated)}]"
        )
    return tuple(errors)


def _chosen(items: Sequence[str]) -> tuple[int, int] | None:
    """The one version among ``[component=]version`` items, or nothing.

    Raises:
        ValueError: another component, something that is no version, a patch release, or two versions.
    """
    found: list[str] = []
    for item in filter(None, items):
        component, equals, text = item.rpartition("=")
        if equals and component != COMPONENT:
            raise ValueError(f"component not registered: {component}")
        match = _VERSION.fullmatch(text)
        if match is None:
            raise ValueError(f'could not parse "{text}" as version')
        if match[3] and match[3] != ".0":
            raise ValueError(f"patch version not allowed, got: {COMPONENT}={text}")
        found.append(f"{match[1]}.{match[2]}")
    if len(found) > 1:
        raise ValueError(f"duplicate version flag, {COMPONENT}={found[0]} and {COMPONENT}={found[1]}")
    return _numbers(found[0]) if found else None


def _numbers(text: str) -> tuple[int, int]:
    major, minor = text.split(".")
    return int(major), int(minor)


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"


def gate_lines(features: Features) -> tuple[str, ...]:
    """The gates that are worth changing, as ``--help`` lists them: ``kube:NAME=true|false (BETA - default=true)``."""
    return tuple(
        f"{COMPONENT}:{gate.name}=true|false ({gate.stage.upper()} - default={show_bool(gate.default)})"
        for _, gate in sorted(gates(features.version).items())
        if gate.listed
    )
