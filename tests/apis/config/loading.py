"""One-line ways to load a configuration in tests."""

from __future__ import annotations

import json
from typing import Any

from scheduler.apis.config import KubeSchedulerConfiguration, LoadResult, load
from scheduler.features import Features

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def load_text(body: str, features: Features | None = None) -> LoadResult:
    """Load a YAML file that has `body` below the usual two lines."""
    return load(HEAD + body, source="config.yaml", features=features or Features.default())


def load_tree(features: Features | None = None, **fields: Any) -> LoadResult:
    """Load a JSON file with these top-level fields."""
    whole = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **fields}
    return load(json.dumps(whole), source="config.json", features=features or Features.default())


def loaded(features: Features | None = None, **fields: Any) -> KubeSchedulerConfiguration:
    """The configuration in a file with these top-level fields, which must be valid."""
    result = load_tree(features, **fields)
    assert result.errors == []
    assert result.config is not None
    return result.config


def faults(features: Features | None = None, **fields: Any) -> list[str]:
    """The lines of the faults in a file with these top-level fields, which must have some."""
    result = load_tree(features, **fields)
    assert result.config is None
    return [str(error) for error in result.errors]


def args_faults(name: str, args: Any, features: Features | None = None) -> list[str]:
    """The faults of a plugin's arguments, without the path that leads to them."""
    prefix = "profiles[0].pluginConfig[0].args."
    lines = faults(features, profiles=[{"pluginConfig": [{"name": name, "args": args}]}])
    assert all(line.startswith(prefix) for line in lines)
    return [line.removeprefix(prefix) for line in lines]


def args_of(name: str, args: Any, features: Features | None = None) -> Any:
    """A plugin's arguments as its factory receives them."""
    config = loaded(features, profiles=[{"pluginConfig": [{"name": name, "args": args}]}])
    return config.profiles[0].plugin_config[name]
