"""From the flags of metrics to a `Policy`, with component-base's rules and field names (``metrics/api/v1``).

``--allow-metric-labels metric,label=a,b`` limits a label to values; ``--allow-metric-labels-manifest`` names a YAML file that says the same,
``"metric,label": "a,b"`` a line, on the top level or under ``allowListMapping``. Only one of the two may be given.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from scheduler.apis import fielderror
from scheduler.apis.fielderror import FieldError
from scheduler.app.flags.sections import MetricsFlags
from scheduler.features import BINARY_VERSION
from scheduler.metrics import Policy

_NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*"
_LABEL = "[a-zA-Z_][a-zA-Z0-9_]*"
_KEY = re.compile(f"{_NAME},{_LABEL}")
_KEY_RULE = (
    "must have keys with format `metricName,labelName` where metricName matches "
    f'"{_NAME}" and labelName matches "{_LABEL}"'
)
_MANIFEST = "metrics.allowListMappingManifest"
_READ_AT_MOST = 1 << 20
Lists = Mapping[str, str]
"""Comma-separated values by ``metric,label``."""


class ManifestError(ValueError):
    """The manifest cannot be used; the text says why."""


def policy(flags: MetricsFlags) -> Policy:
    """What the flags ask for; see ``errors`` first."""
    lists = dict(flags.allow_metric_labels)
    if flags.allow_metric_labels_manifest:
        lists = dict(_read(flags.allow_metric_labels_manifest))
    allowed: dict[str, dict[str, frozenset[str]]] = {}
    for key, values in lists.items():
        metric, _, label = key.partition(",")
        allowed.setdefault(metric, {})[label] = frozenset(values.split(","))
    return Policy(frozenset(filter(None, flags.disabled_metrics)), allowed)


def errors(flags: MetricsFlags) -> Iterator[FieldError]:
    """Everything that is wrong with the flags."""
    previous = _previous_minor()
    if flags.show_hidden_metrics_for_version not in ("", previous):
        yield fielderror.invalid(
            "metrics.showHiddenMetricsForVersion",
            flags.show_hidden_metrics_for_version,
            f"must be omitted or have the value '{previous}'; only the previous minor version is allowed",
        )
    for name in flags.disabled_metrics:
        if not re.fullmatch(_NAME, name):
            rule = f'must be fully qualified metric names matching "^{_NAME}$", got "{name}"'
            yield fielderror.invalid("metrics.disabledMetrics", list(flags.disabled_metrics), rule)
            break
    lists = dict(flags.allow_metric_labels)
    if not _well_formed(lists):
        yield fielderror.invalid("metrics.allowListMapping", lists, _KEY_RULE)
    if flags.allow_metric_labels_manifest:
        yield from _manifest_errors(flags.allow_metric_labels_manifest)
        if lists:
            yield fielderror.invalid(
                "metrics", lists, "cannot specify both allowListMapping and allowListMappingManifest"
            )


def _manifest_errors(path: str) -> Iterator[FieldError]:
    try:
        lists = _read(path)
    except ManifestError as error:
        yield fielderror.invalid(_MANIFEST, path, str(error))
        return
    if not _well_formed(lists):
        yield fielderror.invalid(_MANIFEST, path, f"invalid allow list mapping in manifest: {_KEY_RULE}")


def _read(path: str) -> Lists:
    """The lists of a manifest. Raises ManifestError."""
    try:
        with Path(path).open("rb") as file:
            found = yaml.safe_load(file.read(_READ_AT_MOST))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ManifestError(f"failed to read allow list manifest: open {path}: {reason}") from error
    except yaml.YAMLError as error:
        raise ManifestError(f"failed to parse allow list manifest: {' '.join(str(error).split())}") from error
    lists = found.get("allowListMapping", found) if isinstance(found, dict) else found or {}
    if not isinstance(lists, dict) or not all(
        isinstance(text, str) for item in lists.items() for text in item
    ):
        raise ManifestError("failed to parse allow list manifest: not a map of texts")
    return lists


def _well_formed(lists: Lists) -> bool:
    return all(map(_KEY.fullmatch, lists))


def _previous_minor() -> str:
    major, minor = BINARY_VERSION.split(".")
    return f"{major}.{int(minor) - 1}"
