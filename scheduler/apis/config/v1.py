"""Reading a configuration file: from text to a complete, valid configuration, or to every fault in it.

    text --document--> tree --schema--> types --completion--> defaults in place --validation, startup--> usable

Each stage reports all its faults and stops the way to the next one, because a later stage would only add noise: values cannot
be judged while shapes are wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from marshmallow import ValidationError

from scheduler.apis.config import document
from scheduler.apis.config.completion import complete, settle_extenders
from scheduler.apis.config.document import invalid_form
from scheduler.apis.config.expansion import needed
from scheduler.apis.config.fields import field_errors
from scheduler.apis.config.schema import load_configuration
from scheduler.apis.config.startup import startup_errors
from scheduler.apis.config.types import API_VERSION, KIND, KubeSchedulerConfiguration
from scheduler.apis.config.validation import validate
from scheduler.apis.fielderror import FieldError, not_supported, required
from scheduler.features import Features


@dataclass(frozen=True, slots=True)
class LoadResult:
    """A configuration, or the faults that stand against it; and, in both cases, what the user should know."""

    config: KubeSchedulerConfiguration | None
    errors: list[FieldError] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


def load(text: bytes | str, *, source: str, features: Features) -> LoadResult:
    """Read KubeSchedulerConfiguration v1 from YAML or JSON, strictly. `source` names the text in messages.

    Names of plugins that are not in-tree are legal here; `startup.startup_errors` judges them once all are known.
    """
    read = document.read(text, source)
    warnings = [f"{source}: only the first of several YAML documents is used"] if read.more else []
    errors = read.errors or list(_type_errors(read.tree, source))
    if errors:
        return LoadResult(None, errors, warnings)
    try:
        config = load_configuration(read.tree)
    except ValidationError as error:
        return LoadResult(None, list(field_errors(error.messages, read.tree)), warnings)
    config = complete(config, features)
    settled = settle_extenders(config)
    errors = [*validate(config, features), *startup_errors(settled)]
    warnings += _warnings(settled, source)
    return LoadResult(None if errors else settled, errors, warnings)


def default(features: Features) -> KubeSchedulerConfiguration:
    """The configuration of a scheduler that is given no file."""
    return complete(KubeSchedulerConfiguration(), features)


def _type_errors(tree: Any, source: str) -> Iterator[FieldError]:
    if not isinstance(tree, dict):
        kind = "empty" if tree is None else "a list" if isinstance(tree, list) else "a single value"
        yield invalid_form(source, f"must be a mapping with apiVersion and kind; it is {kind}")
        return
    for name, expected in (("apiVersion", API_VERSION), ("kind", KIND)):
        found = tree.get(name)
        if found in (None, ""):
            yield required(name, f'must be "{expected}"')
        elif found != expected:
            yield not_supported(name, found, [expected])


def _warnings(config: KubeSchedulerConfiguration, source: str) -> Iterator[str]:
    for i, profile in enumerate(config.profiles):
        built = needed(profile.plugins)
        for j, plugin in enumerate(profile.plugin_configs):
            if plugin.name not in built:
                place = f"{source}: profiles[{i}].pluginConfig[{j}]"
                yield f"{place}: the plugin {plugin.name!r} is not enabled, its arguments have no effect"
    for i, extender in enumerate(config.extenders):
        tls = extender.tls_config
        if extender.enable_https and not (tls and (tls.ca_file or tls.ca_data)):
            yield f"{source}: extenders[{i}]: without a CA the certificate of the extender is not verified"
