"""From the flags of metrics to what is disabled and limited."""

from pathlib import Path

import pytest

from scheduler.app import metrics_policy
from scheduler.app.options import Options
from scheduler.metrics import Policy

ATTEMPTS = "scheduler_schedule_attempts_total"


def made(*arguments: str) -> Policy:
    options, errors = Options.parse(arguments)
    assert errors == ()
    assert list(metrics_policy.errors(options.metrics)) == []
    return metrics_policy.policy(options.metrics)


def refused(*arguments: str) -> list[str]:
    options, errors = Options.parse(arguments)
    assert errors == ()
    return [str(error) for error in metrics_policy.errors(options.metrics)]


def test_metrics_are_disabled_by_name() -> None:
    assert made("--disabled-metrics=a,b", "--disabled-metrics=c").disabled == {"a", "b", "c"}


@pytest.mark.parametrize(
    "arguments",
    [
        (f"--allow-metric-labels={ATTEMPTS},profile=a,b",),
        (f'--allow-metric-labels="{ATTEMPTS},profile=a,b"',),
        (f"--allow-metric-labels={ATTEMPTS},profile=x", f"--allow-metric-labels={ATTEMPTS},profile=a,b"),
    ],
)
def test_labels_are_limited_by_flag(arguments: tuple[str, ...]) -> None:
    assert made(*arguments).allowed == {ATTEMPTS: {"profile": {"a", "b"}}}


@pytest.mark.parametrize(
    "text",
    [f'"{ATTEMPTS},profile": "a,b"\n', f'allowListMapping:\n  "{ATTEMPTS},profile": "a,b"\n'],
    ids=["top level", "as in the help text"],
)
def test_labels_are_limited_by_manifest(tmp_path: Path, text: str) -> None:
    (tmp_path / "lists.yaml").write_text(text)
    found = made(f"--allow-metric-labels-manifest={tmp_path / 'lists.yaml'}")
    assert found.allowed == {ATTEMPTS: {"profile": {"a", "b"}}}


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("--disabled-metrics=no-name",), 'must be fully qualified metric names matching "^'),
        (("--allow-metric-labels=metric=a",), "must have keys with format `metricName,labelName`"),
        (("--show-hidden-metrics-for-version=1.36",), "only the previous minor version is allowed"),
        (("--allow-metric-labels-manifest=none.yaml",), "open none.yaml: no such file or directory"),
    ],
)
def test_mistakes_are_told(arguments: tuple[str, ...], reason: str) -> None:
    (error,) = refused(*arguments)
    assert error.startswith("metrics.")
    assert reason in error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a: [", "failed to parse allow list manifest"),
        ("[a]", "not a map of texts"),
        ("a,b: 1", "not a map of texts"),
        ('metric: "a"', "must have keys with format"),
    ],
)
def test_manifests_that_cannot_be_used_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "lists.yaml").write_text(text)
    (error,) = refused(f"--allow-metric-labels-manifest={tmp_path / 'lists.yaml'}")
    assert reason in error


def test_flag_and_manifest_together_are_refused(tmp_path: Path) -> None:
    (tmp_path / "lists.yaml").write_text('"m,l": "a"')
    (error,) = refused(
        f"--allow-metric-labels-manifest={tmp_path / 'lists.yaml'}", "--allow-metric-labels=m,l=a"
    )
    assert "cannot specify both allowListMapping and allowListMappingManifest" in error
