"""Feature gates: which of Kubernetes' gated behaviours are on.

`table.HISTORY` is the one table. From it and from the `--feature-gates` flags comes a `Features` value that never
changes: whoever needs a gate is handed the value and asks `features.enabled("X")`. There is no global set of gates.

Texts and rules are component-base's (`featuregate`, `compatibility`): an unknown gate is only a warning, a locked one an
error, `AllAlpha` and `AllBeta` move every gate of that stage that is not named itself, and a gate that is on needs the
gates that it depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Final

from scheduler.features.table import DEPENDENCIES, HISTORY

__all__ = ["BINARY_VERSION", "COMPONENT", "Features", "Gate", "gates"]

BINARY_VERSION: Final = "1.36"
COMPONENT: Final = "kube"
_SPECIAL: Final = {"AllAlpha": "alpha", "AllBeta": "beta"}
_BOOLEANS: Final = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate at one version. `stage` is `alpha`, `beta`, `ga`, `deprecated`, or `prealpha` before it exists."""

    name: str
    stage: str
    default: bool
    locked: bool

    @property
    def listed(self) -> bool:
        """Whether `--help` lists the gate: only alpha and beta gates are worth changing."""
        return self.stage in ("alpha", "beta")


@dataclass(frozen=True, slots=True)
class Features:
    """The state of every gate at the emulated `version`. `chosen` holds what differs by somebody's choice."""

    version: str = BINARY_VERSION
    chosen: Mapping[str, bool] = field(default_factory=lambda: MappingProxyType({}))

    def enabled(self, name: str) -> bool:
        """Whether the gate is on. Raises `KeyError` for a name that is no gate: that is a bug of the caller."""
        return self.chosen.get(name, gates(self.version)[name].default)

    @staticmethod
    def default(version: str = BINARY_VERSION) -> Features:
        """Every gate at its default for the emulated version (`major.minor`)."""
        return Features(version)

    def with_gates(self, **gates_on: bool) -> Features:
        """The same gates except these, unchecked; for tests and for embedding. Raises `KeyError` for unknown names."""
        for name in gates_on:
            gates(self.version)[name]
        return Features(self.version, MappingProxyType({**self.chosen, **gates_on}))

    @staticmethod
    def parse(
        flags: Iterable[str], version: str = BINARY_VERSION
    ) -> tuple[Features, tuple[str, ...], tuple[str, ...]]:
        """The gates that `--feature-gates` texts (`A=true,kube:B=false`) ask for, warnings, and errors.

        With errors the features are the defaults: nothing is half applied.
        """
        wanted, error = _read(flags)
        if error:
            return Features(version), (), (error,)
        known = gates(version)
        warnings = [f"unrecognized feature gate: {name}" for name in wanted if name not in known]
        wanted = {name: on for name, on in wanted.items() if name in known}
        errors = _refusals(wanted, known, version)
        features = Features(version, MappingProxyType(_resolve(wanted, known)))
        errors = errors or _missing_dependencies(features)
        if errors:
            return Features(version), tuple(warnings), tuple(errors)
        alpha = [name for name, on in sorted(features.chosen.items()) if on and known[name].stage == "alpha"]
        if alpha:
            names = " ".join(alpha)
            warnings.append(
                f"component has alpha features enabled in emulated version, this is unsupported: features=[{names}]"
            )
        return features, tuple(warnings), ()


@cache
def gates(version: str = BINARY_VERSION) -> Mapping[str, Gate]:
    """Every gate as it is at the emulated version (`major.minor`), by name."""
    return MappingProxyType({name: _at(name, history, _number(version)) for name, history in HISTORY.items()})


def _at(name: str, history: str, version: tuple[int, int]) -> Gate:
    gate = Gate(name, "prealpha", default=False, locked=False)
    for change in history.split(", "):
        since, stage, default, *locked = change.split()
        if _number(since) <= version:
            gate = Gate(name, stage, default == "on", bool(locked))
    return gate


def _number(version: str) -> tuple[int, int]:
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def _read(flags: Iterable[str]) -> tuple[dict[str, bool], str]:
    """What the texts ask for, later ones winning, and the first thing that cannot be read."""
    wanted: dict[str, bool] = {}
    for item in (item for text in flags for item in text.split(",") if item):
        name, equals, text = (part.strip() for part in item.partition("="))
        component, colon, bare = name.rpartition(":")
        if colon and component != COMPONENT:
            return {}, f"component not registered: {component}"
        if not equals:
            return {}, f"missing bool value for {bare}"
        if text not in _BOOLEANS:
            return (
                {},
                f'invalid value of {bare}={text}, err: strconv.ParseBool: parsing "{text}": invalid syntax',
            )
        wanted[bare] = _BOOLEANS[text]
    return wanted, ""


def _refusals(wanted: Mapping[str, bool], known: Mapping[str, Gate], version: str) -> list[str]:
    errors = []
    for name, on in wanted.items():
        gate = known[name]
        refusal = f"cannot set feature gate {name} to {_word(on)}, feature is"
        if gate.locked and gate.default != on:
            errors.append(f"{refusal} locked to {_word(gate.default)}")
        elif gate.stage == "prealpha":
            major, minor = _number(version)
            errors.append(
                f"{refusal} PreAlpha at emulated version {version}, min compatibility version {major}.{minor - 1}"
            )
    return errors


def _resolve(wanted: Mapping[str, bool], known: Mapping[str, Gate]) -> dict[str, bool]:
    chosen: dict[str, bool] = {}
    for special, stage in _SPECIAL.items():
        if special in wanted:
            chosen |= {
                name: wanted[special]
                for name, gate in known.items()
                if gate.stage == stage and name not in _SPECIAL
            }
    return {**chosen, **wanted}


def _missing_dependencies(features: Features) -> list[str]:
    errors = []
    for name, needed in DEPENDENCIES.items():
        missing = [other for other in needed if not features.enabled(other)]
        if missing and features.enabled(name):
            errors.append(
                f"{name} is enabled, but depends on features that are disabled: [{' '.join(missing)}]"
            )
    return errors


def _word(on: bool) -> str:
    return "true" if on else "false"
