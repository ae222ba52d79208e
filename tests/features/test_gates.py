"""Feature gates: defaults, what flags may change, and what they say when they may not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scheduler.features import Features, gates
from scheduler.features.table import DEPENDENCIES, HISTORY

ALPHA_IN_USE = "component has alpha features enabled in emulated version, this is unsupported: features="


def test_defaults_are_those_of_1_36() -> None:
    features = Features.default()
    assert features.enabled("DynamicResourceAllocation")
    assert features.enabled("NodeDeclaredFeatures")
    assert not features.enabled("GangScheduling")
    assert not features.enabled("SchedulerAsyncAPICalls")


def test_an_unknown_gate_is_a_bug_of_the_caller() -> None:
    with pytest.raises(KeyError):
        Features.default().enabled("NoSuchGate")
    with pytest.raises(KeyError):
        Features.default().with_gates(NoSuchGate=True)


def test_help_lists_the_alpha_and_beta_gates() -> None:
    recorded = json.loads(Path(__file__).with_name("listed_gates.json").read_text())
    listed = [[gate.name, gate.stage, gate.default] for gate in gates().values() if gate.listed]
    assert sorted(listed) == sorted(recorded)


def test_every_dependency_is_a_gate_that_is_on_when_its_dependent_is() -> None:
    features = Features.default()
    for name, needed in DEPENDENCIES.items():
        assert name in HISTORY
        assert set(needed) <= set(HISTORY)
        assert not features.enabled(name) or all(features.enabled(other) for other in needed)


@pytest.mark.parametrize(
    ("flags", "gate", "on"),
    [
        (["OpportunisticBatching=false"], "OpportunisticBatching", False),
        (["kube:OpportunisticBatching=F"], "OpportunisticBatching", False),
        ([" OpportunisticBatching = 0 ,"], "OpportunisticBatching", False),
        (["OpportunisticBatching=false,OpportunisticBatching=true"], "OpportunisticBatching", True),
        (["OpportunisticBatching=false", "OpportunisticBatching=true"], "OpportunisticBatching", True),
        (["AllBeta=true"], "SchedulerAsyncAPICalls", True),
        (["AllBeta=true,SchedulerAsyncAPICalls=false"], "SchedulerAsyncAPICalls", False),
        (["AllAlpha=true"], "GangScheduling", True),
        (["DynamicResourceAllocation=true"], "DynamicResourceAllocation", True),
    ],
)
def test_flags_move_gates(flags: list[str], gate: str, on: bool) -> None:
    features, _, errors = Features.parse(flags)
    assert errors == ()
    assert features.enabled(gate) is on


@pytest.mark.parametrize(
    ("flag", "error"),
    [
        ("Foo", "missing bool value for Foo"),
        ("SchedulerQueueingHints=maybe", 'invalid value of SchedulerQueueingHints=maybe, err: strconv.ParseBool: parsing "maybe": invalid syntax'),
        ("PodSchedulingReadiness=false", "cannot set feature gate PodSchedulingReadiness to false, feature is locked to true"),
        ("GangScheduling=true", "GangScheduling is enabled, but depends on features that are disabled: [GenericWorkload]"),
        ("other:GangScheduling=true", "component not registered: other"),
    ],
)  # fmt: skip
def test_what_flags_may_not_do(flag: str, error: str) -> None:
    features, _, errors = Features.parse([flag])
    assert errors == (error,)
    assert features == Features.default()


def test_every_refused_gate_is_named() -> None:
    _, _, errors = Features.parse(["PodSchedulingReadiness=false,SchedulerQueueingHints=false"])
    assert len(errors) == 2


@pytest.mark.parametrize(
    ("flag", "warning"),
    [
        ("Foo=true", "unrecognized feature gate: Foo"),
        ("GangScheduling=true,GenericWorkload=true", f"{ALPHA_IN_USE}[GangScheduling GenericWorkload]"),
    ],
)
def test_what_flags_are_warned_about(flag: str, warning: str) -> None:
    _, warnings, errors = Features.parse([flag])
    assert errors == ()
    assert warnings == (warning,)


def test_an_older_version_knows_the_gates_of_its_time() -> None:
    older = Features.default("1.35")
    assert not older.enabled("NodeDeclaredFeatures")
    assert not older.enabled("DRADeviceBindingConditions")
    assert older.enabled("DynamicResourceAllocation")


def test_a_gate_cannot_be_set_before_its_time() -> None:
    _, _, errors = Features.parse(["AtomicFIFO=true"], "1.35")
    assert errors == (
        (
            "cannot set feature gate AtomicFIFO to true, feature is PreAlpha at emulated version 1.35, "
            "min compatibility version 1.34"
        ),
    )


def test_features_cannot_be_changed() -> None:
    features = Features.default().with_gates(GangScheduling=True)
    with pytest.raises(TypeError):
        features.chosen["GangScheduling"] = False  # type: ignore[index]
    assert not Features.default().enabled("GangScheduling")
