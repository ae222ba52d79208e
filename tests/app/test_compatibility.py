"""Emulated versions and feature gates."""

import json
from pathlib import Path

import pytest

from scheduler.app.compatibility import Compatibility, compatibility, gate_lines
from scheduler.app.flags import parse
from scheduler.app.flags.sections import FeatureGates
from scheduler.features import Features


def read(*arguments: str) -> Compatibility:
    values = parse(arguments).values
    return compatibility(FeatureGates(**{flag.field: values[flag.name] for flag in FeatureGates.flags()}))


@pytest.mark.parametrize(
    ("arguments", "emulated"),
    [
        ([], "1.36"),
        (["--emulated-version=1.35"], "1.35"),
        (["--emulated-version=v1.35"], "1.35"),
        (["--emulated-version=kube=1.33"], "1.33"),
        (["--emulated-version=1.35.0"], "1.35"),
        (["--min-compatibility-version=1.33"], "1.36"),
    ],
    ids=str,
)
def test_version_in_force(arguments: list[str], emulated: str) -> None:
    found = read(*arguments)
    assert (found.errors, found.emulated, found.features.version) == ((), emulated, emulated)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ["--emulated-version=1.37"],
            "emulation version 1.37 is not between [1.33, 1.36.0]",
        ),
        (
            ["--min-compatibility-version=1.36", "--emulated-version=1.35"],
            "minCompatibilityVersion version 1.36 is not between [1.33, 1.35]",
        ),
        (["--emulated-version=other=1.35"], "component not registered: other"),
        (["--emulated-version=new"], 'could not parse "new" as version'),
        (["--emulated-version=1.35.2"], "patch version not allowed, got: kube=1.35.2"),
        (["--emulated-version=1.35,1.34"], "duplicate version flag, kube=1.35 and kube=1.34"),
    ],
    ids=str,
)
def test_versions_out_of_reach_are_refused(arguments: list[str], error: str) -> None:
    assert read(*arguments).errors == (error,)


def test_an_older_version_brings_its_gates() -> None:
    assert read().features.enabled("NodeDeclaredFeatures")
    assert not read("--emulated-version=1.35").features.enabled("NodeDeclaredFeatures")


def test_gates_of_several_flags_add_up() -> None:
    found = read("--feature-gates=OpportunisticBatching=false", "--feature-gates=kube:GenericWorkload=true")
    assert found.errors == ()
    assert not found.features.enabled("OpportunisticBatching")
    assert found.features.enabled("GenericWorkload")


def test_help_lists_the_gates_that_kube_scheduler_lists() -> None:
    recorded = json.loads((Path(__file__).parent / "data" / "help.json").read_text())["featureGates"]
    assert list(gate_lines(Features.default())) == [
        f"{gate['component']}:{gate['gate']}=true|false ({gate['stage']} - default={str(gate['default']).lower()})"
        for gate in recorded
    ]
